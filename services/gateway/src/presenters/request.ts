import type { ListedLine, ListedRequest } from '../repository/requests.ts';

/** A request as the list of the request log shows it. */
export function presentRequestLine(line: ListedLine) {
  return {
    request_id: line.requestId,
    at: line.at.toISOString(),
    environment: line.environment,
    method: line.method,
    path: line.path,
    route: line.route,
    status: line.status,
    error_code: line.errorCode,
    duration_ms: line.durationMs,
    idempotency_key: line.idempotencyKey,
    attempt_id: line.attemptId,
    replayed: line.isReplayed,
  };
}

/** A request with its bodies, as they were redacted when it was written. */
export function presentRequest(request: ListedRequest) {
  return {
    ...presentRequestLine(request),
    user_agent: request.userAgent,
    request_body: request.requestBody,
    request_body_truncated: request.isRequestBodyTruncated,
    response_body: request.responseBody,
    response_body_truncated: request.isResponseBodyTruncated,
  };
}
