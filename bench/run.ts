// npm run bench: paid flows through the public HTTP beside a yardstick, in one run on one machine.
//
//   LAUREL_BENCH_SECONDS   seconds of each measured step (10)
//   LAUREL_BENCH_CLIENTS   closed-loop clients, comma-separated (1,16,64,256)
//   LAUREL_BENCH_PARTS     what is measured, comma-separated (flows,rounds,webhooks,boards, and on demand doors: a partner and the
//                          gateway under attack); the ratio needs flows at 64 clients
//   LAUREL_BENCH_ENTRIES   players of the large board (1,000,000)
//   LAUREL_BENCH_DATA      folder for the database (a temporary one); its disk is the one that is measured
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '@laurel/local-infrastructure/embedded-postgres';
import { SERVICES, type Stack, startNats, startStack } from '@laurel/testing';
import pg from 'pg';
import { measureBoards } from './boards.ts';
import { measureDeliveries } from './deliveries.ts';
import { measureDoors } from './doors.ts';
import type { LoadRequest, LoadResult } from './load.ts';
import { usageOf } from './processes.ts';
import { createPrograms } from './setup.ts';
import { percentiles, table } from './statistics.ts';

const stepMs = Number(process.env.LAUREL_BENCH_SECONDS ?? 10) * 1000;
const parts = new Set((process.env.LAUREL_BENCH_PARTS ?? 'flows,rounds,webhooks,boards').split(','));
const boardEntries = Number(process.env.LAUREL_BENCH_ENTRIES ?? 1_000_000);
const clientCounts = (process.env.LAUREL_BENCH_CLIENTS ?? '1,16,64,256').split(',').map(Number);
const YARDSTICK_CLIENTS = 64;
/** Open loop at these shares of the closed-loop throughput at 64 clients: the latency of a partner below saturation. */
const OPEN_LOOP_SHARES = [0.5, 0.8];
const OPEN_LOOP_CLIENTS = 256;

await using cleanup = new AsyncDisposableStack();
const directory = process.env.LAUREL_BENCH_DATA ?? mkdtempSync(join(tmpdir(), 'laurel-bench-'));
if (process.env.LAUREL_BENCH_DATA === undefined) {
  cleanup.defer(() => rmSync(directory, { recursive: true, force: true }));
}
const postgres = await startEmbeddedPostgres({
  dataDirectory: join(directory, 'postgres'),
  logFile: join(directory, 'postgres.log'),
  settings: {
    fsync: 'on',
    synchronous_commit: 'on',
    shared_buffers: '256MB',
    max_connections: '200',
    max_wal_size: '4GB',
    jit: 'off',
  },
});
cleanup.defer(() => postgres.stop());
// Also the stack's own switch: without it, nothing between the processes is encrypted or authenticated.
const tls = process.env.LAUREL_INTERNAL_TLS !== 'off';
const nats = cleanup.use(await startNats({ tls }));

const uncapped = String(1_000_000_000);
const stack = cleanup.use(
  await startStack({
    postgresUrl: postgres.superuserUrl,
    nats,
    internalTls: tls,
    logDirectory: directory,
    environment: {
      gateway: { RATE_LIMIT_PER_MINUTE: uncapped, OPERATOR_RATE_LIMIT_PER_MINUTE: uncapped },
      wallet: { PAYOUT_VELOCITY_COUNT: uncapped, PAYOUT_VELOCITY_AMOUNT: '1000000000.00' },
    },
  }),
);
console.log(
  `${cpus().length} cores, ${cpus()[0]?.model ?? 'unknown'}; load generator, services and PostgreSQL share them; fsync on; TLS between services ${tls ? 'on' : 'off'}`,
);
console.log('making 200 programs, 2,000 players, 4,800 challenges ...');
const programs = await createPrograms(stack.baseUrl, stack.operatorToken);

const load = startChild('load.ts');
const gateway = new URL(stack.baseUrl);
const target = { host: gateway.hostname, port: Number(gateway.port) };
console.log('warming up ...');
await runLoad({
  ...target,
  programs,
  clients: 64,
  durationMs: stepMs / 2,
  ratePerSecond: undefined,
  flow: 'challenge',
});

const rows: (string | number)[][] = [
  ['paid flows (create + outcome)', 'flows/s', 'p50 ms', 'p95 ms', 'p99 ms', 'failures'],
];
let at64 = 0;
let failures = 0;
for (const clients of parts.has('flows') ? clientCounts : []) {
  const before = snapshot();
  const result = await runLoad({
    ...target,
    programs: undefined,
    clients,
    durationMs: stepMs,
    ratePerSecond: undefined,
    flow: 'challenge',
  });
  rows.push(row(`closed loop, ${clients} clients`, result));
  failures += result.failures;
  if (clients === YARDSTICK_CLIENTS) at64 = (result.flows * 1000) / result.elapsedMs;
  printUsage(clients, before, snapshot(), result);
}
for (const share of OPEN_LOOP_SHARES) {
  if (at64 === 0) break;
  const ratePerSecond = Math.round(at64 * share);
  const result = await runLoad({
    ...target,
    programs: undefined,
    clients: OPEN_LOOP_CLIENTS,
    durationMs: stepMs,
    ratePerSecond,
    flow: 'challenge',
  });
  rows.push(row(`open loop, ${ratePerSecond}/s (${share * 100} %)`, result));
  failures += result.failures;
}
for (const clients of parts.has('rounds') ? clientCounts : []) {
  const result = await runLoad({
    ...target,
    programs: undefined,
    clients,
    durationMs: stepMs,
    ratePerSecond: undefined,
    flow: 'round',
  });
  rows.push(row(`rounds (entry + score), ${clients} clients`, result));
  failures += result.failures;
}
const doors = parts.has('doors') ? await measureDoors(stack, runLoad, stepMs) : [];
load.kill();

