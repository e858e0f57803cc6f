import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import pg, { type Connection } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CommandComplete, type DataRow, type DriverQuery, type RowDescription, verifyDriver } from './driver.ts';
import { createScratchDatabase, type ScratchDatabase } from './scratch-database.fixture.ts';

/**
 * The version of pg whose source was reviewed for the pipelines. Review the source again before you
 * change this (decision 11).
 */
const REVIEWED_PG = '8.23.1';

let scratch: ScratchDatabase;
let client: pg.Client;

beforeAll(async () => {
  scratch = await createScratchDatabase();
  client = new pg.Client({ connectionString: scratch.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await scratch[Symbol.asyncDispose]();
});

test('the installed pg is the version against which the pipelines were reviewed', () => {
  const manifest: unknown = JSON.parse(readFileSync(fileURLToPath(import.meta.resolve('pg/package.json')), 'utf8'));
  const advice = `pg is not ${REVIEWED_PG}: compare lib/client.js and lib/query.js with driver.ts, run this file, then change REVIEWED_PG`;
  expect(manifest, advice).toMatchObject({ version: REVIEWED_PG });
});

test('the installed pg has the interface that the pipelines need', () => {
  expect(() => verifyDriver()).not.toThrow();
});

test.each([
  [{ connection: undefined }, 'Client.connection is missing'],
  [{ client: {} }, 'Client.connect is missing; Client.end is missing; Client.getTransactionStatus is missing'],
  [{ connection: {} }, 'Connection.bind is missing; Connection.close is missing'],
  [{ handlers: ['handleError'] }, 'Query.handleRowDescription is missing; Query.handleDataRow is missing'],
  [{ more: 'handleParseComplete' }, 'Query.handleParseComplete is new, and a pipeline does not handle it'],
])('a version of pg with %j is refused', ({ more, ...differing }: object & { more?: string }, difference) => {
  const handlers = Object.getOwnPropertyNames(pg.Query.prototype).filter((name) => name.startsWith('handle'));
  const shape = {
    client,
    connection: client.connection,
    handlers: more === undefined ? handlers : [...handlers, more],
  };
  expect(() => verifyDriver({ ...shape, ...differing })).toThrow(difference);
});

/** Writes the given messages, and records the calls of the driver. */
class Recorder implements DriverQuery {
  calls: unknown[] = [];
  readonly #ended = Promise.withResolvers<void>();
  readonly #write: (connection: Connection) => Error | undefined;

  constructor(write: (connection: Connection) => Error | undefined) {
    this.#write = write;
  }

  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  submit(connection: Connection): Error | undefined {
    this.calls.push('submit');
    return this.#write(connection);
  }
  handleRowDescription({ fields }: RowDescription): void {
    this.calls.push(['columns', fields.map(({ name, dataTypeID }) => [name, dataTypeID])]);
  }
  handleDataRow({ fields }: DataRow): void {
    this.calls.push(['row', fields]);
  }
  handleCommandComplete({ text }: CommandComplete): void {
    this.calls.push(['complete', text]);
  }
  handleEmptyQuery(): void {
    this.calls.push('empty');
  }
  handlePortalSuspended(): void {
    this.calls.push('suspended');
  }
  handleCopyInResponse(): void {
    this.calls.push('copy in');
  }
  handleCopyData(): void {
    this.calls.push('copy data');
  }
  handleError(error: Error): void {
    this.calls.push(['error', error.message]);
    this.#ended.resolve();
  }
  handleReadyForQuery(): void {
    this.calls.push(['ready', client.getTransactionStatus()]);
    this.#ended.resolve();
  }
}

/** Messages that parse, bind, describe and execute the statements, with one Sync at the end. */
function pipelineOf(...texts: readonly string[]): Recorder {
  return new Recorder((connection) => {
    for (const text of texts) {
      connection.parse({ name: '', text, types: [] }, true);
      connection.bind({ portal: '', statement: '', values: [] }, true);
      connection.describe({ type: 'P', name: '' }, true);
      connection.execute({ portal: '' }, true);
    }
    connection.sync();
    return undefined;
  });
}

test('pg reports each message of several pipelined statements, and ReadyForQuery once', async () => {
  const recorder = client.query(pipelineOf('select 1 as one', '', 'select null::int8 as none'));
  await recorder.ended;
  expect(recorder.calls).toEqual([
    'submit',
    ['columns', [['one', 23]]],
    ['row', ['1']],
    ['complete', 'SELECT 1'],
    'empty',
    ['columns', [['none', 20]]],
    ['row', [null]],
    ['complete', 'SELECT 1'],
    ['ready', 'I'],
  ]);
});

test('pg makes no further call to a query after a server error', async () => {
  const failing = client.query(pipelineOf('select 1 as one', 'select 1 / 0', 'select 2 as two'));
  const queued = client.query(pipelineOf('select 3 as three'));
  // Both queries record into one list, which shows the order.
  queued.calls = failing.calls;
  await queued.ended;
  expect(failing.calls).toEqual([
    'submit',
    ['columns', [['one', 23]]],
    ['row', ['1']],
    ['complete', 'SELECT 1'],
    ['error', 'division by zero'],
    'submit',
    ['columns', [['three', 23]]],
    ['row', ['3']],
    ['complete', 'SELECT 1'],
    ['ready', 'I'],
  ]);
});

test('pg makes no further call to a query after submit returned an error', async () => {
  const refused = client.query(new Recorder(() => new Error('not sent')));
  await refused.ended;
  expect(refused.calls).toEqual(['submit', ['error', 'not sent']]);
  const next = client.query(pipelineOf('select 1 as one'));
  await next.ended;
  expect(next.calls.at(-1)).toEqual(['ready', 'I']);
});

test('a query on a connection that is cut fails', async () => {
  const doomed = new pg.Client({ connectionString: scratch.url });
  doomed.on('error', () => {});
  await doomed.connect();
  const waiting = doomed.query(pipelineOf('select pg_sleep(10)'));
  doomed.connection.stream.destroy(new Error('cut'));
  await waiting.ended;
  expect(waiting.calls).toEqual(['submit', ['error', 'cut']]);
});

test("pg's own pipeline mode runs statements after a failed begin outside any transaction (decision 11)", async () => {
  await using stack = new AsyncDisposableStack();
  const pipelined = new pg.Client({ connectionString: scratch.url, pipeline: true });
  stack.defer(() => pipelined.end());
  await pipelined.connect();
  const begin = { name: 'begin', text: 'begin' };
  await Promise.all([pipelined.query('create table kept (id int)'), pipelined.query(begin), pipelined.query('commit')]);
  await pipelined.query('deallocate all');
  const ends = await Promise.allSettled([
    pipelined.query(begin),
    pipelined.query('insert into kept values (1)'),
    pipelined.query('rollback'),
  ]);
  expect(ends.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
  expect((await pipelined.query('select id from kept')).rows).toEqual([{ id: 1 }]);
});
