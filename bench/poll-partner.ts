// The partners of the poll benchmark, in a separate process: an HTTPS server that answers each poll
// immediately, and one that accepts a connection and never sends a byte. Both listen on every
// address of this machine, so that each address is a separate origin.
import { createServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';

/** The parent sends these orders. The first has the certificate for the servers' addresses. */
export type PartnerOrder =
  | { readonly kind: 'listen'; readonly certificate: string; readonly key: string }
  | { readonly kind: 'arrivals' };

export type PartnerPorts = { readonly prompt: number; readonly deaf: number };

/**
 * When each poll arrived, in milliseconds since the epoch: by path at the prompt server, by address
 * at the silent one.
 */
export type PollArrivals = ReadonlyMap<string, readonly number[]>;

const arrivals = new Map<string, number[]>();

process.on('message', (order: PartnerOrder) => {
  if (order.kind === 'listen') void listen(order).then((ports) => process.send?.(ports));
  else process.send?.(arrivals satisfies PollArrivals);
});

async function listen(identity: { readonly certificate: string; readonly key: string }): Promise<PartnerPorts> {
  const prompt = createServer({ cert: identity.certificate, key: identity.key }, (request, response) => {
    const path = request.url ?? '';
    arrived(path);
    // The attempt does not exist; the record still goes to its contest service, like any other.
    const body = JSON.stringify([{ attempt_id: path.slice(1), score: 1 }]);
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  });
  const deaf = createTcpServer((socket) => {
    arrived(socket.localAddress ?? '');
    socket.on('error', () => undefined);
    socket.resume();
  });
  return { prompt: await portOf(prompt), deaf: await portOf(deaf) };
}

function arrived(name: string): void {
  const known = arrivals.get(name);
  if (known === undefined) arrivals.set(name, [Date.now()]);
  else known.push(Date.now());
}

function portOf(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '0.0.0.0', () => resolve((server.address() as AddressInfo).port));
  });
}
