/**
 * The harness of the dispatcher's tests: consumer and dispatcher on a real database, and HTTPS
 * receivers. No timer runs, so only endpoints that a test wakes get sends: a test advances the
 * clock and calls the sweep.
 */

import { once } from 'node:events';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createEgress } from '@laurel/egress';
import { createEncryption } from '@laurel/encryption';
import {
  type CertificateAuthority,
  createCertificateAuthority,
} from '@laurel/local-infrastructure/certificate-authority';
import { createDatabase, type Database } from '@laurel/postgres';
import { Environment } from '@laurel/proto/common';
import { type Event, Owner } from '@laurel/proto/events';
import { createReadLogger, createTestClock, createTestDatabase, type TestClock } from '@laurel/testing';
import { useStarted } from '@laurel/testing/harness';
import { parseCidrs } from '@laurel/untrusted-url';
import { newId } from '@laurel/values/ids';
import type { Tenant } from '@laurel/values/tenant';
import { type ConsumeEvents, createConsumeEvents } from '../consumers/consume-events.ts';
import type { Endpoint } from '../domain/endpoint.ts';
import { DEFAULT_RETRY_DELAYS_MS } from '../domain/retry-schedule.ts';
import { newSigningSecret, secretOwner } from '../domain/signing-secret.ts';
import { DEFAULT_SLOTS } from '../domain/slots.ts';
import { insertEndpoint, updateSecret } from '../repository/endpoints.ts';
import { insertPrograms } from '../repository/programs.ts';
import { createDispatcher, type Dispatcher } from './deliver.ts';

/** The timeout is so long that no test reaches it unintentionally. */
export const TIMEOUT_MS = 10_000;
export const LEASE_MS = TIMEOUT_MS + 10_000;

export type Received = {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: string;
};

export interface Receiver extends AsyncDisposable {
  /** A new URL on this receiver, which responds as `respond` does, or else with 200 and `ok`. */
  url(respond?: Respond): {
    readonly url: string;
    readonly received: Received[];
    arrivals(count: number): Promise<void>;
  };
}

export type Respond = (response: ServerResponse, request: Received) => void;

/** `tenant` is a program of the endpoint's developer in the test environment. */
export type RegisteredEndpoint = Endpoint & { readonly secret: string; readonly tenant: Tenant };

export interface DispatchHarness extends AsyncDisposable {
  readonly database: Database;
  readonly clock: TestClock;
  readonly receiver: Receiver;
  readonly authority: CertificateAuthority;
  readonly dispatcher: Dispatcher;
  readonly consume: ConsumeEvents;
  readonly logLines: readonly string[];
  /** Another dispatcher on the same database, with the same clock: it acts as another process. */
  startDispatcher(options?: { readonly sends?: number; readonly timeoutMs?: number }): Dispatcher;
  /** An endpoint with a program; its developer is new unless one is given. */
  endpoint(url: string, settings?: Partial<Endpoint>): Promise<RegisteredEndpoint>;
  rotate(endpoint: Endpoint): Promise<string>;
  /** The stored deliveries of the endpoint, with their sends, oldest first. */
  deliveries(endpointId: string): Promise<readonly StoredDelivery[]>;
  /** Makes the database unreachable until the result is disposed. */
  outage(): Promise<AsyncDisposable>;
  /** Runs the sweep, and every send that it wakes. */
  sweep(dispatcher?: Dispatcher): Promise<void>;
}

export type StoredDelivery = {
  readonly id: string;
  readonly status: string;
  readonly attempts: number;
  readonly next_attempt_at: Date | null;
  readonly leased_until: Date | null;
  readonly closed_at: Date | null;
  readonly sends: readonly {
    readonly number: number;
    readonly http_status: number | null;
    readonly error_kind: string | null;
    readonly error: string | null;
    readonly response_excerpt: string | null;
  }[];
};

const DELIVERIES = {
  text: `
select d.id, d.status, d.attempts, d.next_attempt_at, d.leased_until, d.closed_at, coalesce(
  (select json_agg(json_build_object('number', a.number, 'http_status', a.http_status, 'error_kind', a.error_kind, 'error', a.error,
    'response_excerpt', a.response_excerpt) order by a.number) from delivery_attempts a where a.delivery_id = d.id), '[]')::text as sends
from deliveries d where d.endpoint_id = $1 order by d.created_at, d.id`,
};

/** The harness of one test file, started before its tests run. */
export function useDispatchHarness(): DispatchHarness {
  return useStarted(startDispatchHarness);
}

/**
 * A `challenge.suspended` event in the test environment of the endpoint's program, unless another
 * tenant is given.
 */
export function suspended(
  { tenant }: Pick<RegisteredEndpoint, 'tenant'>,
  occurredAt: Date,
  event: Partial<Event> = {},
): Event {
  return {
    id: newId(occurredAt),
    occurredAt,
    tenant: { programId: tenant.programId, environment: Environment.TEST },
    owner: Owner.CHALLENGE,
    payload: { $case: 'challengeSuspended', value: { challengeId: newId(occurredAt), name: 'Hard mode' } },
    ...event,
  };
}

