/** From the raw bytes of a request to the JSON value that they mean, or the reason why they mean none. */
import type { Request } from 'express';
import { parseStrictJson, type StrictJson } from '../domain/strict-json.ts';
import type { RequestContext } from './context.ts';

/** JSON is UTF-8 (RFC 8259); a charset parameter may say so, and may say nothing else. */
const JSON_CONTENT_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;
const NO_BYTES = Buffer.alloc(0);

/** The body, with the members named by `verbatimNames` also as the text that was sent. */
export function parseJsonBody(
  request: Request,
  context: RequestContext,
  verbatimNames: readonly string[] = [],
): StrictJson {
  const contentType = request.headers['content-type'];
  if (contentType !== 'application/json' && !JSON_CONTENT_TYPE.test(contentType ?? '')) {
    return { kind: 'faulty', message: 'The request needs `Content-Type: application/json`.' };
  }
  if ((request.headers['content-encoding'] ?? 'identity') !== 'identity') {
    return { kind: 'faulty', message: 'The body must not be compressed.' };
  }
  if (context.isBodyTooLarge) return { kind: 'faulty', message: 'The body is larger than 256 KiB.' };
  return parseStrictJson(context.rawBody ?? NO_BYTES, verbatimNames);
}
