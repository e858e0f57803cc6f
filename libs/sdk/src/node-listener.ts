/** What this needs of `IncomingMessage`; Express adds `originalUrl`, and `body` where a parser has read it. */
export interface NodeRequest extends AsyncIterable<Uint8Array> {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly originalUrl?: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body?: unknown;
}

/** What this needs of `ServerResponse`. */
export interface NodeResponse {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(body?: Uint8Array): unknown;
}

/**
 * A Fetch handler as a listener of `node:http` and as middleware of Express 4 and 5: `app.use('/laurel', toNodeListener(handler))`, before or
 * after `express.json()`. What the handler throws goes to `next`, or becomes a 500 where there is none.
 */
export function toNodeListener(
  handler: (request: Request) => Promise<Response>,
): (request: NodeRequest, response: NodeResponse, next?: (error: unknown) => void) => Promise<void> {
  return async (incoming, outgoing, next) => {
    try {
      const response = await handler(toRequest(incoming));
      const body = new Uint8Array(await response.arrayBuffer());
      outgoing.statusCode = response.status;
      response.headers.forEach((value, name) => {
        outgoing.setHeader(name, value);
      });
      outgoing.end(body);
    } catch (error) {
      if (next !== undefined) return next(error);
      outgoing.statusCode = 500;
      outgoing.end();
    }
  };
}

function toRequest(incoming: NodeRequest): Request {
  const { method = 'GET', originalUrl, url = '/' } = incoming;
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (name.startsWith(':')) continue;
    for (const one of [value ?? []].flat()) headers.append(name, one);
  }
  // The scheme is not known behind a proxy, and nothing depends on it. Appended, not resolved: `//other.example/attempts` is a path here.
  const address = new URL(`http://${headers.get('host') ?? 'localhost'}${originalUrl ?? url}`);
  if (method === 'GET' || method === 'HEAD') return new Request(address, { method, headers });
  const body = incoming.body === undefined ? toStream(incoming) : JSON.stringify(incoming.body);
  return new Request(address, { method, headers, body, duplex: 'half' } as RequestInit);
}

/** Cancelled, it reads the rest and drops it: ending the request would end its connection before the answer. */
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
        // The client went away, and with it the reader of the answer.
      });
    },
  });
}

async function drain(iterator: AsyncIterator<Uint8Array>): Promise<void> {
  while (!(await iterator.next()).done);
}
