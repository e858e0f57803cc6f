// npm run bench:aging: what it costs to remove a month from tables that hold a year, by partitions
// and by deletes (decision 38). No stack runs: it starts a PostgreSQL server, fills the schemas of
// the challenge service and the wallet with the statements of bench/scale, and measures the
// services' own statements.
//
//   LAUREL_BENCH_ATTEMPTS  attempts of the fill (1,000,000)
//   LAUREL_BENCH_TURNS     turns of the statements (6)
//   LAUREL_BENCH_PARTS     statements,removal (both)
//   LAUREL_BENCH_DATA      folder for the database (a temporary one)
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '@laurel/local-infrastructure/embedded-postgres';
import { copyByMonth, createFilled } from './aging/databases.ts';
import { measureRemoval } from './aging/removal.ts';
import { measureStatements } from './aging/statements.ts';
import { createShape } from './scale/shape.ts';
import { table } from './statistics.ts';

const parts = new Set((process.env.LAUREL_BENCH_PARTS ?? 'statements,removal').split(','));
const turns = Number(process.env.LAUREL_BENCH_TURNS ?? 6);
/** Two partitions a month: so one year has as many partitions as two years with one a month. */
const PARTITIONS = 24;

await using cleanup = new AsyncDisposableStack();
const directory = process.env.LAUREL_BENCH_DATA ?? mkdtempSync(join(tmpdir(), 'laurel-aging-'));
if (process.env.LAUREL_BENCH_DATA === undefined) {
  cleanup.defer(() => rmSync(directory, { recursive: true, force: true }));
}
const postgres = await startEmbeddedPostgres({
  dataDirectory: join(directory, 'postgres'),
  logFile: join(directory, 'postgres.log'),
  settings: {
    shared_buffers: '1GB',
    max_wal_size: '8GB',
    checkpoint_timeout: '1h',
    maintenance_work_mem: '512MB',
    work_mem: '256MB',
    jit: 'off',
    autovacuum: 'off',
  },
});
cleanup.defer(() => postgres.stop());
console.log(`${cpus().length} cores, ${cpus()[0]?.model ?? 'unknown'}`);

const shape = createShape(Number(process.env.LAUREL_BENCH_ATTEMPTS ?? 1_000_000), new Date());
const contests = await createFilled(postgres, shape);
console.log('filled');
for (const service of ['challenge', 'wallet'] as const) {
  for (const count of [1, PARTITIONS]) await copyByMonth(postgres, service, { shape, count });
}
console.log('copied by month');
if (parts.has('statements')) {
  for (const rows of await measureStatements(postgres, contests, { turns, counts: [1, PARTITIONS] })) {
    console.log(`\n${table(rows)}\n`);
  }
}
if (parts.has('removal')) {
  for (const rows of await measureRemoval(postgres, shape, PARTITIONS)) console.log(`\n${table(rows)}\n`);
}
