"""Sends a request to Laurel until it is answered. Every try sends the same bytes and headers.

Only for requests that take effect once however often they arrive: those with an Idempotency-Key,
and pushed outcomes.
"""

import http.client
import json
import random
import time
from urllib.parse import urlsplit

TRY_TIMEOUT_S = 10
# Longer than the 60 seconds for which a request that died keeps its key in progress.
DEADLINE_S = 120
FIRST_DELAY_S = 0.25
LONGEST_DELAY_S = 8.0


class Refused(Exception):
    """Laurel refused the request and nothing was charged. The same request is refused again."""

    def __init__(self, status, code):
        super().__init__(f"{status} {code}")
        self.status = status
        self.code = code


class Unanswered(Exception):
    """Laurel may have acted. Send the same request again later, with the same key."""


def send_until_answered(url, headers, body, deadline_s=DEADLINE_S):
    """Returns the body of a success; a replayed answer is one. `body` is bytes."""
    deadline = time.monotonic() + deadline_s
    longest_delay = FIRST_DELAY_S
    while True:
        retry_after = 0.0
        try:
            status, answer_headers, answer = _post(url, headers, body)
        except (OSError, http.client.HTTPException) as error:
            failure = repr(error)
        else:
            if 200 <= status < 300:
                return answer
            code = _code_of(answer)
            if not _is_repeated(status, code):
                raise Refused(status, code)
            failure = f"{status} {code}"
            retry_after = _seconds(answer_headers.get("Retry-After"))
        # Jitter keeps servers that failed together from returning together.
        delay = retry_after + random.uniform(0, longest_delay)
        if time.monotonic() + delay >= deadline:
            raise Unanswered(failure)
        time.sleep(delay)
        longest_delay = min(LONGEST_DELAY_S, 2 * longest_delay)


def _post(url, headers, body):
    """One try. It follows no redirect, and an answer that ends too early raises an error."""
    parts = urlsplit(url)
    is_secure = parts.scheme == "https"
    connect = http.client.HTTPSConnection if is_secure else http.client.HTTPConnection
    connection = connect(parts.hostname, parts.port, timeout=TRY_TIMEOUT_S)
    try:
        connection.request("POST", parts.path, body, {"Content-Type": "application/json", **headers})
        response = connection.getresponse()
        return response.status, response.headers, response.read()
    finally:
        connection.close()


def _is_repeated(status, code):
    return status == 429 or status >= 500 or (status == 409 and code == "idempotency_in_progress")


def _code_of(answer):
    """The `error.code` of a refusal. The 429 has a body of another shape, and a proxy has none."""
    try:
        return json.loads(answer)["error"]["code"]
    except (ValueError, KeyError, TypeError):
        return ""


def _seconds(retry_after):
    return float(retry_after) if retry_after is not None and retry_after.isdigit() else 0.0
