/** What the page of a request derives from the request. */
import type { RequestDetails } from '../../api/api-types.ts';
import { curlOf } from '../../kit/samples.ts';

/** This text stands in place of a secret or an e-mail, in paths and in bodies. */
const REDACTED = '[redacted]';

/** The request as a command that sends it again; null if its whole body is not known. */
export function curlOfRequest(request: RequestDetails, origin: string): string | null {
  const { environment, method, path, idempotency_key, request_body, request_body_truncated } = request;
  if (request_body_truncated) return null;
  const headers = idempotency_key === null ? {} : { 'Idempotency-Key': idempotency_key };
  return curlOf({ method, path, headers, body: request_body ?? undefined }, environment, origin);
}

export function isRedacted(text: string | null): boolean {
  return text?.includes(REDACTED) ?? false;
}
