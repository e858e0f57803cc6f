/**
 * A network between a partner and Laurel under a test's control: the test decides what happens to
 * each request and its response.
 */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/**
 * - `pass`: the partner gets the response.
 * - `reset`: the connection ends before Laurel sees the request.
 * - `lose`: Laurel has acted and responded, and the connection ends without the response.
 * - `cut`: as `lose`, but the connection ends in the middle of the response's body.
 * - `hold`: the partner gets no response for as long as it runs; with `before`, Laurel gets no
 *   request either.
 */
export type Fate = 'pass' | 'reset' | 'lose' | 'cut' | 'hold before' | 'hold after';

/** What the partner gets instead of Laurel's response; Laurel does not see the request. */
export interface ReplacementResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface LossyProxy extends AsyncDisposable {
  readonly baseUrl: string;
  /** The number of requests that had each fate. */
  readonly counts: Readonly<Record<Fate, number>>;
}

/** `decide` is called once for each request; `onHeld` when a request, or its response, is held. */
export async function startLossyProxy(
  target: string,
  decide: (request: IncomingMessage) => Fate | ReplacementResponse,
  onHeld: () => void = () => {},
): Promise<LossyProxy> {
  const counts: Record<Fate, number> = { pass: 0, reset: 0, lose: 0, cut: 0, 'hold before': 0, 'hold after': 0 };
  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const fate = decide(incoming);
    const body = await buffer(incoming);
    if (typeof fate === 'object') return void outgoing.writeHead(fate.status, fate.headers).end(fate.body);
    counts[fate] += 1;
    if (fate === 'reset') return void outgoing.destroy();
    if (fate === 'hold before') return onHeld();
    const answer = await forward(target, incoming, body);
    if (fate === 'lose') return void outgoing.destroy();
    if (fate === 'hold after') return onHeld();
    outgoing.writeHead(answer.status, answer.headers);
    if (fate === 'cut')
      return void outgoing.write(answer.body.subarray(0, answer.body.length / 2), () => outgoing.destroy());
    outgoing.end(answer.body);
  };
  const server = createServer((incoming, outgoing) => {
    serve(incoming, outgoing).catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function forward(
  target: string,
  { method, url = '', headers }: IncomingMessage,
  body: Buffer,
): Promise<{ status: number; headers: IncomingMessage['headers']; body: Buffer }> {
  return new Promise((resolve, reject) => {
    const sent = request(new URL(url, target), { method, headers }, (answer) => {
      buffer(answer).then(
        (received) => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: received }),
        reject,
      );
    });
    sent.once('error', reject).end(body);
  });
}
