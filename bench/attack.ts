// One attacking process: holds connections to the gateway, over loopback alone, until its parent ends it. It is a process of its own so that
// its CPU time is measured apart from the system's; what it opens and sends is bounded.
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';

/** Sent by the parent. */
export interface AttackRequest {
  readonly port: number;
  readonly kind: AttackKind;
  readonly connections: number;
  /** Addresses of 127.0.1.0/24, so that the well-behaved partner, on 127.0.0.1, counts as another client. */
  readonly addresses: number;
  /** Of `pushes`: where to, and how long their bodies are. */
  readonly integrationId: string;
  readonly bodyBytes: number;
}

/**
 * - `bodies`: each announces 256 KiB with an unknown key, sends 255 of them, and then nothing.
 * - `headers`: each begins a request and sends one header a second, without an end.
 * - `pushes`: each pushes bodies without a signature to one integration, one request after the other, over a new connection where the gateway
 *   ends the old one.
 * - `metrics`: each asks for what is expensive to render, one request after the other.
 */
export type AttackKind = 'bodies' | 'headers' | 'metrics' | 'pushes';

const TICK_MS = 10;
/** The most connections opened in a tick: closed ones are reopened no faster than this. */
const OPENS_A_TICK = 5;
const HEADER_EVERY_TICKS = 100;
const BODY = Buffer.alloc(255 * 1024, ' ');

process.once('message', ({ port, kind, connections, addresses, integrationId, bodyBytes }: AttackRequest) => {
  const pushedBody = Buffer.alloc(bodyBytes, ' ');
  const sockets = new Set<Socket>();
  let opened = 0;
  let ticks = 0;

  const open = () => {
    opened += 1;
    const socket = connect({ host: '127.0.0.1', port, localAddress: `127.0.1.${1 + (opened % addresses)}` });
    sockets.add(socket);
    socket.on('error', () => {});
    // Half closed on their side is held on ours: that is the attack.
    socket.allowHalfOpen = true;
    socket.once('close', () => sockets.delete(socket));
    socket.once('connect', () => begin(socket));
  };
  const begin = (socket: Socket) => {
    if (kind === 'headers') return void socket.resume().write('GET /v1/challenges HTTP/1.1\r\nhost: x\r\n');
    if (kind === 'metrics') {
      const ask = () => void socket.write('GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n');
      // The head and the body may arrive in two chunks; a request too many does no harm.
      socket.on('data', ask);
      return ask();
    }
    if (kind === 'pushes') {
      const push = () => {
        socket.cork();
        socket.write(
          `POST /webhooks/integrations/${integrationId}/outcome HTTP/1.1\r\nhost: x\r\ncontent-length: ${pushedBody.length}\r\n\r\n`,
        );
        socket.write(pushedBody);
        socket.uncork();
      };
      // An answer arrives as one chunk; a push too many does no harm.
      socket.on('data', (answer: Buffer) => {
        if (answer.includes('Connection: close')) return void socket.destroy();
        push();
      });
      return push();
    }
    const key = `sk_test_${randomBytes(24).toString('hex')}`;
    socket.resume();
    socket.write(
      `POST /v1/attempts HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\ncontent-length: 262144\r\n\r\n`,
    );
    socket.write(BODY);
  };

  setInterval(() => {
    ticks += 1;
    for (let count = 0; count < OPENS_A_TICK && sockets.size < connections; count += 1) open();
    if (kind !== 'headers' || ticks % HEADER_EVERY_TICKS !== 0) return;
    for (const socket of sockets) if (!socket.connecting) socket.write(`x-${ticks}: x\r\n`);
  }, TICK_MS);
});
