/** Health and metrics over plain HTTP, for services without public HTTP. Bind it to an address that only the cluster reaches. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { metrics } from '@laurel/telemetry';

export type AdminServer = AsyncDisposable & { readonly port: number };

/**
 * Serves `/healthz` (the process lives), `/readyz` (200 when `isReady`, else 503) and `/metrics` (Prometheus text).
 * Port 0 takes a free one.
 */
export async function startAdminServer(options: {
  host: string;
  port: number;
  isReady: () => Promise<boolean> | boolean;
}): Promise<AdminServer> {
  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0];
    if (path === '/healthz') return answer(response, 200, 'ok');
    if (path === '/readyz') return void answerReadiness(response, options.isReady);
    if (path === '/metrics') return void answerMetrics(response);
    return answer(response, 404, 'not found');
  });
  server.listen(options.port, options.host);
  await once(server, 'listening');

  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answerReadiness(response: ServerResponse, isReady: () => Promise<boolean> | boolean): Promise<void> {
  let ready = false;
  try {
    ready = await isReady();
  } catch {
    // What cannot be asked is not ready.
  }
  answer(response, ready ? 200 : 503, ready ? 'ready' : 'not ready');
}

async function answerMetrics(response: ServerResponse): Promise<void> {
  try {
    answer(response, 200, await metrics.metrics(), metrics.contentType);
  } catch {
    answer(response, 500, 'metrics could not be collected');
  }
}

function answer(
  response: ServerResponse,
  status: number,
  body: string,
  contentType = 'text/plain; charset=utf-8',
): void {
  response.writeHead(status, { 'content-type': contentType, 'cache-control': 'no-store' }).end(body);
}
