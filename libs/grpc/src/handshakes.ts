/**
 * Connections whose TLS handshake failed: all of them counted, at most one a second logged, because a client that reaches the port can make
 * any number. The address is not logged: Node has released the socket by then.
 */
import type { Server, TLSSocket } from 'node:tls';
import { counter } from '@laurel/telemetry';
import type { RpcLogger } from './definition.ts';

const LOGGED_EVERY_MS = 1_000;

const failed = counter(
  'laurel_grpc_handshakes_failed_total',
  'Connections that showed no certificate of ours, or ended before they had.',
);

export function watchHandshakes(server: Server, logger: RpcLogger): void {
  let quietUntil = Number.NEGATIVE_INFINITY;
  let unlogged = 0;
  server.on('tlsClientError', (err, socket: TLSSocket) => {
    failed.inc();
    const now = performance.now();
    if (now < quietUntil) {
      unlogged += 1;
      return;
    }
    quietUntil = now + LOGGED_EVERY_MS;
    // The socket has the reason for which a certificate was not accepted; the error only reports that the connection ended.
    const reason = String(socket.authorizationError ?? (err as NodeJS.ErrnoException).code ?? err.message);
    logger.warn({ reason, unlogged }, 'a TLS handshake failed');
    unlogged = 0;
  });
}
