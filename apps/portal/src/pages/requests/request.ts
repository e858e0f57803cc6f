/** What the page of a request derives from it. */
import type { RequestDetails } from '../../api/api-types.ts';
import { curlOf } from '../../kit/samples.ts';

/** In place of a secret or an e-mail, in paths and in bodies. */
const REDACTED = '[redacted]';
const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const ATTEMPT_PATH = new RegExp(`^/v1/attempts/(${UUID})(?:[/?]|$)`, 'i');
const ID_MEMBER = new RegExp(`^\\{"id":"(${UUID})"`, 'i');

/** The attempt that the path names, or that the request created; else undefined. */
export function attemptOf({ path, route, response_body }: Pick<RequestDetails, 'path' | 'route' | 'response_body'>) {
  const named = ATTEMPT_PATH.exec(path)?.[1];
  if (named !== undefined) return named.toLowerCase();
  return route === '/v1/attempts' && response_body !== null ? ID_MEMBER.exec(response_body)?.[1] : undefined;
}

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
