import { isIP, type Socket } from 'node:net';
import { counter } from '@laurel/telemetry';
import { type Cidrs, checkUrl } from '@laurel/untrusted-url';
import { Pool } from 'undici';
import { createConnector } from './connector.ts';
import {
  type ConnectionAttempt,
  type EgressResult,
  type EgressTimings,
  Exchange,
  type OriginConnections,
} from './exchange.ts';
import { EgressFailure } from './failure.ts';
import { requestHeaders } from './headers.ts';
import { createResolver } from './resolver.ts';

export type EgressOptions = {
  /** Networks that are not public but that connections may reach. */
  readonly allowCidrs: Cidrs;
  /** PEM; trusted in addition to the system's roots. */
  readonly ca?: string | undefined;
  /** `address` or `address:port`; the system's unless given. */
  readonly dnsServers?: readonly string[] | undefined;
  /**
   * The most connections to one origin. Further requests to the origin wait, within their timeout.
   * By default as many as one process sends requests at a time.
   */
  readonly connectionsPerOrigin?: number;
  /** How many origins keep idle connections; the least recently used origin loses them first. */
  readonly maxOrigins?: number;
};

export type EgressRequest = {
  readonly method: string;
  readonly url: string | URL;
  /**
   * `request` throws TypeError for a malformed header, or one that a caller may not set: see
   * `isCallersHeader` of libs/untrusted-url.
   */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  /** The limit for all phases together: name, connection, request, response. */
  readonly timeoutMs: number;
  readonly maxBodyBytes: number;
  readonly signal?: AbortSignal | undefined;
};

export interface Egress extends AsyncDisposable {
  /**
   * Sends a request. Never rejects because of a remote. Follows no redirect, decompresses nothing,
   * keeps no cookies, uses no proxy.
   */
  request(request: EgressRequest): Promise<EgressResult>;
}

const CONNECTIONS_PER_ORIGIN = 128;
const MAX_ORIGINS = 256;
/**
 * Idle connections close after this time, or after the server's keep-alive timeout, up to the
 * maximum below.
 */
const KEEP_ALIVE_MS = 4_000;
const MAX_KEEP_ALIVE_MS = 30_000;
/**
 * Connections close this much before the server's timeout, so that no request meets a connection
 * that the server closes.
 */
const KEEP_ALIVE_MARGIN_MS = 1_000;
const MAX_HEAD_BYTES = 16_384;
const HTTPS_PORT = 443;
const NO_TIMINGS: EgressTimings = { dnsMs: null, connectMs: null, waitMs: null, readMs: null };

/** The connections of one origin. */
type OriginPool = OriginConnections & {
  readonly pool: Pool;
  lastAttempt: ConnectionAttempt | null;
  /** The deadline of the latest request, by performance.now(). */
  deadline: number;
};

export function createEgress({
  allowCidrs,
  ca,
  dnsServers,
  connectionsPerOrigin = CONNECTIONS_PER_ORIGIN,
  maxOrigins = MAX_ORIGINS,
}: EgressOptions): Egress {
  const stopping = new AbortController();
  const resolver = createResolver(dnsServers);
  const open = createConnector({ resolver, allowCidrs, ca, stopping: stopping.signal });
  /** The pools are keyed by origin; the most recently used one is the last. */
  const origins = new Map<string, OriginPool>();
  /** All pools, including those removed from `origins` that still finish their requests. */
  const pools = new Set<Pool>();
  const results = counter('laurel_egress_requests_total', 'Requests to untrusted URLs, by outcome.', ['outcome']);

  function originOf(origin: string): OriginPool {
    const known = origins.get(origin);
    origins.delete(origin);
    const used = known ?? createOriginPool(origin);
    origins.set(origin, used);
    if (known === undefined && origins.size > maxOrigins) closeOldest();
    return used;
  }

  function createOriginPool(origin: string): OriginPool {
    const pool = new Pool(origin, {
      connect: ({ hostname, port }, callback) => {
        connectFor(created, hostname, port === '' ? HTTPS_PORT : Number(port)).then(
          (socket) => callback(null, socket),
          (failure) => callback(failure, null),
        );
      },
      connections: connectionsPerOrigin,
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: MAX_KEEP_ALIVE_MS,
      keepAliveTimeoutThreshold: KEEP_ALIVE_MARGIN_MS,
      maxHeaderSize: MAX_HEAD_BYTES,
      // Each HTTP exchange has its own deadline.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    pools.add(pool);
    const created: OriginPool = { pool, lastAttempt: null, waiting: 0, deadline: 0 };
    return created;
  }

  async function connectFor(origin: OriginPool, hostname: string, port: number): Promise<Socket> {
    // undici keeps cancelled requests in its queue.
    if (origin.waiting === 0) throw new EgressFailure('aborted');
    const attempt: ConnectionAttempt = {
      startedAt: performance.now(),
      isLiteral: isIP(hostname) !== 0,
      resolvedAt: null,
    };
    origin.lastAttempt = attempt;
    const timeoutMs = origin.deadline - attempt.startedAt;
    const onResolved = () => {
      attempt.resolvedAt = performance.now();
    };
    return open({ hostname, port, timeoutMs, onResolved });
  }

  function closeOldest(): void {
    const [oldest] = origins;
    if (oldest === undefined) return;
    const [origin, { pool }] = oldest;
    origins.delete(origin);
    // Requests that are in flight on the pool end first.
    void pool.close().finally(() => pools.delete(pool));
  }

  return {
    request({ method, url: target, headers, body, ...limits }) {
      return new Promise((resolve, reject) => {
        const finish = (result: EgressResult) => {
          results.inc({ outcome: result.kind === 'answer' ? 'answer' : result.error });
          resolve(result);
        };
        const headerList = requestHeaders(headers);
        const checked = checkUrl(String(target), { allow: allowCidrs });
        if (!checked.ok) return finish(unsent(new EgressFailure('blocked', checked.reason)));
        if (limits.signal?.aborted) return finish(unsent(new EgressFailure('aborted')));
        const { origin, pathname, search } = checked.url;
        const route = originOf(origin);
        route.deadline = performance.now() + limits.timeoutMs;
        const exchange = new Exchange(limits, route, finish, reject);
        route.pool.dispatch({ method, path: pathname + search, headers: headerList, body: body ?? null }, exchange);
      });
    },

    async [Symbol.asyncDispose]() {
      stopping.abort(new EgressFailure('aborted'));
      resolver.cancel();
      await Promise.all(Array.from(pools, (pool) => pool.destroy()));
    },
  };
}

function unsent({ kind, message }: EgressFailure): EgressResult {
  return { kind: 'failure', error: kind, message, timings: NO_TIMINGS };
}
