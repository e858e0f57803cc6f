package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// SignPush returns the value of X-Service-Signature for exactly these bytes. The key is the text of
// the secret as Laurel showed it, not the bytes that its digits spell.
func SignPush(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// PushOutcomes pushes outcomes to an integration of Laurel, signed, and returns Laurel's answer as
// JSON. An outcome that has settled stays settled, once.
func PushOutcomes(
	baseURL, integrationID, secret string, body []byte, limit time.Duration,
) ([]byte, error) {
	url := baseURL + "/webhooks/integrations/" + integrationID + "/outcome"
	headers := map[string]string{"X-Service-Signature": SignPush(secret, body)}
	return sendUntilAnswered(url, headers, body, limit)
}
