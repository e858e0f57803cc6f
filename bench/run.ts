// npm run bench: paid flows through the public HTTP beside a yardstick, in one run on one machine.
//
//   LAUREL_BENCH_SECONDS   seconds of each measured step (10), of the soak (300)
//   LAUREL_BENCH_CLIENTS   closed-loop clients, comma-separated (1,16,64,256)
//   LAUREL_BENCH_PARTS     comma-separated parts (flows,rounds,webhooks). On demand: attack, a
//                          partner and the gateway under attack; pushes, pushed outcomes beside
//                          those of /v1; polls, 1,000 polled integrations; soak, minutes at 64
//                          clients; growth, the bytes that a flow adds to each table; scale, years
//                          of data (LAUREL_BENCH_ATTEMPTS, bench/scale.ts); turns, for compare.ts.
//                          The ratio needs flows at 64 clients.
//   LAUREL_BENCH_SHAPE     six processes, one for each service (six), or one for all of them
//                          (one); two for each, with two PostgreSQL and two NATS servers (spread)
//   LAUREL_BENCH_DATA      folder for the database (a temporary one); its disk is measured
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { IN_PROCESS } from '@laurel/grpc';
import { startEmbeddedPostgres } from '@laurel/local-infrastructure/embedded-postgres';
import { type Service, startNats, startStack } from '@laurel/testing';
import { byService } from '@laurel/topology';
import pg from 'pg';
import { DELIVERIES, measureDeliveries } from './deliveries.ts';
import { createGrowth } from './growth.ts';
import type { LoadOrder, LoadRequest, LoadResult } from './load.ts';
import { createMeter, machineSharesBetween, percent, type Reading, usedBetween } from './meter.ts';
import type { Flow } from './paid-flow.ts';
import { measurePolls } from './polls.ts';
import { measurePushes, pushedAttempts } from './pushes.ts';
import { FLOW_TURNS } from './scale/flows.ts';
import { FILL_SETTINGS, fillStack, measureScale, PLAN_SETTINGS } from './scale.ts';
import { createPrograms, PLAYERS, PROGRAMS } from './setup.ts';
import { measureSoak, SOAK_CLIENTS } from './soak.ts';
import { percentiles, table } from './statistics.ts';
import { measureTimeToReady } from './time-to-ready.ts';
import { answerTurns, benchShapeOf, measureTurn } from './turns.ts';
import { measureUnderAttack } from './under-attack.ts';
import { challengesNeeded, countOf, isMixed, latenciesOf, winsInWindows } from './winning-flows.ts';

const stepMs = Number(process.env.LAUREL_BENCH_SECONDS ?? 10) * 1000;
const soakMs = Number(process.env.LAUREL_BENCH_SECONDS ?? 300) * 1000;
const parts = new Set((process.env.LAUREL_BENCH_PARTS ?? 'flows,rounds,webhooks').split(','));
const clientCounts = (process.env.LAUREL_BENCH_CLIENTS ?? '1,16,64,256').split(',').map(Number);
const shape = benchShapeOf(process.env.LAUREL_BENCH_SHAPE);
const YARDSTICK_CLIENTS = 64;
/** The services whose databases are on the second server of the shape `spread`. */
const ON_SECOND: readonly Service[] = ['challenge', 'integration', 'tournament'];
/**
 * Open loop at these shares of the closed-loop throughput at 64 clients: a partner's latency below
 * saturation.
 */
const OPEN_LOOP_SHARES = [0.5, 0.8];
const OPEN_LOOP_CLIENTS = 256;
/**
 * Higher than any throughput ever measured on two cores. It sizes the set of challenges, which must
 * not run out: a challenge pays a player once.
 */
const MOST_FLOWS_PER_SECOND = 2_500;
const WARM_UP_MS = 5_000;
/**
 * Challenges beyond those that an average player needs: players do not advance at quite the same
 * pace.
 */
const SPARE_CHALLENGES = 4;

