/**
 * Replicas of the poller on one real database, a partner's real HTTPS server, and contest services
 * in memory that decide as the real ones do.
 */
import { createEgress, type Egress } from '@laurel/egress';
import { createEncryption, type Encryption } from '@laurel/encryption';
import { createCertificateAuthority } from '@laurel/local-infrastructure/certificate-authority';
import { createDatabase, type Database } from '@laurel/postgres';
import {
  createReadLogger,
  createTestClock,
  createTestDatabase,
  type ReceivedRequest,
  type Receiver,
  type ReceiverAnswer,
  startReceiver,
  type TestClock,
} from '@laurel/testing';
import { useStarted } from '@laurel/testing/harness';
import { parseCidrs } from '@laurel/untrusted-url';
import { newId } from '@laurel/values/ids';
import type { Environment, Tenant } from '@laurel/values/tenant';
import { createReportStore } from '../commits/report-store.ts';
import { ContestServicesInMemory } from '../commits/settle-records.fixture.ts';
import { createRecordSettler } from '../commits/settle-records.ts';
import { createBodyScheduler } from '../domain/body-scheduler.ts';
import { createPollBudget } from '../domain/poll-budget.ts';
import { DEFAULT_POLL_SLOTS } from '../domain/poll-slots.ts';
import { pullSecretOwner } from '../domain/pull-secret.ts';
import { createPoller, type Poller, type PollerDeps } from './poll.ts';

/** Long enough for every response that the tests send, even on a busy machine. */
const AMPLE_MS = 10_000;
export const INTERVAL_SECONDS = 60;
/** How long a dead replica's lease keeps others from polling. */
export const LEASE_MS = 30_000;

/** Responds to the n-th request, from 1, for a partner's path. */
export type Respond = (request: ReceivedRequest, number: number) => ReceiverAnswer;

export type Partner = {
  readonly url: string;
  readonly origin: string;
  readonly requests: readonly ReceivedRequest[];
  /** The queries of the requests, in order. */
  readonly queries: () => readonly string[];
  /** Resolves once this many requests have arrived. */
  readonly arrivals: (count: number) => Promise<void>;
  respond: Respond;
};

export type PolledIntegration = { readonly id: string; readonly tenant: Tenant };

type Setup = {
  readonly pull?: object;
  readonly secret?: string;
  readonly status?: string;
  readonly environment?: Environment;
  /** The environments that the gateway has opened for the program; by default the integration's. */
  readonly openEnvironments?: readonly string[];
};

export type StoredIntegration = {
  readonly cursor: string | null;
  readonly last_polled_at: Date | null;
  readonly next_poll_at: Date | null;
  readonly consecutive_failures: number;
  readonly last_poll_error: string | null;
  readonly leased_until: Date | null;
  readonly lease_number: bigint;
};

export type StoredEntry = {
  readonly error: string | null;
  readonly body_excerpt: string;
  readonly records: readonly { readonly status: string; readonly attempt_id?: string; readonly code?: string }[];
};

export interface PollHarness extends AsyncDisposable {
  readonly database: Database;
  readonly clock: TestClock;
  readonly contests: ContestServicesInMemory;
  readonly receiver: Receiver;
  readonly poller: Poller;
  readonly logLines: readonly string[];
  /** A partner's endpoint with its own path. */
  partner(respond?: Respond): Partner;
  /** An active integration of a new program, due now. */
  integration(partner: Pick<Partner, 'url' | 'origin'>, setup?: Setup): Promise<PolledIntegration>;
  /** A second replica. */
  startPoller(overrides?: Partial<PollerDeps>): Poller;
  /** Runs one sweep, and every poll that it begins. */
  sweep(poller?: Poller): Promise<void>;
  stored(integration: PolledIntegration): Promise<StoredIntegration>;
  log(integration: PolledIntegration): Promise<readonly StoredEntry[]>;
}

/** A page whose records the default map of `integration` reads, with other members around them. */
export function page(records: readonly object[], rest: object = {}): { readonly body: string } {
  return { body: JSON.stringify({ events: records, ...rest }) };
}

export function usePollHarness(): PollHarness {
  return useStarted(startPollHarness);
}

