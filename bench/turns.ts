// What each checkout of a comparison (compare.ts) does: it runs one closed loop for each line on
// stdin, and prints the figures of the loop on stdout.
import { createInterface } from 'node:readline';
import type { LoadResult } from './load.ts';
import { type Meter, machineSharesBetween, runsServices, usedBetween } from './meter.ts';
import { percentiles } from './statistics.ts';
import { countOf, isMixed, latenciesOf, winsInWindows } from './winning-flows.ts';

/** The run reads one such line of JSON from its standard input. */
export interface TurnOrder {
  readonly clients: number;
  readonly durationMs: number;
}

/** The run's reply, as JSON on a line that begins with TURN_PREFIX. No other line begins so. */
export interface MeasuredTurn {
  readonly clients: number;
  /** The throughput without failed flows. */
  readonly flowsPerSecond: number;
  readonly failures: number;
  readonly mixed: boolean;
  readonly p99Ms: number;
  readonly idle: number;
  /** CPU ms a flow, by process. */
  readonly cpuMs: Readonly<Record<string, number>>;
  /** The memory of all services at the end of the turn. */
  readonly servicesMiB: number;
}

export const TURN_PREFIX = 'TURN ';
/** Printed before the first order; a Ready follows as JSON, except in older checkouts. */
export const READY_PREFIX = 'READY';

/** What is known of a stack before its first turn. */
export interface Ready {
  readonly shape: BenchShape;
  readonly timeToReadyMs: number;
}

/**
 * `six`: a process for each service. `one`: one for all of them. `spread`: two for each, on two
 * PostgreSQL servers and a cluster of two NATS servers.
 */
export type BenchShape = (typeof SHAPES)[number];

const SHAPES = ['six', 'one', 'spread'] as const;

/** The shape that LAUREL_BENCH_SHAPE names. */
export function benchShapeOf(name = 'six'): BenchShape {
  const shape = SHAPES.find((one) => one === name);
  if (shape === undefined) throw new Error(`a shape of the benchmark is one of ${SHAPES.join(', ')}`);
  return shape;
}

interface Measured {
  readonly meter: Meter;
  readonly runFor: (clients: number, durationMs: number) => Promise<LoadResult>;
}

/**
 * Runs until stdin ends. Returns the number of failures, and of turns whose wins and losses were
 * not mixed.
 */
export async function answerTurns(
  on: Measured & { readonly ready: Ready },
): Promise<{ failures: number; unmixed: number }> {
  let [failures, unmixed] = [0, 0];
  console.log(`${READY_PREFIX} ${JSON.stringify(on.ready)}`);
  for await (const line of createInterface({ input: process.stdin })) {
    const turn = await measureTurn(on, JSON.parse(line) as TurnOrder);
    failures += turn.failures;
    if (!turn.mixed) unmixed += 1;
    console.log(`${TURN_PREFIX}${JSON.stringify(turn)}`);
  }
  return { failures, unmixed };
}

export async function measureTurn(on: Measured, { clients, durationMs }: TurnOrder): Promise<MeasuredTurn> {
  const before = on.meter.read();
  const result = await on.runFor(clients, durationMs);
  const after = on.meter.read();
  const flows = countOf(result, 'won', 'lost');
  const used = usedBetween(before, after);
  return {
    clients,
    flowsPerSecond: (flows * 1000) / result.elapsedMs,
    failures: countOf(result, 'failed'),
    mixed: isMixed(winsInWindows(result.results)),
    p99Ms: percentiles(latenciesOf(result, 'won', 'lost')).p99Ms,
    idle: machineSharesBetween(before, after).idle,
    cpuMs: Object.fromEntries(used.map(({ name, cpuMs }) => [name, cpuMs / flows])),
    servicesMiB: used.reduce((sum, { name, residentMiB }) => sum + (runsServices(name) ? residentMiB : 0), 0),
  };
}