await using cleanup = new AsyncDisposableStack();
const directory = process.env.LAUREL_BENCH_DATA ?? mkdtempSync(join(tmpdir(), 'laurel-bench-'));
if (process.env.LAUREL_BENCH_DATA === undefined) {
  cleanup.defer(() => rmSync(directory, { recursive: true, force: true }));
}
const SERVER_SETTINGS = {
  fsync: 'on',
  synchronous_commit: 'on',
  shared_buffers: '1GB',
  max_connections: '200',
  max_wal_size: '4GB',
  checkpoint_timeout: '15min',
  jit: 'off',
};
const startServer = (settings: Record<string, string>, port?: number, name = 'postgres') =>
  startEmbeddedPostgres({
    dataDirectory: join(directory, name),
    logFile: join(directory, `${name}.log`),
    settings: { ...SERVER_SETTINGS, ...settings },
    ...(port !== undefined && { port }),
  });
let postgres = await startServer(parts.has('scale') ? FILL_SETTINGS : {});
cleanup.defer(() => postgres.stop());
const second = shape === 'spread' ? await startServer({}, undefined, 'postgres-2') : undefined;
if (second !== undefined) cleanup.defer(() => second.stop());
// `off` applies to the stack and to NATS: then nothing between the processes is encrypted or
// authenticated.
const tls = process.env.LAUREL_INTERNAL_TLS !== 'off';
const nats = cleanup.use(await startNats({ tls, servers: shape === 'spread' ? 2 : 1 }));

// Services of one process need no port for gRPC.
const grpcPort = shape === 'one' && { GRPC_PORT: IN_PROCESS };
const uncapped = String(1_000_000_000);
const stack = cleanup.use(
  await startStack({
    postgresUrl: byService((service) =>
      second !== undefined && ON_SECOND.includes(service) ? second.superuserUrl : postgres.superuserUrl,
    ),
    replicas: byService(() => (shape === 'spread' ? 2 : 1)),
    nats,
    internalTls: tls,
    logDirectory: directory,
    shape: shape === 'one' ? 'one-process' : 'six-processes',
    environment: {
      gateway: {
        RATE_LIMIT_PER_MINUTE: uncapped,
        OPERATOR_RATE_LIMIT_PER_MINUTE: uncapped,
        // Every partner of the benchmark has the same address.
        PUSH_ADDRESS_RATE_LIMIT_PER_MINUTE: uncapped,
        // The run measures the work, not the budget that bounds it.
        PUSH_TEST_KIB_PER_SECOND: uncapped,
        // Pushes to all integrations begin at once, from an address that no integration knows yet.
        ...(parts.has('pushes') && { PUSH_UNKNOWN_KIB_PER_SECOND: uncapped }),
      },
      // The default of the service; the stack of the tests sweeps more often.
      integration: { ...grpcPort, INTEGRATION_SWEEP_MS: '1000' },
      webhook: { ...grpcPort, WEBHOOK_SWEEP_MS: '30000' },
      challenge: { ...grpcPort },
      tournament: { ...grpcPort },
      wallet: { ...grpcPort, PAYOUT_VELOCITY_COUNT: uncapped, PAYOUT_VELOCITY_AMOUNT: '1000000000.00' },
    },
  }),
);
console.log(
  `${cpus().length} cores, ${cpus()[0]?.model ?? 'unknown'}; load generator, services and PostgreSQL share them; fsync on; ${shape === 'one' ? 'all services in one process' : `${shape === 'spread' ? 'two processes' : 'a process'} for each service, TLS between them ${tls ? 'on' : 'off'}`}`,
);
const timeToReadyMs = await measureTimeToReady(stack);
console.log(`time to ready: ${timeToReadyMs.toFixed(0)} ms`);
const filled = parts.has('scale')
  ? await fillStack(stack, {
      superuserUrl: postgres.superuserUrl,
      restartServer: async () => {
        await postgres.stop();
        postgres = await startServer(PLAN_SETTINGS, postgres.port);
      },
    })
  : undefined;
