"""Verifies a webhook of Laurel over the raw bytes of its body, before anything parses them."""

import base64
import hashlib
import hmac
import time

TOLERANCE_S = 300
PREFIX = "whsec_"


class WebhookRefused(Exception):
    """The request is not a webhook of Laurel, or not a recent one: answer 400 and do nothing."""


def verify_webhook(secrets, webhook_id, timestamp, signatures, body):
    """Raises WebhookRefused unless one of the secrets signed this delivery within five minutes.

    `secrets` are the endpoint's signing secret, as shown; both while it is replaced.
    `webhook_id`, `timestamp` and `signatures` are the headers webhook-id, webhook-timestamp and
    webhook-signature, or None. `body` is the bytes that arrived.
    """
    if not secrets:
        raise ValueError("a signing secret is missing")
    if not webhook_id or not timestamp or not signatures:
        raise WebhookRefused("header_missing")
    signed = f"{webhook_id}.{timestamp}.".encode() + body
    is_signed = False
    for secret in secrets:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
        expected = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
        # The header may hold several signatures. Each is compared, in constant time.
        for signature in signatures.split(" "):
            is_signed |= hmac.compare_digest(expected, signature.encode())
    if not is_signed:
        raise WebhookRefused("signature_mismatch")
    # The time of this try, which is signed: a request that was captured is useless later.
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > TOLERANCE_S:
        raise WebhookRefused("timestamp_out_of_tolerance")
