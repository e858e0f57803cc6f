// node bench/pipelines.ts: the cost of a statement through libs/postgres, through pg's own pipeline
// mode, and through plain pg.
//
// Each driver runs the same prepared statements on one connection, under the same planner settings,
// in turns in one run. Prints the median and the least CPU time over the turns, for this process
// and for the connection's backend. Takes about a minute. Decision 11 has the figures and their
// consequences.
//
//   LAUREL_BENCH_TURNS     turns of each driver with each work (9)
//   LAUREL_BENCH_REPEATS   how often a turn does the work (400)
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '@laurel/local-infrastructure/embedded-postgres';
import { createDatabase, type Queryable, type Statement } from '@laurel/postgres';
import pg from 'pg';
import { table } from './statistics.ts';

const turns = Number(process.env.LAUREL_BENCH_TURNS ?? 9);
const repeats = Number(process.env.LAUREL_BENCH_REPEATS ?? 400);
const ROWS = 1_000;
/** The warm-up, until V8 has compiled the measured code. */
const WARM_UPS = 4;

/** The session settings of libs/postgres. */
const SESSION = `
  set plan_cache_mode = force_generic_plan;
  set enable_seqscan = off;
  set enable_hashjoin = off;
  set enable_mergejoin = off`;
const READ: Statement = {
  name: 'read',
  text: 'select id, owner, amount, made_at from things where id = any($1::bigint[])',
};
const WRITE: Statement = { name: 'write', text: 'insert into notes (thing_id, amount) values ($1, $2) returning id' };
const BEGIN: Statement = { name: 'begin', text: 'begin isolation level read committed' };
const COMMIT: Statement = { name: 'commit', text: 'commit' };

/** One connection, and the four works as users of the driver would write them. */
interface Driver extends AsyncDisposable {
  readonly name: string;
  readonly backend: number;
  readonly works: { readonly [Work in (typeof WORKS)[number]]: () => Promise<unknown> };
}

const WORKS = [
  'one read',
  'three reads that do not depend on each other',
  'a transaction: three reads, then a write that depends on them',
  'two writes as one transaction',
] as const;

await using cleanup = new AsyncDisposableStack();
const directory = mkdtempSync(join(tmpdir(), 'laurel-pipelines-'));
cleanup.defer(() => rmSync(directory, { recursive: true, force: true }));
const postgres = await startEmbeddedPostgres({
  dataDirectory: join(directory, 'postgres'),
  logFile: join(directory, 'postgres.log'),
  // A commit does not wait for the disk, because that time does not depend on the driver.
  settings: { synchronous_commit: 'off', jit: 'off', autovacuum: 'off' },
});
cleanup.defer(() => postgres.stop());
const url = postgres.superuserUrl;
await createTables();

const drivers = [await openOurs(), await openPipelineMode(), await openPlain()];
for (const driver of drivers) cleanup.use(driver);
for (let round = 0; round < WARM_UPS; round += 1) {
  for (const driver of drivers) for (const work of Object.values(driver.works)) await repeat(work);
}

const rows: (string | number)[][] = [['CPU us (Node + PostgreSQL)', ...drivers.map(({ name }) => name)]];
for (const work of WORKS) {
  const samples = drivers.map((): { node: number[]; server: number[] } => ({ node: [], server: [] }));
  for (let turn = 0; turn < turns; turn += 1) {
    const order = drivers.map((driver, index) => ({ driver, index }));
    for (const { driver, index } of turn % 2 === 0 ? order : order.toReversed()) {
      const serverBefore = backendUs(driver.backend);
      const before = process.cpuUsage();
      await repeat(driver.works[work]);
      const { user, system } = process.cpuUsage(before);
      samples[index]?.node.push((user + system) / repeats);
      samples[index]?.server.push((backendUs(driver.backend) - serverBefore) / repeats);
    }
  }
  const cells = (of: (values: readonly number[]) => number) =>
    samples.map(({ node, server }) => `${Math.round(of(node))} + ${Math.round(of(server))}`);
  rows.push([work, ...cells(median)], ['  least of its turns', ...cells((values) => Math.min(...values))]);
}
console.log(table(rows));