async function startDispatchHarness(): Promise<DispatchHarness> {
  await using starting = new AsyncDisposableStack();
  const scratch = starting.use(await createTestDatabase({ migrations: new URL('../../migrations/', import.meta.url) }));
  const database = starting.use(
    createDatabase({ url: scratch.url, maxConnections: 8, applicationName: 'webhook-engine-test' }),
  );
  const authority = await createCertificateAuthority();
  const receiver = starting.use(await startReceiver(authority));
  const clock = createTestClock();
  const encryption = createEncryption({ current: { version: 1, bytes: Buffer.alloc(32, 7) }, accepted: [] });
  const { logger, logLines } = createReadLogger('webhook');
  const egress = starting.use(
    createEgress({ allowCidrs: parseCidrs('127.0.0.0/8'), ca: authority.certificate, connectionsPerOrigin: 256 }),
  );
  const startDispatcher: DispatchHarness['startDispatcher'] = ({
    sends = DEFAULT_SLOTS.sends,
    timeoutMs = TIMEOUT_MS,
  } = {}) =>
    createDispatcher({
      database,
      egress,
      encryption,
      clock,
      logger,
      timeoutMs,
      retryDelaysMs: DEFAULT_RETRY_DELAYS_MS,
      sendsPerEndpoint: DEFAULT_SLOTS.sendsPerEndpoint,
      sends,
    });
  const dispatcher = starting.use(startDispatcher());
  const programsOf = new Map<string, string>();

  const running = starting.move();
  return {
    database,
    clock,
    receiver,
    authority,
    dispatcher,
    consume: createConsumeEvents({ database, dispatcher, clock }),
    logLines,
    startDispatcher,
    async endpoint(url, settings = {}) {
      const developerId = settings.developerId ?? newId();
      const programId = programsOf.get(developerId) ?? newId();
      programsOf.set(developerId, programId);
      await insertPrograms(database, developerId, [programId]);
      const secret = newSigningSecret();
      const endpoint: Endpoint = {
        id: newId(clock()),
        url,
        events: [],
        programId: null,
        environment: null,
        description: '',
        isActive: true,
        createdAt: clock(),
        ...settings,
        developerId,
      };
      await insertEndpoint(database, endpoint, encryption.encrypt(secret, secretOwner(endpoint.id)));
      return { ...endpoint, secret, tenant: { programId, environment: 'test' } };
    },
    async rotate({ id, developerId }) {
      const secret = newSigningSecret();
      await updateSecret(database, developerId, id, encryption.encrypt(secret, secretOwner(id)));
      return secret;
    },
    async deliveries(endpointId) {
      const rows = await database.query<StoredDelivery & { sends: string }>(DELIVERIES, [endpointId]);
      return rows.map((row) => ({ ...row, sends: JSON.parse(row.sends) }));
    },
    async outage() {
      const server = createDatabase({ url: serverUrlOf(scratch.url), maxConnections: 1, applicationName: 'outage' });
      const name = new URL(scratch.url).pathname.slice(1);
      const admit = (isOpen: boolean) =>
        server.query({ text: `alter database ${name} with allow_connections ${isOpen}` });
      await admit(false);
      await server.query({ text: 'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1' }, [name]);
      return {
        [Symbol.asyncDispose]: async () => {
          await admit(true);
          await server[Symbol.asyncDispose]();
        },
      };
    },
    async sweep(of = dispatcher) {
      await of.runOnce(clock());
      await of.whenIdle();
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** The URL of a database that always exists, on the same server. */
function serverUrlOf(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.pathname = '/postgres';
  return url.href;
}

async function startReceiver(authority: CertificateAuthority): Promise<Receiver> {
  const { certificate, key } = await authority.issue({ names: ['127.0.0.1', 'localhost'] });
  const targets = new Map<string, { respond: Respond; received: Received[]; arrived: (() => void)[] }>();
  const server = createServer({ cert: certificate, key, keepAliveTimeout: 60_000 }, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const target = targets.get(request.url ?? '');
    if (target === undefined) return void response.writeHead(404).end();
    const received: Received = {
      method: request.method,
      path: request.url,
      headers: request.headers,
      rawHeaders: request.rawHeaders,
      body: Buffer.concat(chunks).toString('utf8'),
    };
    target.received.push(received);
    target.respond(response, received);
    for (const resolve of target.arrived.splice(0)) resolve();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    url(respond = (response) => void response.end('ok')) {
      const path = `/${newId()}`;
      const target = { respond, received: [] as Received[], arrived: [] as (() => void)[] };
      targets.set(path, target);
      return {
        url: `https://127.0.0.1:${port}${path}`,
        received: target.received,
        async arrivals(count) {
          while (target.received.length < count) await new Promise<void>((resolve) => target.arrived.push(resolve));
        },
      };
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