const measuredMs =
  WARM_UP_MS +
  stepMs * (parts.has('flows') ? clientCounts.length + OPEN_LOOP_SHARES.length : 0) +
  stepMs * (parts.has('attack') ? 1 : 0) +
  (parts.has('turns') ? stepMs : 0) +
  (parts.has('growth') ? stepMs : 0) +
  stepMs * (parts.has('scale') ? clientCounts.length * (FLOW_TURNS + 1) : 0) +
  (parts.has('soak') ? soakMs : 0);
const mostFlows = (measuredMs * MOST_FLOWS_PER_SECOND) / 1000 + (parts.has('pushes') ? pushedAttempts(stepMs) : 0);
const challenges = SPARE_CHALLENGES + challengesNeeded(mostFlows / PLAYERS);
console.log(`making ${PROGRAMS} programs, ${PLAYERS} players, ${PROGRAMS * challenges} challenges ...`);
const programs = await createPrograms(stack.baseUrl, stack.operatorToken, challenges);

const load = startChild('load.ts');
const loadEnded = once(load, 'exit').then(([code]) => {
  throw new Error(`the load process ended with ${code}`);
});
const servers = second === undefined ? [postgres] : [postgres, second];
const superusers = servers.map(({ superuserUrl }) => new pg.Client({ connectionString: superuserUrl }));
for (const client of superusers) {
  await client.connect();
  cleanup.defer(() => client.end());
}
const [superuser] = superusers;
if (superuser === undefined) throw new Error('a benchmark without PostgreSQL');
const meter = createMeter({
  stack,
  superusers,
  postgresPids: servers.map(({ pid }) => pid),
  natsPids: nats.servers.flatMap((server) => server.pid() ?? []),
  loadPid: load.pid ?? 0,
});
const gateways = stack.baseUrls.map((url) => {
  const { hostname: host, port } = new URL(url);
  return { host, port: Number(port) };
});
let failures = 0;
let unmixed = 0;
console.log('warming up ...');
await runLoad({ ...request('challenge', 64, Math.min(stepMs / 2, WARM_UP_MS)), programs });

const taken = {
  meter,
  runFor: (clients: number, durationMs: number) => runLoad(request('challenge', clients, durationMs)),
};
if (parts.has('turns')) {
  const answered = await answerTurns({ ...taken, ready: { shape, timeToReadyMs } });
  failures += answered.failures;
  unmixed += answered.unmixed;
}
const scale =
  filled === undefined
    ? []
    : await measureScale(filled, {
        stack,
        superuserUrl: postgres.superuserUrl,
        directory,
        clientCounts,
        durationMs: stepMs,
        take: (order) => measureTurn(taken, order),
      });

const rows: (string | number)[][] = [
  [
    'paid flows (create + outcome)',
    'flows/s',
    'p50 ms',
    'p95 ms',
    'p99 ms',
    'failures',
    'wins in 50',
    'fsyncs a flow',
    'deadlocks',
    'idle CPU',
    'other CPU',
  ],
];
let at64 = 0;
let counters = parts.has('flows') || parts.has('rounds') ? await meter.count() : undefined;
for (const clients of parts.has('flows') ? clientCounts : []) {
  const perSecond = await measure(
    `closed loop, ${clients} client${clients === 1 ? '' : 's'}`,
    request('challenge', clients),
  );
  if (clients === YARDSTICK_CLIENTS) at64 = perSecond;
}
for (const share of OPEN_LOOP_SHARES) {
  if (at64 === 0) break;
  const ratePerSecond = Math.round(at64 * share);
  await measure(`open loop, ${ratePerSecond}/s (${share * 100} %)`, {
    ...request('challenge', OPEN_LOOP_CLIENTS),
    ratePerSecond,
  });
}
for (const clients of parts.has('rounds') ? clientCounts : []) {
  await measure(`rounds (entry + score), ${clients} client${clients === 1 ? '' : 's'}`, request('round', clients));
}
const soak = parts.has('soak')
  ? await measureSoak({
      stack,
      superuser,
      meter,
      runFor: (clients, durationMs) => runLoad(request('challenge', clients, durationMs)),
      durationMs: soakMs,
    })
  : undefined;
