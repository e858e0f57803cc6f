/** Reads the bytes of a body, whatever they are; what they mean is for validation, which comes after 401 and 429. */
import type { RequestHandler } from 'express';
import { contextOf } from './context.ts';

/** The largest body that any route takes. */
export const MAX_BODY_BYTES = 256 * 1024;

/**
 * Up to here a body that is too large is read to its end and thrown away, so that the caller gets to read the answer;
 * from here on the caller is cut off.
 */
const MAX_DISCARDED_BYTES = 32 * 1024 * 1024;

export const readRawBody: RequestHandler = (request, response, next) => {
  const { headers } = request;
  if (headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0') return next();

  const context = contextOf(response);
  let first: Buffer | undefined;
  let chunks: Buffer[] | undefined;
  let size = 0;
  let isOver = false;
  const finish = () => {
    if (isOver) return;
    isOver = true;
    if (!context.isBodyTooLarge) context.rawBody = chunks === undefined ? first : Buffer.concat(chunks, size);
    // What a socket brings comes from outside of any trace.
    if (context.span === undefined) next();
    else context.span.run(next);
  };
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= MAX_BODY_BYTES) {
      // A body nearly always comes as one chunk, which then is the body.
      if (first === undefined) first = chunk;
      else if (chunks === undefined) chunks = [first, chunk];
      else chunks.push(chunk);
      return;
    }
    context.isBodyTooLarge = true;
    first = chunks = undefined;
    if (size > MAX_DISCARDED_BYTES) finish();
  });
  request.on('end', finish);
  // The caller left in the middle of its request: there is nobody to answer.
  request.on('error', () => {
    isOver = true;
  });
};
