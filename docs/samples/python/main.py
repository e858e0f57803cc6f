"""Runs one sample on the bytes of standard input.

python3 main.py verify-webhook <webhook-id> <webhook-timestamp> <webhook-signature>
python3 main.py sign-push <id of the integration>
python3 main.py create-attempt <idempotency key>
"""

import os
import sys

from create_attempt import create_attempt
from send import DEADLINE_S, Refused, Unanswered
from sign_push import push_outcomes
from verify_webhook import WebhookRefused, verify_webhook


def run(command, arguments, body):
    env = os.environ
    deadline_s = float(env.get("LAUREL_DEADLINE_SECONDS", DEADLINE_S))
    if command == "verify-webhook":
        verify_webhook(env["LAUREL_WEBHOOK_SECRETS"].split(), *arguments, body)
        return body
    if command == "sign-push":
        secret = env["LAUREL_INTEGRATION_SECRET"]
        return push_outcomes(env["LAUREL_BASE_URL"], arguments[0], secret, body, deadline_s)
    if command == "create-attempt":
        key = arguments[0]
        return create_attempt(env["LAUREL_BASE_URL"], env["LAUREL_API_KEY"], key, body, deadline_s)
    raise SystemExit(__doc__)


if __name__ == "__main__":
    try:
        output = run(sys.argv[1], sys.argv[2:], sys.stdin.buffer.read())
        sys.stdout.buffer.write(output)
    except (Refused, WebhookRefused) as error:
        sys.exit(f"refused: {error}")
    except Unanswered as error:
        print(f"unanswered: {error}", file=sys.stderr)
        sys.exit(2)