failures += soak?.failures ?? 0;
if (soak?.mixed === false) unmixed += 1;
const growth = parts.has('growth') ? createGrowth(stack) : undefined;
for (const flow of ['challenge', 'round'] as const) {
  const unit = flow === 'challenge' ? 'paid flow' : 'entry and score';
  const result = await growth?.during(unit, () => runLoad(request(flow, SOAK_CLIENTS)), answeredFlows);
  failures += result === undefined ? 0 : countOf(result, 'failed');
}
const attacks = parts.has('attack') ? await measureUnderAttack(stack, runLoad, stepMs) : [];
const measuredPushes = () => measurePushes({ stack, meter, ask, programs, stepMs });
const pushes = parts.has('pushes')
  ? await (growth?.during('push', measuredPushes, ({ pushed }) => pushed) ?? measuredPushes())
  : undefined;
failures += pushes?.failures ?? 0;
if (pushes?.mixed === false) unmixed += 1;
load.kill();

const yardstickPerSecond = parts.has('flows') ? await runYardstick() : undefined;

// A filled stack is not audited again here: its measurements already include the operator's audit.
const { ok, checks } = filled === undefined ? await audit() : { ok: true, checks: [] };

// Webhooks come after the audit, because their events name attempts that do not exist.
const measuredDeliveries = () => measureDeliveries(stack);
const webhooks = parts.has('webhooks')
  ? await (growth?.during('delivery', measuredDeliveries, () => DELIVERIES) ?? measuredDeliveries())
  : [];

const polls = parts.has('polls') ? await measurePolls(stack, stepMs) : [];

for (const measured of [
  scale,
  rows,
  ...(soak?.tables ?? []),
  attacks,
  ...(pushes?.tables ?? []),
  webhooks,
  polls,
  growth?.table() ?? [],
])
  if (measured.length > 1) console.log(`\n${table(measured)}\n`);
for (const line of [...(soak?.summary ?? []), ...(pushes?.summary ?? [])]) console.log(line);
if (yardstickPerSecond !== undefined) {
  console.log(
    `yardstick: ${yardstickPerSecond.toFixed(0)} naive 7-statement transactions/s at ${YARDSTICK_CLIENTS} connections on the same PostgreSQL`,
  );
}
if (yardstickPerSecond !== undefined && at64 > 0) {
  console.log(
    `ratio: ${(at64 / yardstickPerSecond).toFixed(2)} flows per yardstick transaction at ${YARDSTICK_CLIENTS} clients`,
  );
}
const verdict = filled === undefined ? (ok ? 'every invariant holds' : 'VIOLATED') : 'in the table';
console.log(`failures: ${failures}; audit after the run: ${verdict}`);
for (const check of checks) if (check.violations > 0) console.log(`  ${check.id}: ${check.violations}`);
if (unmixed > 0)
  console.log(
    `${unmixed} of the measurements did not have 5 to 15 wins in each 50 flows: they did not measure paid flows`,
  );
if (failures > 0 || unmixed > 0 || !ok || pushes?.isWithin === false) process.exitCode = 1;

