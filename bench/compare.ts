// npm run bench:compare -- <another checkout>: paid flows of that checkout and of this one, side by
// side on one machine.
// npm run bench:compare -- --shape one: this checkout with a process for each service as `before`,
// and in another shape of LAUREL_BENCH_SHAPE as `after`.
//
// Both stacks run at the same time, each with its own PostgreSQL, and are loaded in turns of some
// seconds. So the load of other programs, which changes within a minute by more than most code
// changes are worth, affects both.
// The stack that starts second is faster (measured: two stacks of one program, by 5 %), so
// everything runs twice, and each checkout is first once.
//
//   LAUREL_BENCH_SECONDS   seconds of a turn (3)
//   LAUREL_BENCH_TURNS     turns of each checkout at each number of clients, for each of the two
//                          orders (8)
//   LAUREL_BENCH_CLIENTS   closed-loop clients, comma-separated (1,16,64,256)
//   LAUREL_BENCH_SHAPE     the shape of both checkouts (six)
//
// The other checkout must have bench/turns.ts and its packages: run `node
// deploy/local/bootstrap.mjs` there once.
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { percent, runsServices } from './meter.ts';
import { type OtherRun, startOtherRun } from './other-run.ts';
import { geometricMean, median, table } from './statistics.ts';
import { type BenchShape, benchShapeOf, type MeasuredTurn } from './turns.ts';

const durationMs = Number(process.env.LAUREL_BENCH_SECONDS ?? 3) * 1000;
const turns = Number(process.env.LAUREL_BENCH_TURNS ?? 8);
const clientCounts = (process.env.LAUREL_BENCH_CLIENTS ?? '1,16,64,256').split(',').map(Number);
/** The 97.5 % quantile of a normal distribution, for a 95 % interval. */
const Z = 1.96;

interface Side {
  readonly name: 'before' | 'after';
  readonly checkout: string;
  readonly shape: BenchShape;
  readonly turns: MeasuredTurn[];
  /** The list has one time for each start of the stack. */
  readonly timesToReadyMs: number[];
}

interface RunningSide {
  readonly side: Side;
  readonly run: OtherRun;
}

const HERE = fileURLToPath(new URL('..', import.meta.url));
const { values, positionals } = parseArgs({ options: { shape: { type: 'string' } }, allowPositionals: true });
const [before, after] = sidesOf(positionals[0]);

for (const order of [
  [before, after],
  [after, before],
]) {
  const running: RunningSide[] = [];
  for (const side of order) running.push(await start(side));
  // The first turn of each is its warm-up.
  for (let turn = 0; turn <= turns; turn += 1) {
    for (const clients of clientCounts) {
      for (const one of turn % 2 === 0 ? running : running.toReversed()) {
        const taken = await one.run.take({ clients, durationMs });
        if (turn > 0) one.side.turns.push(taken);
      }
    }
  }
  for (const one of running) if (!(await one.run.end())) process.exitCode = 1;
}

console.log(
  `\n${table([
    [
      'closed loop',
      'before/s',
      'after/s',
      'ratio',
      '95 % of it',
      'CPU ms',
      'CPU ms',
      'ratio',
      'p99 ms',
      'p99 ms',
      'idle',
      'idle',
    ],
    ...clientCounts.map(rowOf),
  ])}`,
);
const processes = [before, after].flatMap(({ turns: [turn] }) => Object.keys(turn?.cpuMs ?? {}));
const inBoth = processes.filter((name, index) => processes.indexOf(name) < index);
console.log(
  `\n${table([
    ['CPU ms a flow, after / before', 'all services', ...inBoth],
    ...clientCounts.map((clients) => [
      label(clients),
      ratioOf(clients, (turn) => cpuOf(turn, runsServices)).mean,
      ...inBoth.map((name) => ratioOfProcess(clients, name)),
    ]),
  ])}`,
);
/**
 * The median memory of the second order. In the first order a checkout that has never run strips
 * the types of its sources, for which each process keeps 26 MiB. Later starts read the compile
 * cache.
 */