async function startPollHarness(): Promise<PollHarness> {
  await using starting = new AsyncDisposableStack();
  const scratch = starting.use(await createTestDatabase({ migrations: new URL('../../migrations/', import.meta.url) }));
  const connect = (url: string, maxConnections: number) =>
    starting.use(createDatabase({ url, maxConnections, applicationName: 'integration-poll-test' }));
  const database = connect(scratch.url, 4);
  const running = connect(scratch.runningUrl, 8);
  const ca = await createCertificateAuthority();
  const receiver = starting.use(await startReceiver({ ca, names: ['127.0.0.1', 'localhost', '127.0.0.2'] }));
  const egress: Egress = starting.use(createEgress({ allowCidrs: parseCidrs('127.0.0.0/8'), ca: ca.certificate }));
  const clock = createTestClock();
  const encryption = createEncryption({ current: { version: 1, bytes: Buffer.alloc(32, 7) }, accepted: [] });
  const contests = new ContestServicesInMemory();
  const { logger, logLines } = createReadLogger('integration');

  const startPoller: PollHarness['startPoller'] = (overrides = {}) =>
    createPoller({
      database: running,
      egress,
      encryption,
      settler: createRecordSettler({ contests, store: createReportStore({ database: running }), clock }),
      bodyScheduler: createBodyScheduler(),
      budget: createPollBudget(),
      clock,
      logger,
      timeoutMs: AMPLE_MS,
      ...DEFAULT_POLL_SLOTS,
      ...overrides,
    });
  const poller = starting.use(startPoller());

  const partners = new Map<
    string,
    { readonly partner: Partner; readonly requests: ReceivedRequest[]; readonly arrived: (() => void)[] }
  >();
  receiver.answerWith((request) => {
    const found = partners.get(new URL(request.path, receiver.url).pathname);
    if (found === undefined) return { status: 404 };
    found.requests.push(request);
    for (const resolve of found.arrived.splice(0)) resolve();
    return found.partner.respond(request, found.requests.length);
  });

  const owned = starting.move();
  return {
    database,
    clock,
    contests,
    receiver,
    poller,
    logLines,
    partner(respond = () => page([])) {
      const path = `/${newId()}`;
      const requests: ReceivedRequest[] = [];
      const arrived: (() => void)[] = [];
      const partner: Partner = {
        url: receiver.url + path,
        origin: receiver.url,
        requests,
        queries: () => requests.map((request) => new URL(request.path, receiver.url).search),
        async arrivals(count) {
          while (requests.length < count) await new Promise<void>((resolve) => arrived.push(resolve));
        },
        respond,
      };
      partners.set(path, { partner, requests, arrived });
      return partner;
    },
    integration: (partner, setup = {}) => insertIntegration(database, encryption, clock(), { partner, setup }),
    startPoller,
    async sweep(of = poller) {
      await of.runOnce(clock());
      await of.whenIdle();
    },
    async stored({ id }) {
      const [row] = await database.query<StoredIntegration>(
        {
          text: `select cursor, last_polled_at, next_poll_at, consecutive_failures, last_poll_error, leased_until, lease_number
            from integrations where id = $1`,
        },
        [id],
      );
      if (row === undefined) throw new Error(`no integration ${id}`);
      return row;
    },
    async log({ id }) {
      const rows = await database.query<Omit<StoredEntry, 'records'> & { readonly records: string }>(
        { text: 'select error, body_excerpt, records from log_entries where integration_id = $1 order by at, id' },
        [id],
      );
      return rows.map((row) => ({ ...row, records: JSON.parse(row.records) }));
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function insertIntegration(
  database: Database,
  encryption: Encryption,
  now: Date,
  { partner, setup }: { readonly partner: Pick<Partner, 'url' | 'origin'>; readonly setup: Setup },
): Promise<PolledIntegration> {
  const { secret, status = 'active', environment = 'test', openEnvironments = [environment] } = setup;
  const tenant: Tenant = { programId: newId(), environment };
  const id = newId();
  const descriptor = {
    version: 1,
    map: { records: '/events', attempt: { attempt_id: '/attempt' }, score: '/score' },
    pull: { url: partner.url, ...setup.pull },
  };
  const sealed = secret === undefined ? null : encryption.encrypt(secret, pullSecretOwner(id));
  await database.query({ text: 'insert into programs (id, open_environments, version) values ($1, $2, 1)' }, [
    tenant.programId,
    openEnvironments,
  ]);
  await database.query(
    {
      text: `
insert into integrations (id, program_id, environment, transport, status, descriptor, pull_secret, pull_origin, pull_interval_seconds,
  next_poll_at, created_at)
values ($1, $2, $10, 'pull_poll', $3, $4::json, $5, $6, $7, $8, $9)`,
    },
    [
      id,
      tenant.programId,
      status,
      JSON.stringify(descriptor),
      sealed,
      partner.origin,
      INTERVAL_SECONDS,
      status === 'active' ? now : null,
      now,
      environment,
    ],
  );
  return { id, tenant };
}
