/**
 * The part of `IncomingMessage` that the listener needs. Express adds `originalUrl`, and `body` if
 * a parser has read it.
 */
export interface NodeRequest extends AsyncIterable<Uint8Array> {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly originalUrl?: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body?: unknown;
}

/** The part of `ServerResponse` that the listener needs. */
export interface NodeResponse {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(body?: Uint8Array): unknown;
}

/**
 * Turns a Fetch handler into a listener of `node:http` and middleware of Express 4 and 5:
 * `app.use('/laurel', toNodeListener(handler))`, before or after `express.json()`. An error of the
 * handler goes to `next`, or becomes a 500 without one. A request that has no Fetch form, such as
 * one with a malformed `Host` or TRACE, is a 400.
 */
export function toNodeListener(
  handler: (request: Request) => Promise<Response>,
): (request: NodeRequest, response: NodeResponse, next?: (error: unknown) => void) => Promise<void> {
  if (typeof handler !== 'function') throw new TypeError('handler is not a function.');
  return async (incoming, outgoing, next) => {
    const request = toRequest(incoming);
    if (request === undefined) return sendFailure(outgoing, 400, 'malformed_request', 'The request is malformed.');
    try {
      const response = await handler(request);
      const body = new Uint8Array(await response.arrayBuffer());
      outgoing.statusCode = response.status;
      response.headers.forEach((value, name) => {
        outgoing.setHeader(name, value);
      });
      outgoing.end(body);
    } catch (error) {
      if (next !== undefined) return next(error);
      sendFailure(outgoing, 500, 'internal_error', 'Something failed; try again.');
    }
  };
}

/**
 * Responds with an error. The code of a 400 is not one of Laurel's: otherwise the page would
 * conclude that nothing was charged.
 */
function sendFailure(outgoing: NodeResponse, status: number, code: string, message: string): void {
  outgoing.statusCode = status;
  outgoing.setHeader('content-type', 'application/json');
  outgoing.setHeader('cache-control', 'no-store');
  outgoing.setHeader('x-content-type-options', 'nosniff');
  outgoing.end(new TextEncoder().encode(JSON.stringify({ error: { code, message } })));
}

/** Converts a request; undefined if Fetch cannot represent its method, headers, host or target. */
function toRequest(incoming: NodeRequest): Request | undefined {
  try {
    return readRequest(incoming);
  } catch {
    return undefined;
  }
}

function readRequest(incoming: NodeRequest): Request {
  const { method = 'GET', originalUrl, url = '/' } = incoming;
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (name.startsWith(':')) continue;
    for (const one of [value ?? []].flat()) headers.append(name, one);
  }
  const host = headers.get('host') ?? [incoming.headers[':authority'] ?? 'localhost'].flat().join();
  const address = addressOf(host, originalUrl ?? url);
  if (method === 'GET' || method === 'HEAD') return new Request(address, { method, headers });
  const body = incoming.body === undefined ? toStream(incoming) : bodyOf(incoming.body);
  return new Request(address, { method, headers, body, duplex: 'half' } as RequestInit);
}

/** A host: it has no character that would end it, or begin a path, a query, a user or a list. */
const HOST = /^[^\s/?#@,\\]+$/;
const ABSOLUTE = /^https?:\/\/([^/?#]*)/i;

/**
 * Behind a proxy the scheme is unknown, and nothing depends on it. The target is appended, not
 * resolved: `//other.example/attempts` is a path here. A target that contains a host must have the
 * host of the request.
 */
function addressOf(host: string, target: string): URL {
  const own = ABSOLUTE.exec(target);
  const path = own === null ? target : target.slice(own[0].length) || '/';
  const isOfHost = own === null || own[1]?.toLowerCase() === host.toLowerCase();
  if (!HOST.test(host) || !isOfHost || !/^[/?]/.test(path)) throw new TypeError('the request has no address');
  return new URL(`http://${host}${path}`);
}

/** The body from a parser: text and bytes unchanged, anything else as JSON. */
function bodyOf(parsed: unknown): string | Uint8Array<ArrayBuffer> {
  return typeof parsed === 'string' || ArrayBuffer.isView(parsed)
    ? (parsed as string | Uint8Array<ArrayBuffer>)
    : JSON.stringify(parsed);
}

/**
 * Streams the chunks. When cancelled, reads and drops the rest: ending the request would end its
 * connection before the response.
 */
function toStream(chunks: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel() {
      drain(iterator).catch(() => {
        // The client went away, and so did the reader of the response.
      });
    },
  });
}

async function drain(iterator: AsyncIterator<Uint8Array>): Promise<void> {
  while (!(await iterator.next()).done);
}
