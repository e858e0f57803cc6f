// Pushed outcomes beside `/v1` outcomes, in turns, so that a drift of the machine favors neither.
// Only outcomes are timed. Their attempts are created before, the same number for each turn.
import type { Stack } from '@laurel/testing';
import type { LoadOrder, LoadResult } from './load.ts';
import {
  type Counters,
  type MachineShares,
  type Meter,
  machineSharesBetween,
  type ProcessUsage,
  percent,
  usedBetween,
} from './meter.ts';
import type { BenchProgram } from './paid-flow.ts';
import type { PushTarget } from './push.ts';
import { createPushTargets } from './push-targets.ts';
import { percentiles } from './statistics.ts';
import { countOf, isMixed, latenciesOf, type WindowWins, winsInWindows } from './winning-flows.ts';

const CLIENT_COUNTS = [16, 64];
/**
 * At the last number of clients, pushes must settle at least this share of the outcomes of `/v1`.
 */
const LEAST_RATIO = 0.8;
/** A turn has this many outcomes for each second of a step. */
const OUTCOMES_PER_SECOND = 1_500;
const WARM_UP_OUTCOMES = 2_000;
const WAYS = ['/v1', 'push'] as const;
/** Turns of each way at each number of clients. */
const TURNS = 2;

type Way = (typeof WAYS)[number];

export interface Pushes {
  /** Printed tables; the first row of each is its head. */
  readonly tables: readonly (string | number)[][][];
  readonly summary: readonly string[];
  readonly failures: number;
  readonly mixed: boolean;
  /** The number of outcomes that were pushed, the warm-up included. */
  readonly pushed: number;
  /** Whether pushes keep up with `/v1`. */
  readonly isWithin: boolean;
}

interface Turn {
  readonly clients: number;
  readonly way: Way;
  readonly outcomes: number;
  readonly failures: number;
  readonly elapsedMs: number;
  readonly latenciesMs: readonly number[];
  readonly wins: WindowWins | undefined;
  readonly used: readonly ProcessUsage[];
  readonly shares: MachineShares;
  /**
   * What PostgreSQL counted. Only the first turns have this, because PostgreSQL reports its
   * counters after ten idle seconds.
   */
  readonly counted: Counters | undefined;
}

interface Bench {
  readonly stack: Stack;
  readonly meter: Meter;
  readonly ask: <Answer>(order: LoadOrder) => Promise<Answer>;
  readonly programs: readonly BenchProgram[];
  readonly stepMs: number;
}

/** Returns how many attempts this part creates. */
export function pushedAttempts(stepMs: number): number {
  return WAYS.length * (WARM_UP_OUTCOMES + CLIENT_COUNTS.length * TURNS * outcomesOf(stepMs));
}

export async function measurePushes(bench: Bench): Promise<Pushes> {
  const targets = await createPushTargets(bench.stack.baseUrl, bench.programs);
  const turns: Turn[] = [];
  await createAttempts(bench, WARM_UP_OUTCOMES);
  for (const way of WAYS) await settle(bench, { way, clients: 64, count: WARM_UP_OUTCOMES, targets });
  for (const clients of CLIENT_COUNTS) {
    for (let number = 0; number < TURNS; number += 1) {
      const isCounted = number === 0;
      await createAttempts(bench, outcomesOf(bench.stepMs));
      let before = isCounted ? await bench.meter.count() : undefined;
      for (const way of WAYS) {
        const turn = await measureTurn(bench, { way, clients, count: outcomesOf(bench.stepMs), targets });
        const after = isCounted ? await bench.meter.count() : undefined;
        turns.push({ ...turn, counted: before && after && difference(before, after) });
        before = after;
      }
    }
  }

  const ratios = CLIENT_COUNTS.map((clients) => ({
    clients,
    ratio: rateOf(turns, clients, 'push') / rateOf(turns, clients, '/v1'),
  }));
  return {
    tables: [turnsTable(turns), ...CLIENT_COUNTS.map((clients) => usageTable(turns, clients))],
    summary: ratios.map(
      ({ clients, ratio }) => `pushes: ${ratio.toFixed(2)} pushed outcomes per /v1 outcome at ${clients} clients`,
    ),
    failures: turns.reduce((sum, { failures }) => sum + failures, 0),
    mixed: turns.every(({ wins }) => isMixed(wins)),
    pushed: WARM_UP_OUTCOMES + turns.reduce((sum, { way, outcomes }) => sum + (way === 'push' ? outcomes : 0), 0),
    isWithin: (ratios.at(-1)?.ratio ?? 0) >= LEAST_RATIO,
  };
}

