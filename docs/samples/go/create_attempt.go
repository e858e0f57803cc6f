package main

import "time"

// CreateAttempt creates an attempt and charges its fee exactly once, over a network that loses
// answers. It returns the attempt as JSON; body is the request as JSON.
//
// idempotencyKey belongs to one game start. Choose it and store it with the match before the first
// call. Call again with the same key and body after Unanswered or a crash, and within 24 hours: a
// new key, or one that is older, would charge the player again.
func CreateAttempt(
	baseURL, apiKey, idempotencyKey string, body []byte, limit time.Duration,
) ([]byte, error) {
	headers := map[string]string{"X-API-Key": apiKey, "Idempotency-Key": idempotencyKey}
	return sendUntilAnswered(baseURL+"/v1/attempts", headers, body, limit)
}