const memory = (side: Side) =>
  Math.round(median(side.turns.slice(side.turns.length / 2).map((turn) => turn.servicesMiB)));
console.log(`\nservices, resident MiB: ${memory(before)} before, ${memory(after)} after`);
if (before.timesToReadyMs.length > 0 && after.timesToReadyMs.length > 0) {
  const [earlierMs, laterMs] = [before, after].map(({ timesToReadyMs }) => Math.round(median(timesToReadyMs)));
  console.log(`time to ready, ms: ${earlierMs} before, ${laterMs} after`);
}

function sidesOf(other: string | undefined): readonly [Side, Side] {
  const side = { checkout: HERE, shape: benchShapeOf(process.env.LAUREL_BENCH_SHAPE) };
  const measured = () => ({ turns: [], timesToReadyMs: [] });
  if (values.shape !== undefined) {
    return [
      { ...side, ...measured(), name: 'before', shape: 'six' },
      { ...side, ...measured(), name: 'after', shape: benchShapeOf(values.shape) },
    ];
  }
  if (other === undefined) {
    throw new Error(
      'what is compared? npm run bench:compare -- <another checkout>, or --shape <another shape of this one>',
    );
  }
  return [
    { ...side, ...measured(), name: 'before', checkout: resolve(other) },
    { ...side, ...measured(), name: 'after' },
  ];
}

function label(clients: number): string {
  return `${clients} client${clients === 1 ? '' : 's'}`;
}

function rowOf(clients: number): (string | number)[] {
  const values = (side: Side, value: (turn: MeasuredTurn) => number) => median(at(side, clients).map(value));
  const both = (value: (turn: MeasuredTurn) => number) => [values(before, value), values(after, value)] as const;
  const perSecond = ratioOf(clients, (turn) => turn.flowsPerSecond);
  return [
    label(clients),
    ...both((turn) => turn.flowsPerSecond).map(Math.round),
    perSecond.mean,
    `${perSecond.least.toFixed(2)} to ${perSecond.most.toFixed(2)}`,
    ...both((turn) => cpuOf(turn)),
    ratioOf(clients, (turn) => cpuOf(turn)).mean,
    ...both((turn) => turn.p99Ms).map(Math.round),
    ...both((turn) => turn.idle).map(percent),
  ];
}

function at({ turns: taken }: Side, clients: number): readonly MeasuredTurn[] {
  return taken.filter((turn) => turn.clients === clients);
}

function cpuOf({ cpuMs }: MeasuredTurn, isCounted: (process: string) => boolean = () => true): number {
  return Object.entries(cpuMs).reduce((sum, [name, ms]) => sum + (isCounted(name) ? ms : 0), 0);
}

/** Divides `after` by `before` in each pair of turns: the geometric mean and its 95 % interval. */
function ratioOf(
  clients: number,
  value: (turn: MeasuredTurn) => number,
): { mean: number; least: number; most: number } {
  const earlier = at(before, clients);
  const ratios = at(after, clients).map((turn, index) => value(turn) / value(earlier[index] ?? turn));
  const { mean, standardErrorOfLog } = geometricMean(ratios);
  const factor = Math.exp(Z * standardErrorOfLog);
  return { mean, least: mean / factor, most: mean * factor };
}

/**
 * Divides the medians instead of comparing turn by turn, because a process that flows hardly use
 * has turns without a tick of CPU time.
 */
function ratioOfProcess(clients: number, name: string): number | string {
  const [earlier, later] = [before, after].map((side) =>
    median(at(side, clients).map((turn) => turn.cpuMs[name] ?? 0)),
  );
  return earlier && later ? later / earlier : '';
}

async function start(side: Side): Promise<RunningSide> {
  const seconds = (durationMs / 1000) * clientCounts.length * (turns + 1);
  const run = await startOtherRun({ ...side, seconds });
  if (run.timeToReadyMs !== undefined) side.timesToReadyMs.push(run.timeToReadyMs);
  return { side, run };
}