async function openOurs(): Promise<Driver> {
  const database = createDatabase({ url, maxConnections: 1, applicationName: 'pipelines' });
  const [session] = await database.query<{ pid: number }>({ text: 'select pg_backend_pid() as pid' });
  const read = (on: Queryable) => on.query(READ, [[someId()]]);
  return {
    name: 'libs/postgres',
    backend: session?.pid ?? 0,
    works: {
      'one read': () => read(database),
      'three reads that do not depend on each other': () =>
        database.batch([1, 2, 3].map(() => ({ statement: READ, values: [[someId()]] }))),
      'a transaction: three reads, then a write that depends on them': () =>
        database.transaction(async (tx) => {
          await Promise.all([read(tx), read(tx), read(tx)]);
          await tx.commitWith((last) => last.query(WRITE, [someId(), 1]));
        }),
      'two writes as one transaction': () =>
        database.batch([1, 2].map(() => ({ statement: WRITE, values: [someId(), 1] }))),
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

async function openPipelineMode(): Promise<Driver> {
  const client = await connect({ pipeline: true });
  const send = ({ name, text }: Statement, values: unknown[] = []) =>
    client.query({ ...(name && { name }), text, values });
  const read = () => send(READ, [[someId()]]);
  return {
    name: 'pg, pipeline: true',
    backend: await pidOf(client),
    works: {
      'one read': read,
      'three reads that do not depend on each other': () => Promise.all([read(), read(), read()]),
      'a transaction: three reads, then a write that depends on them': async () => {
        await Promise.all([send(BEGIN), read(), read(), read()]);
        await Promise.all([send(WRITE, [someId(), 1]), send(COMMIT)]);
      },
      'two writes as one transaction': () =>
        Promise.all([send(BEGIN), send(WRITE, [someId(), 1]), send(WRITE, [someId(), 1]), send(COMMIT)]),
    },
    [Symbol.asyncDispose]: () => client.end(),
  };
}

async function openPlain(): Promise<Driver> {
  const client = await connect({});
  const send = ({ name, text }: Statement, values: unknown[] = []) =>
    client.query({ ...(name && { name }), text, values });
  const read = () => send(READ, [[someId()]]);
  return {
    name: 'pg',
    backend: await pidOf(client),
    works: {
      'one read': read,
      'three reads that do not depend on each other': async () => {
        for (let count = 0; count < 3; count += 1) await read();
      },
      'a transaction: three reads, then a write that depends on them': async () => {
        await send(BEGIN);
        for (let count = 0; count < 3; count += 1) await read();
        await send(WRITE, [someId(), 1]);
        await send(COMMIT);
      },
      'two writes as one transaction': async () => {
        await send(BEGIN);
        for (let count = 0; count < 2; count += 1) await send(WRITE, [someId(), 1]);
        await send(COMMIT);
      },
    },
    [Symbol.asyncDispose]: () => client.end(),
  };
}

async function connect(options: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, ...options });
  await client.connect();
  await client.query(SESSION);
  return client;
}

async function pidOf(client: pg.Client): Promise<number> {
  const { rows: answered } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return answered[0]?.pid ?? 0;
}

async function createTables(): Promise<void> {
  const client = await connect({});
  await client.query(`
    create table things (
      id bigint primary key, owner text not null, amount bigint not null, made_at timestamptz not null default now()
    );
    create table notes (
      id bigint generated always as identity primary key, thing_id bigint not null, amount bigint not null
    );
    insert into things (id, owner, amount) select id, 'owner ' || id, id * 100 from generate_series(1, ${ROWS}) as id;
    analyze`);
  await client.end();
}

function someId(): number {
  return 1 + Math.floor(Math.random() * ROWS);
}

async function repeat(work: () => Promise<unknown>): Promise<void> {
  for (let count = 0; count < repeats; count += 1) await work();
}

/** The CPU time of a process, which Linux counts in nanoseconds. */
function backendUs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ', 1)[0]) / 1_000;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? 0;
}
