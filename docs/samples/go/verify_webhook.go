package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"time"
)

const toleranceSeconds = 300

// WebhookRefused: the request is not a webhook of Laurel, or not a recent one: answer 400 and do
// nothing.
type WebhookRefused string

func (w WebhookRefused) Error() string { return string(w) }

// VerifyWebhook verifies a webhook of Laurel over the raw bytes of its body, before anything parses
// them. It returns WebhookRefused unless one of the secrets signed this delivery within five
// minutes.
//
// secrets are the endpoint's signing secret, as shown; both while it is replaced. id,
// timestamp and signatures are the headers webhook-id, webhook-timestamp and webhook-signature, or
// empty. body is the bytes that arrived.
func VerifyWebhook(secrets []string, id, timestamp, signatures string, body []byte) error {
	if len(secrets) == 0 {
		return errors.New("a signing secret is missing")
	}
	if id == "" || timestamp == "" || signatures == "" {
		return WebhookRefused("header_missing")
	}
	isSigned := false
	for _, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil {
			return errors.New("a signing secret is not as Laurel showed it")
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + timestamp + "."))
		mac.Write(body)
		expected := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
		// The header may hold several signatures. Each is compared, in constant time.
		for _, signature := range strings.Split(signatures, " ") {
			if hmac.Equal(expected, []byte(signature)) {
				isSigned = true
			}
		}
	}
	if !isSigned {
		return WebhookRefused("signature_mismatch")
	}
	// The time of this try, which is signed: a request that was captured is useless later.
	sentAt, err := strconv.ParseInt(timestamp, 10, 64)
	age := time.Now().Unix() - sentAt
	if err != nil || age > toleranceSeconds || age < -toleranceSeconds {
		return WebhookRefused("timestamp_out_of_tolerance")
	}
	return nil
}
