// The receiver of the delivery benchmark, in a separate process: a partner's server that responds
// with 204 immediately.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/**
 * The parent sends these orders: first the server's certificate, later each endpoint's path and
 * secret.
 */
export type ReceiverOrder =
  | { readonly kind: 'listen'; readonly certificate: string; readonly key: string }
  | { readonly kind: 'secrets'; readonly secrets: Readonly<Record<string, string>> }
  | { readonly kind: 'arrivals' };

/** What arrived since the last report. Instants are milliseconds since the epoch. */
export interface Arrivals {
  readonly requests: number;
  /** Requests whose signature did not match their bytes. */
  readonly forged: number;
  /** The first arrival of each attempt named by an event. */
  readonly firstAt: ReadonlyMap<string, number>;
}

const secrets = new Map<string, string>();
let firstAt = new Map<string, number>();
let requests = 0;
let forged = 0;

process.on('message', (order: ReceiverOrder) => {
  if (order.kind === 'listen') {
    void listen(order).then((port) => process.send?.(port));
  } else if (order.kind === 'secrets') {
    for (const [path, secret] of Object.entries(order.secrets)) secrets.set(path, secret);
    process.send?.('known');
  } else {
    process.send?.({ requests, forged, firstAt } satisfies Arrivals);
    firstAt = new Map();
    requests = 0;
    forged = 0;
  }
});

async function listen(identity: { readonly certificate: string; readonly key: string }): Promise<number> {
  const tls = { cert: identity.certificate, key: identity.key };
  const server = createServer(tls, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const arrivedAt = Date.now();
      const body = Buffer.concat(chunks);
      requests += 1;
      if (!isSigned(request.url ?? '', body, request.headers['x-webhook-signature'])) forged += 1;
      const attemptId: string = JSON.parse(body.toString()).data.attempt_id;
      if (!firstAt.has(attemptId)) firstAt.set(attemptId, arrivedAt);
      response.writeHead(204).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

function isSigned(path: string, body: Buffer, signature: string | string[] | undefined): boolean {
  const expected = Buffer.from(
    `sha256=${createHmac('sha256', secrets.get(path) ?? '')
      .update(body)
      .digest('hex')}`,
  );
  const given = Buffer.from(String(signature));
  return given.length === expected.length && timingSafeEqual(given, expected);
}
