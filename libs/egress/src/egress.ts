import { isIP, type Socket } from 'node:net';
import { type Cidrs, checkUrl } from '@laurel/safe-url';
import { counter } from '@laurel/telemetry';
import { Pool } from 'undici';
import { createConnector } from './connector.ts';
import { type ConnectionAttempt, type EgressResult, type EgressTimings, Exchange, type Route } from './exchange.ts';
import { EgressFailure } from './failure.ts';
import { requestHeaders } from './headers.ts';
import { createResolver } from './resolver.ts';

export type EgressOptions = {
  /** Networks that are not public and may be spoken to all the same. */
  readonly allowCidrs: Cidrs;
  /** PEM; trusted besides the system's roots. */
  readonly ca?: string | undefined;
  /** `address` or `address:port`; the system's unless said. */
  readonly dnsServers?: readonly string[] | undefined;
  /** More requests to one origin wait, and their time runs. The default is what one process sends in all. */
  readonly connectionsPerOrigin?: number;
  /** Idle connections of so many origins are kept; those of the one that was not used for longest are closed first. */
  readonly maxOrigins?: number;
};

export type EgressRequest = {
  readonly method: string;
  readonly url: string | URL;
  /** One that is not the caller's to give, or is malformed, makes `request` throw TypeError: ask `isCallersHeader`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  /** For everything together: name, connection, request, answer. */
  readonly timeoutMs: number;
  readonly maxBodyBytes: number;
  readonly signal?: AbortSignal | undefined;
};

export interface Egress extends AsyncDisposable {
  /** Never rejects for what a remote does. Follows no redirect, inflates nothing, keeps no cookies, knows no proxy. */
  request(request: EgressRequest): Promise<EgressResult>;
}

const CONNECTIONS_PER_ORIGIN = 128;
const MAX_ORIGINS = 256;
/** Idle connections are closed after this time, or what the server says, up to the longest. */
const KEEP_ALIVE_MS = 4_000;
const MAX_KEEP_ALIVE_MS = 30_000;
/** Closed so much earlier than the server says, so that the last request does not meet a connection that is just being closed. */
const KEEP_ALIVE_MARGIN_MS = 1_000;
const MAX_HEAD_BYTES = 16_384;
const HTTPS_PORT = 443;
const NO_TIMINGS: EgressTimings = { dnsMs: null, connectMs: null, waitMs: null, readMs: null };

/** The connections of one origin. */
type OriginPool = Route & {
  readonly pool: Pool;
  lastAttempt: ConnectionAttempt | null;
  /** Of the request that came last; by performance.now(). */
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
  /** By origin; the one that was used last is the last. */
  const origins = new Map<string, OriginPool>();
  /** Also those that are out of `origins` and still finish what they began. */
  const pools = new Set<Pool>();
  const results = counter('laurel_egress_requests_total', 'Requests to addresses of strangers, by outcome.', [
    'outcome',
  ]);

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
      // Each exchange has its own deadline.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    pools.add(pool);
    const created: OriginPool = { pool, lastAttempt: null, waiting: 0, deadline: 0 };
    return created;
  }

  async function connectFor(origin: OriginPool, hostname: string, port: number): Promise<Socket> {
    // undici keeps requests that were given up in its queue.
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
    // What is in flight on it ends first.
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
