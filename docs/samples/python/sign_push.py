"""Pushes outcomes to an integration of Laurel, signed."""

import hashlib
import hmac

from send import DEADLINE_S, send_until_answered


def sign_push(secret, body):
    """Returns the value of X-Service-Signature for exactly these bytes.

    The key is the text of the secret as Laurel showed it, not the bytes that its digits spell.
    """
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def push_outcomes(base_url, integration_id, secret, body, deadline_s=DEADLINE_S):
    """Returns Laurel's answer as JSON text. An outcome that has settled stays settled, once."""
    url = f"{base_url}/webhooks/integrations/{integration_id}/outcome"
    return send_until_answered(url, {"X-Service-Signature": sign_push(secret, body)}, body, deadline_s)
