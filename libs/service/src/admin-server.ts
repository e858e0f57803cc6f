/**
 * Health and metrics over plain HTTP. It authenticates no caller: bind it to an address that only
 * the cluster reaches.
 */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { renderMetrics } from '@laurel/telemetry';

export type AdminServer = AsyncDisposable & { readonly port: number };

/**
 * True if a service can do its work. Otherwise false, or what it lacks, which the response lists.
 */
export type Readiness = boolean | { readonly missing: readonly string[] };

/** How long a result is cached: each check costs the database a round trip. */
const READY_FOR_MS = 1_000;
/** A negative result is cached for less time, because a caller waits for it to change. */
const NOT_READY_FOR_MS = 250;

/**
 * Serves `/healthz` (the process lives), `/readyz` (200 when `isReady`, else 503),
 * `/readyz/dependencies` (200 when `dependencies` are ready too) and `/metrics` (Prometheus text).
 * `isServing` is called for every request: a draining process reports it immediately. Port 0 binds
 * a free one.
 */
export async function startAdminServer(options: {
  host: string;
  port: number;
  /**
   * Whether this process can serve: what a load balancer asks. It leaves out the services that this
   * one calls: if one were down, the balancer would remove all replicas at once, although some
   * requests do not need it.
   */
  isReady: () => Promise<Readiness> | Readiness;
  /** Whether the services that this process calls are ready. */
  dependencies?: () => Promise<Readiness>;
  isServing?: () => boolean;
  /** Returns the time in milliseconds; tests control it. */
  now?: () => number;
}): Promise<AdminServer> {
  const { isReady, dependencies, isServing = () => true, now = () => performance.now() } = options;
  const look = cacheReadiness(isReady, now);
  const lookAtDependencies = dependencies && cacheReadiness(dependencies, now);
  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0];
    if (path === '/healthz') return answer(response, 200, 'ok');
    if (path === '/readyz') {
      if (!isServing()) return answer(response, 503, 'not ready');
      return void look().then((missing) => answerReadiness(response, missing));
    }
    if (path === '/readyz/dependencies' && lookAtDependencies !== undefined) {
      if (!isServing()) return answer(response, 503, 'not ready');
      return void Promise.all([look(), lookAtDependencies()]).then(([own, called]) =>
        answerReadiness(response, own === null && called === null ? null : [...(own ?? []), ...(called ?? [])]),
      );
    }
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

/** Returns what is missing, or null. Concurrent probes share one check. */
function cacheReadiness(
  isReady: () => Promise<Readiness> | Readiness,
  now: () => number,
): () => Promise<readonly string[] | null> {
  let look: Promise<readonly string[] | null> | undefined;
  let standsUntil = Number.POSITIVE_INFINITY;

  const ask = async () => {
    let missing: readonly string[] | null = [];
    try {
      const readiness = await isReady();
      if (typeof readiness === 'boolean') missing = readiness ? null : [];
      else missing = readiness.missing.length === 0 ? null : readiness.missing;
    } catch {
      // A check that fails means not ready.
    }
    standsUntil = now() + (missing === null ? READY_FOR_MS : NOT_READY_FOR_MS);
    return missing;
  };
  return () => {
    if (look === undefined || now() >= standsUntil) {
      standsUntil = Number.POSITIVE_INFINITY;
      look = ask();
    }
    return look;
  };
}

function answerReadiness(response: ServerResponse, missing: readonly string[] | null): void {
  if (missing === null) answer(response, 200, 'ready');
  else answer(response, 503, missing.length === 0 ? 'not ready' : `not ready: ${missing.join(', ')}`);
}

async function answerMetrics(response: ServerResponse): Promise<void> {
  try {
    const { page, contentType } = await renderMetrics();
    answer(response, 200, page, contentType);
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
