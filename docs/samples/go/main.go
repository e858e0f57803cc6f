// Runs one sample on the bytes of standard input.
//
//	go run . verify-webhook <webhook-id> <webhook-timestamp> <webhook-signature>
//	go run . sign-push <id of the integration>
//	go run . create-attempt <idempotency key>
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

func main() {
	body, err := io.ReadAll(os.Stdin)
	if err == nil {
		body, err = run(os.Args[1], os.Args[2:], body)
	}
	var unanswered *Unanswered
	switch {
	case err == nil:
		os.Stdout.Write(body)
	case errors.As(err, &unanswered):
		fmt.Fprintln(os.Stderr, "unanswered:", err)
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "refused:", err)
		os.Exit(1)
	}
}

func run(command string, arguments []string, body []byte) ([]byte, error) {
	limit := defaultDeadline
	if seconds, err := strconv.ParseFloat(os.Getenv("LAUREL_DEADLINE_SECONDS"), 64); err == nil {
		limit = time.Duration(seconds * float64(time.Second))
	}
	baseURL := os.Getenv("LAUREL_BASE_URL")
	switch command {
	case "verify-webhook":
		secrets := strings.Fields(os.Getenv("LAUREL_WEBHOOK_SECRETS"))
		return body, VerifyWebhook(secrets, arguments[0], arguments[1], arguments[2], body)
	case "sign-push":
		return PushOutcomes(baseURL, arguments[0], os.Getenv("LAUREL_INTEGRATION_SECRET"), body, limit)
	case "create-attempt":
		return CreateAttempt(baseURL, os.Getenv("LAUREL_API_KEY"), arguments[0], body, limit)
	}
	return nil, fmt.Errorf("there is no sample %s", command)
}
