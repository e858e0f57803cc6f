// One attacking process: it holds connections to the gateway, only over loopback, until its parent
// ends it. It is a separate process so that its CPU time is measured apart from the system's. Its
// connections and the bytes that it sends are bounded.
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';

/** The parent sends this request. */
export interface AttackRequest {
  readonly port: number;
  readonly kind: AttackKind;
  readonly connections: number;
  /**
   * How many addresses of 127.0.1.0/24 the attack comes from. The well-behaved partner, on
   * 127.0.0.1, counts as another client.
   */
  readonly addresses: number;
}

/**
 * What each connection does:
 * - `bodies`: announces 256 KiB with an unknown API key, sends 255 KiB, and then nothing.
 * - `headers`: begins a request and sends one header a second, without an end.
 * - `metrics`: requests expensive metrics, one request after the other.
 */
export type AttackKind = 'bodies' | 'headers' | 'metrics';

const TICK_MS = 10;
/** The most connections that one tick opens, which limits how fast closed ones are reopened. */
const OPENS_A_TICK = 5;
const HEADER_EVERY_TICKS = 100;
const BODY = Buffer.alloc(255 * 1024, ' ');

process.once('message', ({ port, kind, connections, addresses }: AttackRequest) => {
  const sockets = new Set<Socket>();
  let opened = 0;
  let ticks = 0;

  const open = () => {
    opened += 1;
    const socket = connect({ host: '127.0.0.1', port, localAddress: `127.0.1.${1 + (opened % addresses)}` });
    sockets.add(socket);
    socket.on('error', () => {});
    // This is part of the attack: the attacker keeps its side open after the gateway has closed its
    // own.
    socket.allowHalfOpen = true;
    socket.once('close', () => sockets.delete(socket));
    socket.once('connect', () => begin(socket));
  };
  const begin = (socket: Socket) => {
    if (kind === 'headers') return void socket.resume().write('GET /v1/challenges HTTP/1.1\r\nhost: x\r\n');
    if (kind === 'metrics') {
      const ask = () => void socket.write('GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n');
      // A response may arrive in two chunks; the extra request that this causes does no harm.
      socket.on('data', ask);
      return ask();
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