async function audit(): Promise<{ ok: boolean; checks: { id: string; violations: number }[] }> {
  const answer = await fetch(`${stack.baseUrl}/api/operator/audit`, {
    headers: { authorization: `Bearer ${stack.operatorToken}` },
  });
  if (!answer.ok) throw new Error(`the audit answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as Awaited<ReturnType<typeof audit>>;
}

function startChild(file: string): ChildProcess {
  const child = fork(new URL(file, import.meta.url), { serialization: 'advanced' });
  cleanup.defer(() => void child.kill());
  return child;
}

/**
 * Returns the order for a closed loop, which lasts as long as a measured step by default. The load
 * process knows its programs since the warm-up.
 */
function request(flow: Flow, clients: number, durationMs = stepMs): LoadRequest {
  return { kind: 'flows', gateways, programs: undefined, clients, durationMs, ratePerSecond: undefined, flow };
}

function runLoad(order: LoadRequest): Promise<LoadResult> {
  return ask<LoadResult>(order);
}

function answeredFlows(result: LoadResult): number {
  return countOf(result, 'won', 'lost');
}

async function ask<Answer>(order: LoadOrder): Promise<Answer> {
  const answered = once(load, 'message');
  load.send(order);
  const [answer] = (await Promise.race([answered, loadEnded])) as [Answer];
  return answer;
}

/** Adds the row of one load and prints what it used. Returns its flows/s, without failed flows. */
async function measure(name: string, order: LoadRequest): Promise<number> {
  const before = meter.read();
  const result = await runLoad(order);
  const after = meter.read();
  const [countedBefore, counted] = [counters, await meter.count()];
  counters = counted;

  const flows = answeredFlows(result);
  const failed = countOf(result, 'failed');
  failures += failed;
  const wins = order.flow === 'challenge' ? winsInWindows(result.results) : undefined;
  if (order.flow === 'challenge' && !isMixed(wins)) unmixed += 1;
  const shares = machineSharesBetween(before, after);
  const perSecond = (flows * 1000) / result.elapsedMs;
  const { p50Ms, p95Ms, p99Ms } = percentiles(latenciesOf(result, 'won', 'lost'));
  rows.push([
    name,
    Math.round(perSecond),
    p50Ms,
    p95Ms,
    p99Ms,
    failed,
    wins === undefined ? '' : `${wins.least} to ${wins.most}`,
    ((counted.flushes - (countedBefore?.flushes ?? 0)) / (flows + failed)).toFixed(2),
    counted.deadlocks - (countedBefore?.deadlocks ?? 0),
    percent(shares.idle),
    percent(shares.other),
  ]);
  if (order.flow === 'challenge' && order.clients === 1) {
    for (const [kind, label] of [
      ['won', 'wins'],
      ['lost', 'losses'],
    ] as const) {
      const only = percentiles(latenciesOf(result, kind));
      const kindName = `  of them ${countOf(result, kind)} ${label}`;
      rows.push([kindName, '', only.p50Ms, only.p95Ms, only.p99Ms, ...Array<string>(6).fill('')]);
    }
  }
  if (order.flow === 'challenge' && order.ratePerSecond === undefined) printUsage(name, before, after, flows);
  return perSecond;
}

function printUsage(name: string, before: Reading, after: Reading, flows: number): void {
  const used = usedBetween(before, after);
  const all = used.reduce((total, process) => total + process.cpuMs, 0);
  const lines: (string | number)[][] = [[name, 'CPU share', 'CPU ms a flow', 'resident MiB']];
  for (const process of used) {
    lines.push([
      process.name,
      `${((process.cpuMs * 100) / all).toFixed(0)} %`,
      process.cpuMs / flows,
      Math.round(process.residentMiB),
    ]);
  }
  console.log(`\n${table(lines)}`);
}

async function runYardstick(): Promise<number> {
  const yardstick = startChild('yardstick.ts');
  yardstick.send({ url: await createYardstickDatabase(), clients: YARDSTICK_CLIENTS, durationMs: stepMs });
  const [answer] = (await once(yardstick, 'message')) as [{ perSecond: number }];
  yardstick.kill();
  return answer.perSecond;
}

async function createYardstickDatabase(): Promise<string> {
  const client = new pg.Client({ connectionString: postgres.superuserUrl });
  await client.connect();
  await client.query('create database yardstick');
  await client.end();
  return postgres.url('yardstick');
}
