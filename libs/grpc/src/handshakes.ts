/**
 * Counts failed TLS handshakes and logs at most one a second, because any client that reaches the
 * port can cause any number. The log has no address: Node has released the socket by then.
 */
import type { Server, TLSSocket } from 'node:tls';
import { counter } from '@laurel/telemetry';
import type { RpcLogger } from './definition.ts';

const LOGGED_EVERY_MS = 1_000;

const failed = counter(
  'laurel_grpc_handshakes_failed_total',
  'Connections that ended before they presented an accepted certificate.',
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
    // The socket holds the reason why a certificate was not accepted; the error only reports that
    // the connection ended.
    const reason = String(socket.authorizationError ?? (err as NodeJS.ErrnoException).code ?? err.message);
    logger.warn({ reason, unlogged }, 'a TLS handshake failed');
    unlogged = 0;
  });
}
