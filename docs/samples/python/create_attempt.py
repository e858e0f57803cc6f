"""Creates an attempt and charges its fee exactly once, over a network that loses answers."""

from send import DEADLINE_S, send_until_answered


def create_attempt(base_url, api_key, idempotency_key, body, deadline_s=DEADLINE_S):
    """Returns the attempt as JSON text. `body` is the request as JSON bytes.

    `idempotency_key` belongs to one game start. Choose it and store it with the match before the
    first call. Call again with the same key and body after `Unanswered` or a crash, and within 24
    hours: a new key, or one that is older, would charge the player again.
    """
    headers = {"X-API-Key": api_key, "Idempotency-Key": idempotency_key}
    return send_until_answered(f"{base_url}/v1/attempts", headers, body, deadline_s)