function outcomesOf(stepMs: number): number {
  return Math.round((stepMs / 1000) * OUTCOMES_PER_SECOND);
}

/** Creates attempts for one turn of each way. */
async function createAttempts({ stack, ask }: Bench, count: number): Promise<void> {
  await ask({ kind: 'attempts', ...addressOf(stack), clients: 64, count: WAYS.length * count });
}

interface Order {
  readonly way: Way;
  readonly clients: number;
  readonly count: number;
  readonly targets: ReadonlyMap<string, PushTarget>;
}

function settle({ stack, ask }: Bench, { way, clients, count, targets }: Order): Promise<LoadResult> {
  const to = way === 'push' ? targets : undefined;
  return ask({ kind: 'outcomes', ...addressOf(stack), clients, count, targets: to });
}

async function measureTurn(bench: Bench, order: Order): Promise<Omit<Turn, 'counted'>> {
  const before = bench.meter.read();
  const result = await settle(bench, order);
  const after = bench.meter.read();
  return {
    clients: order.clients,
    way: order.way,
    outcomes: countOf(result, 'won', 'lost'),
    failures: countOf(result, 'failed'),
    elapsedMs: result.elapsedMs,
    latenciesMs: latenciesOf(result, 'won', 'lost'),
    wins: winsInWindows(result.results),
    used: usedBetween(before, after),
    shares: machineSharesBetween(before, after),
  };
}

function turnsTable(turns: readonly Turn[]): (string | number)[][] {
  const rows = turns.map((turn) => {
    const { p50Ms, p99Ms } = percentiles(turn.latenciesMs);
    const sent = turn.outcomes + turn.failures;
    return [
      `${turn.way}, ${turn.clients} clients`,
      Math.round((turn.outcomes * 1000) / turn.elapsedMs),
      p50Ms,
      p99Ms,
      turn.failures,
      turn.wins === undefined ? '' : `${turn.wins.least} to ${turn.wins.most}`,
      turn.counted === undefined ? '' : (turn.counted.flushes / sent).toFixed(2),
      turn.counted === undefined ? '' : turn.counted.deadlocks,
      percent(turn.shares.idle),
      percent(turn.shares.other),
    ];
  });
  const columns = ['p50 ms', 'p99 ms', 'failures', 'wins in 50', 'fsyncs an outcome', 'deadlocks', 'idle CPU'];
  return [['outcomes alone, by turns', 'outcomes/s', ...columns, 'other CPU'], ...rows];
}

/** The CPU time of each process, divided by the outcomes of all turns of a way. */
function usageTable(turns: readonly Turn[], clients: number): (string | number)[][] {
  const [v1 = [], push = []] = WAYS.map((way) => {
    const own = turnsOf(turns, clients, way);
    const outcomes = sumOf(own, (turn) => turn.outcomes);
    const last = own.at(-1)?.used ?? [];
    return last.map(({ name, residentMiB }, index) => ({
      name,
      cpuMs: sumOf(own, ({ used }) => used[index]?.cpuMs ?? 0) / outcomes,
      residentMiB: Math.round(residentMiB),
    }));
  });
  const rows = v1.map(({ name, cpuMs }, index) => [
    name,
    cpuMs,
    push[index]?.cpuMs ?? 0,
    push[index]?.residentMiB ?? 0,
  ]);
  const all = [v1, push].map((processes) => sumOf(processes, ({ cpuMs }) => cpuMs));
  return [
    [`CPU ms an outcome, ${clients} clients`, ...WAYS, 'resident MiB'],
    ...rows,
    ['all of them', ...all, sumOf(push, ({ residentMiB }) => residentMiB)],
  ];
}

function rateOf(turns: readonly Turn[], clients: number, way: Way): number {
  const own = turnsOf(turns, clients, way);
  return (sumOf(own, ({ outcomes }) => outcomes) * 1000) / sumOf(own, ({ elapsedMs }) => elapsedMs);
}

function turnsOf(turns: readonly Turn[], clients: number, way: Way): Turn[] {
  return turns.filter((turn) => turn.clients === clients && turn.way === way);
}

function sumOf<Item>(items: readonly Item[], value: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + value(item), 0);
}

function difference(before: Counters, after: Counters): Counters {
  return { flushes: after.flushes - before.flushes, deadlocks: after.deadlocks - before.deadlocks };
}

function addressOf({ baseUrl }: Stack) {
  const { hostname: host, port } = new URL(baseUrl);
  return { host, port: Number(port) };
}
