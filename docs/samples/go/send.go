package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"strconv"
	"time"
)

const (
	tryTimeout = 10 * time.Second
	// Longer than the 60 seconds for which a request that died keeps its key in progress.
	defaultDeadline = 120 * time.Second
	firstDelay      = 250 * time.Millisecond
	longestDelay    = 8 * time.Second
)

// Refused: Laurel refused the request and nothing was charged. The same request is refused again.
type Refused struct {
	Status int
	Code   string
}

func (r *Refused) Error() string { return fmt.Sprintf("%d %s", r.Status, r.Code) }

// Unanswered: Laurel may have acted. Send the same request again later, with the same key.
type Unanswered struct{ Last string }

func (u *Unanswered) Error() string { return u.Last }

// A redirect is no answer of Laurel's, so none is followed.
var client = &http.Client{
	Timeout:       tryTimeout,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Before Go 1.20 every process draws the same numbers unless it sets a seed.
func init() { rand.Seed(time.Now().UnixNano()) }

// sendUntilAnswered sends a request to Laurel until it is answered, and returns the body of a
// success; a replayed answer is one. Every try sends the same bytes and headers. Only for requests
// that take effect once however often they arrive: those with an Idempotency-Key, and pushed
// outcomes.
func sendUntilAnswered(
	url string, headers map[string]string, body []byte, limit time.Duration,
) ([]byte, error) {
	deadline := time.Now().Add(limit)
	backOff := firstDelay
	for {
		var retryAfter time.Duration
		var failure string
		status, answerHeaders, answer, err := post(url, headers, body)
		switch code := codeOf(answer); {
		case err != nil:
			failure = err.Error()
		case status >= 200 && status < 300:
			return answer, nil
		case !isRepeated(status, code):
			return nil, &Refused{status, code}
		default:
			failure = fmt.Sprintf("%d %s", status, code)
			seconds, _ := strconv.ParseUint(answerHeaders.Get("Retry-After"), 10, 16)
			retryAfter = time.Duration(seconds) * time.Second
		}
		// Jitter keeps servers that failed together from returning together.
		delay := retryAfter + time.Duration(rand.Int63n(int64(backOff)))
		if time.Now().Add(delay).After(deadline) {
			return nil, &Unanswered{failure}
		}
		time.Sleep(delay)
		if backOff *= 2; backOff > longestDelay {
			backOff = longestDelay
		}
	}
}

// post is one try. An answer that ends too early is an error.
func post(url string, headers map[string]string, body []byte) (int, http.Header, []byte, error) {
	request, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, nil, nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	return response.StatusCode, response.Header, answer, err
}

func isRepeated(status int, code string) bool {
	return status == 429 || status >= 500 || (status == 409 && code == "idempotency_in_progress")
}

// codeOf returns the `error.code` of a refusal. The 429 has a body of another shape, and a proxy
// has none.
func codeOf(answer []byte) string {
	var refusal struct {
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	if json.Unmarshal(answer, &refusal) != nil {
		return ""
	}
	return refusal.Error.Code
}
