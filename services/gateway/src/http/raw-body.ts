/**
 * Reads the bytes of a body, whatever they are. Validation parses them, after authentication (401)
 * and the rate limit (429). Nothing is read before the caller is known. Until then the stream is
 * paused, and only the kernel buffers what arrives.
 *
 * Once a request was answered, or its body is too large, its further bytes are unwanted. They are
 * discarded as they arrive, or left unread if a flood of them would keep the process reading
 * (`leaveUnread`). If they take long to arrive, the connection is closed (`connections.ts`).
 */
import { MAX_BODY_BYTES } from '@laurel/values/limits';
import type { Request, RequestHandler, Response } from 'express';
import { contextOf } from './context.ts';
import { ShedError } from './shed-error.ts';

/**
 * The most bytes of an unwanted body that are discarded. A body this small arrives almost entirely
 * with the headers, and its connection is worth keeping.
 */
const MAX_DISCARDED_BYTES = 16 * 1024;

/** The bodies in flight use the whole budget: the request is refused, and its connection closed. */
export class BodyBudgetError extends ShedError {
  constructor() {
    super('the bodies in flight hold all the memory that they may');
    this.name = 'BodyBudgetError';
  }
}

/** How many bytes the bodies in flight may hold (`admission/body-budget.ts`). */
export interface BodyBudget {
  /**
   * Takes `bytes` more for a body, which then has `size` bytes in all. Returns false, and takes
   * nothing, if the budget has too few.
   */
  take(holder: string, bytes: number, size: number): boolean;
  release(holder: string, bytes: number): void;
}

export interface BodyReader {
  /**
   * Reads the body of a request, if any, into `rawBody` of its context. A body of more than
   * `maxBytes` is only marked as too large. Calls `next` once the body is read, or with an error if
   * the budget has too few bytes for the body. Never calls `next` if the caller disconnects before.
   */
  read(request: Request, response: Response, holder: string, next: (error?: unknown) => void, maxBytes?: number): void;
}

export function hasBody({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/** The announced length of a body; unknown for a body in chunks. */
export function announcedBytes(request: Request): number {
  if (!hasBody(request)) return 0;
  return Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY);
}

/**
 * Leaves the rest of an unwanted body unread. Call it before the response is sent. Otherwise, after
 * the response, Node would resume the paused socket and discard the rest of the body as fast as the
 * caller sends it. But if reading has begun, Node does not do so: the request's stream fills up,
 * the socket is no longer read, and the caller cannot send the rest. `connections.ts` ends the
 * connection a second later.
 */
export function leaveUnread(request: Request, response: Response): void {
  if (request.complete || announcedBytes(request) <= MAX_DISCARDED_BYTES) return;
  response.setHeader('Connection', 'close');
  request.pause();
  request.read(0);
}

export function createBodyReader(budget: BodyBudget): BodyReader {
  return {
    read(request, response, holder, next, maxBytes = MAX_BODY_BYTES) {
      if (!hasBody(request)) return next();
      const context = contextOf(response);
      context.maxBodyBytes = maxBytes;
      const announced = Number(request.headers['content-length'] ?? maxBytes);
      if (announced > maxBytes) {
        context.isBodyTooLarge = true;
        return next();
      }

      let body: Buffer | undefined;
      let size = 0;
      let isOver = false;
      /** The budget counts allocated bytes. */
      const allocated = () => body?.length ?? 0;
      const dropBody = () => {
        if (body !== undefined) budget.release(holder, body.length);
        body = undefined;
      };
      const finish = (error?: BodyBudgetError) => {
        if (isOver) return;
        isOver = true;
        context.rawBody = body?.length === size ? body : body?.subarray(0, size);
        // A socket is read outside of any trace, so `next` has to run inside the trace of this
        // request.
        if (context.span === undefined) next(error);
        else context.span.run(() => next(error));
      };
      const abort = (error?: BodyBudgetError) => {
        dropBody();
        finish(error);
      };

      request.on('data', (chunk: Buffer) => {
        if (isOver) return;
        const before = size;
        size += chunk.length;
        if (size > maxBytes) {
          context.isBodyTooLarge = true;
          return abort();
        }
        // A body nearly always arrives as one chunk, which then is the body. If it arrives in many
        // chunks, only their bytes are kept, because a chunk object for a single byte takes about a
        // hundred bytes.
        if (size > allocated()) {
          const capacity = body === undefined ? size : Math.min(announced, Math.max(size, 2 * body.length));
          if (!budget.take(holder, capacity - allocated(), capacity)) return abort(new BodyBudgetError());
          const grown = body === undefined ? chunk : Buffer.allocUnsafeSlow(capacity);
          body?.copy(grown, 0, 0, before);
          body = grown;
        }
        if (before > 0) chunk.copy(body as Buffer, before);
      });
      request.on('end', () => finish());
      // The caller disconnected in the middle of its request: no response can reach it.
      request.on('error', () => {
        isOver = true;
      });
      response.on('close', dropBody);
    },
  };
}

/**
 * Reads the body of a request that has passed authentication. A request whose method has no body
 * passes unread.
 */
export function readBodyFor(bodies: BodyReader, holderOf: (response: Response) => string): RequestHandler {
  return (request, response, next) => {
    if (request.method === 'GET' || request.method === 'HEAD') return next();
    bodies.read(request, response, holderOf(response), next);
  };
}
