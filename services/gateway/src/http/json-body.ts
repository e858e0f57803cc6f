/** Parses the raw bytes of a request as JSON, or returns why they are not JSON. */

import { parseStrictJson, type StrictJson } from '@laurel/json';
import type { Request } from 'express';
import { isJsonMediaType } from '../domain/media-type.ts';
import { isSentUnencoded } from './content-encoding.ts';
import type { RequestContext } from './context.ts';

const NO_BYTES = Buffer.alloc(0);

/** An empty body. On a route whose body is optional, an absent body counts as this one. */
export const EMPTY_OBJECT = parseStrictJson(Buffer.from('{}'));

/** Returns the body, and the members named by `verbatimNames` also as the text that was sent. */
export function parseJsonBody(
  request: Request,
  context: RequestContext,
  verbatimNames: readonly string[] = [],
): StrictJson {
  const contentType = request.headers['content-type'];
  if (contentType === undefined) return { kind: 'invalid', message: 'The header `Content-Type` is missing.' };
  if (!isJsonMediaType(contentType)) {
    return { kind: 'invalid', message: 'The header `Content-Type` must be `application/json`, in UTF-8.' };
  }
  if (!isSentUnencoded(request.headers['content-encoding'])) {
    return { kind: 'invalid', message: 'The body must not be compressed.' };
  }
  if (context.isBodyTooLarge) {
    return { kind: 'invalid', message: `The body is larger than ${context.maxBodyBytes / 1024} KiB.` };
  }
  return parseStrictJson(context.rawBody ?? NO_BYTES, { verbatimNames });
}