const yardstick = startChild('yardstick.ts');
yardstick.send({ url: await createYardstickDatabase(), clients: YARDSTICK_CLIENTS, durationMs: stepMs });
const [answer] = (await once(yardstick, 'message')) as [{ perSecond: number }];
yardstick.kill();

const audit = await fetch(`${stack.baseUrl}/api/operator/audit`, {
  headers: { authorization: `Bearer ${stack.operatorToken}` },
});
if (!audit.ok) throw new Error(`the audit answered ${audit.status}: ${await audit.text()}`);
const { ok, checks } = (await audit.json()) as { ok: boolean; checks: { id: string; violations: number }[] };

// After the audit: these events name attempts that do not exist.
const webhooks = parts.has('webhooks') ? await measureDeliveries(stack) : [];

// After the audit: the players that are written straight onto these boards never paid a fee.
const [boardProgram] = programs;
if (boardProgram === undefined) throw new Error('no program was made');
const boards = parts.has('boards') ? await measureBoards(stack, boardProgram, boardEntries) : [];

for (const measured of [rows, doors, webhooks, boards]) if (measured.length > 1) console.log(`\n${table(measured)}\n`);
console.log(
  `yardstick: ${answer.perSecond.toFixed(0)} naive 7-statement transactions/s at ${YARDSTICK_CLIENTS} connections on the same PostgreSQL`,
);
console.log(
  `ratio: ${(at64 / answer.perSecond).toFixed(2)} flows per yardstick transaction at ${YARDSTICK_CLIENTS} clients`,
);
console.log(`failures: ${failures}; audit after the run: ${ok ? 'every invariant holds' : 'VIOLATED'}`);
for (const check of checks) if (check.violations > 0) console.log(`  ${check.id}: ${check.violations}`);
if (failures > 0 || !ok) process.exitCode = 1;

function startChild(file: string): ChildProcess {
  const child = fork(new URL(file, import.meta.url), { serialization: 'advanced' });
  cleanup.defer(() => void child.kill());
  return child;
}

async function runLoad(request: LoadRequest): Promise<LoadResult> {
  load.send(request);
  const [result] = (await once(load, 'message')) as [LoadResult];
  return result;
}

function row(name: string, result: LoadResult): (string | number)[] {
  const { p50Ms, p95Ms, p99Ms } = percentiles(result.latenciesMs);
  return [name, Math.round((result.flows * 1000) / result.elapsedMs), p50Ms, p95Ms, p99Ms, result.failures];
}

function snapshot() {
  const processes = SERVICES.map((service) => ({ name: service as string, usage: sum(stack, service) }));
  processes.push({ name: 'postgres', usage: usageOf(postgres.pid, true) });
  processes.push({ name: 'nats', usage: usageOf(nats.pid() ?? 0, false) });
  processes.push({ name: 'load generator', usage: usageOf(load.pid ?? 0, false) });
  return processes;
}

function sum(from: Stack, service: (typeof SERVICES)[number]) {
  return from
    .pids(service)
    .map((pid) => usageOf(pid, false))
    .reduce((a, b) => ({ cpuMs: a.cpuMs + b.cpuMs, residentMiB: a.residentMiB + b.residentMiB }));
}

function printUsage(
  clients: number,
  before: ReturnType<typeof snapshot>,
  after: ReturnType<typeof snapshot>,
  result: LoadResult,
): void {
  const used = after.map((process, index) => ({
    name: process.name,
    cpuMs: process.usage.cpuMs - (before[index]?.usage.cpuMs ?? 0),
    residentMiB: process.usage.residentMiB,
  }));
  const all = used.reduce((total, process) => total + process.cpuMs, 0);
  const lines: (string | number)[][] = [
    [`at ${clients} client${clients === 1 ? '' : 's'}`, 'CPU share', 'CPU ms a flow', 'resident MiB'],
  ];
  for (const process of used) {
    lines.push([
      process.name,
      `${((process.cpuMs * 100) / all).toFixed(0)} %`,
      process.cpuMs / result.flows,
      Math.round(process.residentMiB),
    ]);
  }
  console.log(`\n${table(lines)}`);
}

async function createYardstickDatabase(): Promise<string> {
  const client = new pg.Client({ connectionString: postgres.superuserUrl });
  await client.connect();
  await client.query('create database yardstick');
  await client.end();
  return postgres.url('yardstick');
}
