/**
 * A contest service's outbox and a consumer on real servers, for the tests of this package;
 * `@laurel/testing` builds on them.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureDatabase } from '@laurel/local-infrastructure/ensure-database';
import { type NatsProcess, startNatsProcess } from '@laurel/local-infrastructure/nats-process';
import { obtainNats } from '@laurel/local-infrastructure/nats-server';
import { createDatabase, type Database } from '@laurel/postgres';
import { Environment } from '@laurel/proto/common';
import { type Event, Owner } from '@laurel/proto/events';
import { createLogger, type Logger } from '@laurel/service';
import { createOutbox, type Outbox } from './outbox.ts';
import { connectEvents, type EventStream } from './stream.ts';

/** The relay's margin in tests: how long an event may stay unacknowledged after its publication. */
export const MARGIN_MS = 50;

const KEPT_BELOW = fileURLToPath(new URL('../../../node_modules/.cache/laurel', import.meta.url));

const CREATE_OUTBOX = {
  text: `
create table outbox (
  event_id uuid not null,
  payload bytea not null,
  environment text not null,
  published_at timestamptz(3) not null default clock_timestamp(),
  constraint outbox_pkey primary key (event_id)
);
create index outbox_by_environment_and_publication on outbox (environment, published_at)`,
};

/** The URL of the test run's server, with the operator as its user. */
export function natsUrl(): string {
  return variable('LAUREL_TEST_NATS_URL');
}

/** The URL with the user of a service; unchanged for a server without users. */
export function urlForUser(user: string, url: string): string {
  return url.replace('//operator:', `//${user}:`);
}

export function natsFile(): Promise<string> {
  return obtainNats(KEPT_BELOW, () => {}, AbortSignal.timeout(60_000));
}

/**
 * Starts a server that a test may kill and erase. With a limit, its store is full at that many
 * bytes.
 */
export async function startOwnNats({ maxStoreBytes }: { readonly maxStoreBytes?: number } = {}): Promise<NatsProcess> {
  const file = await natsFile();
  const directory = await mkdtemp(join(tmpdir(), `laurel-test-nats-${process.pid}-`));
  const configurationFile = join(directory, 'nats.conf');
  if (maxStoreBytes !== undefined) {
    await writeFile(configurationFile, `jetstream { max_file_store: ${maxStoreBytes} }\n`);
  }
  const server = await startNatsProcess({
    file,
    directory,
    ...(maxStoreBytes !== undefined && { configurationFile }),
  });
  return {
    ...server,
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** A database with an outbox and nothing else. */
export async function createOutboxDatabase(): Promise<Database> {
  const serverUrl = variable('LAUREL_TEST_POSTGRES_URL');
  const name = `outbox_${randomBytes(8).toString('hex')}`;
  await ensureDatabase(serverUrl, name);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const database = createDatabase({ url: url.href, maxConnections: 5, applicationName: 'events-test' });
  await database.query(CREATE_OUTBOX);
  return {
    ...database,
    [Symbol.asyncDispose]: async () => {
      await database[Symbol.asyncDispose]();
      await using server = createDatabase({ url: serverUrl, maxConnections: 1, applicationName: 'events-test' });
      await server.query({ text: `drop database ${name} with (force)` });
    },
  };
}

interface LogLine {
  readonly msg: string;
  readonly level: string;
  readonly error?: string;
}

/** A logger that keeps its lines. */
export function createTestLogger(): { logger: Logger; lines: LogLine[] } {
  const lines: LogLine[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  return { logger: createLogger({ service: 'events-test', level: 'info', destination }), lines };
}

export function newPrefix(): string {
  return `test-${randomBytes(6).toString('hex')}`;
}

export function newEvent(overrides: Partial<Event> = {}): Event {
  return {
    id: randomUUID(),
    occurredAt: new Date(),
    tenant: { programId: randomUUID(), environment: Environment.TEST },
    owner: Owner.CHALLENGE,
    payload: { $case: 'challengeSuspended', value: { challengeId: randomUUID(), name: 'Sprint' } },
    ...overrides,
  };
}

export interface TestPublisher extends AsyncDisposable {
  readonly stream: EventStream;
  readonly outbox: Outbox;
  /**
   * Commits the events, then publishes them unless `isPublished` is false, as after a crash right
   * after the commit.
   */
  happen(events: readonly Event[], options?: { readonly isPublished: boolean }): Promise<void>;
  waiting(): Promise<string[]>;
}

/** Stands for the challenge service, which publishes events. */
export function createTestPublisher(options: {
  url: string;
  prefix: string;
  database: Database;
  logger?: Logger;
  republishAfterMs?: number;
}): TestPublisher {
  const { url, prefix, database, logger = createTestLogger().logger, republishAfterMs = MARGIN_MS } = options;
  const stream = connectEvents({ url: urlForUser('challenge', url), prefix, name: 'owner', logger });
  const outbox = createOutbox({ owner: 'challenge', database, stream, logger, republishAfterMs });
  return {
    stream,
    outbox,
    happen: async (events, { isPublished } = { isPublished: true }) => {
      await database.transaction((tx) => tx.commitWith((last) => outbox.insert(last, events)));
      if (isPublished) outbox.publish(events);
    },
    waiting: async () => {
      const rows = await database.query<{ event_id: string }>({
        text: 'select event_id from outbox order by event_id',
      });
      return rows.map((row) => row.event_id);
    },
    [Symbol.asyncDispose]: async () => {
      await outbox[Symbol.asyncDispose]();
      await stream[Symbol.asyncDispose]();
    },
  };
}

/** Polls until the condition holds, for effects of another process; throws after the deadline. */
export async function eventually(
  what: string,
  isSo: () => Promise<boolean> | boolean,
  deadlineMs = 15_000,
): Promise<void> {
  const deadline = Date.now() + deadlineMs;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`waited ${deadlineMs} ms in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function variable(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: the test run has no such server`);
  return value;
}
