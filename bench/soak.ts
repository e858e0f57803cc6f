// A long run at one load, cut into intervals to show a drift: throughput, each process's cost of a
// flow, memory, disk.
import { SERVICES, type Stack } from '@laurel/testing';
import type pg from 'pg';
import type { LoadResult } from './load.ts';
import {
  type MachineShares,
  type Meter,
  machineSharesBetween,
  POSTGRES,
  type ProcessUsage,
  percent,
  usedBetween,
} from './meter.ts';
import { percentiles } from './statistics.ts';
import { countOf, isMixed, latenciesOf, winsInWindows } from './winning-flows.ts';

export const SOAK_CLIENTS = 64;
const INTERVAL_SECONDS = 30;
/** A drift compares the last third with the first. */
const LEAST_INTERVALS = 3;

export interface Soak {
  /** Printed tables; the first row of each is its head. */
  readonly tables: readonly (string | number)[][][];
  readonly summary: readonly string[];
  readonly failures: number;
  readonly mixed: boolean;
}

interface Interval {
  readonly flows: number;
  readonly failures: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly used: readonly ProcessUsage[];
  readonly shares: MachineShares;
  readonly walBytes: number;
  readonly mixed: boolean;
}

export async function measureSoak(on: {
  readonly stack: Stack;
  readonly superuser: pg.Client;
  readonly meter: Meter;
  readonly runFor: (clients: number, durationMs: number) => Promise<LoadResult>;
  readonly durationMs: number;
}): Promise<Soak> {
  const count = Math.max(LEAST_INTERVALS, Math.round(on.durationMs / 1000 / INTERVAL_SECONDS));
  const bytesBefore = await databaseBytes(on.stack);
  const intervals: Interval[] = [];
  for (let index = 0; index < count; index += 1) intervals.push(await measureInterval(on, on.durationMs / count));
  const flows = intervals.reduce((sum, interval) => sum + interval.flows, 0);
  const bytes = (await databaseBytes(on.stack)).map((after, index) => (after - (bytesBefore[index] ?? 0)) / flows);

  const third = Math.floor(count / 3);
  const [first, last] = [intervals.slice(0, third), intervals.slice(-third)];
  const ratio = (value: (interval: Interval) => number) => (mean(last, value) / mean(first, value)).toFixed(3);
  return {
    tables: [
      flowsTable(intervals, on.durationMs / count / 1000),
      usageTable('CPU ms a flow', intervals, ({ cpuMs }, interval) => cpuMs / interval.flows),
      usageTable('resident MiB', intervals, ({ residentMiB }) => Math.round(residentMiB)),
      [['database', 'bytes a flow'], ...SERVICES.map((service, index) => [service, Math.round(bytes[index] ?? 0)])],
    ],
    summary: [
      `soak: ${flows} flows; the last third of the intervals against the first: ${ratio(({ perSecond }) => perSecond)} of the flows/s, ` +
        `${ratio(postgresCpuMs)} of PostgreSQL's CPU a flow, ${ratio(otherCpuMs)} of the other processes'`,
    ],
    failures: intervals.reduce((sum, interval) => sum + interval.failures, 0),
    mixed: intervals.every(({ mixed }) => mixed),
  };
}

async function measureInterval(
  { superuser, meter, runFor }: Parameters<typeof measureSoak>[0],
  durationMs: number,
): Promise<Interval> {
  const walBefore = await walPosition(superuser);
  const before = meter.read();
  const result = await runFor(SOAK_CLIENTS, durationMs);
  const after = meter.read();
  const flows = countOf(result, 'won', 'lost');
  return {
    flows,
    failures: countOf(result, 'failed'),
    perSecond: (flows * 1000) / result.elapsedMs,
    ...percentiles(latenciesOf(result, 'won', 'lost')),
    used: usedBetween(before, after),
    shares: machineSharesBetween(before, after),
    walBytes: (await walPosition(superuser)) - walBefore,
    mixed: isMixed(winsInWindows(result.results)),
  };
}

function flowsTable(intervals: readonly Interval[], seconds: number): (string | number)[][] {
  return [
    [
      `soak, ${SOAK_CLIENTS} clients: seconds`,
      'flows/s',
      'p50 ms',
      'p99 ms',
      'failures',
      'idle CPU',
      'other CPU',
      'PostgreSQL CPU ms a flow',
      'WAL bytes a flow',
    ],
    ...intervals.map((interval, index) => [
      named(index, seconds),
      Math.round(interval.perSecond),
      interval.p50Ms,
      interval.p99Ms,
      interval.failures,
      percent(interval.shares.idle),
      percent(interval.shares.other),
      postgresCpuMs(interval).toFixed(3),
      Math.round(interval.walBytes / interval.flows),
    ]),
  ];

  function named(index: number, length: number): string {
    return `${Math.round(index * length)} to ${Math.round((index + 1) * length)}`;
  }
}

/** Returns one row for each process, with one column for each interval. */
function usageTable(
  name: string,
  intervals: readonly Interval[],
  value: (usage: ProcessUsage, interval: Interval) => number,
): (string | number)[][] {
  const processes = intervals[0]?.used ?? [];
  return [
    [`${name}, by interval`, ...intervals.map((_, index) => String(index + 1))],
    ...processes.map((process, index) => [
      process.name,
      ...intervals.map((interval) => value(interval.used[index] ?? process, interval)),
    ]),
  ];
}

function postgresCpuMs({ used, flows }: Interval): number {
  return (used.find(({ name }) => name === POSTGRES)?.cpuMs ?? 0) / flows;
}

function otherCpuMs(interval: Interval): number {
  return interval.used.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / interval.flows - postgresCpuMs(interval);
}

function mean(intervals: readonly Interval[], value: (interval: Interval) => number): number {
  return intervals.reduce((sum, interval) => sum + value(interval), 0) / intervals.length;
}

/** The bytes of each service's database, in the order of SERVICES. */
async function databaseBytes(stack: Stack): Promise<number[]> {
  return Promise.all(
    SERVICES.map(async (service) => {
      const [row] = await stack
        .database(service)
        .query<{ bytes: number }>('select pg_database_size(current_database())::float8 as bytes');
      return row?.bytes ?? 0;
    }),
  );
}

async function walPosition(superuser: pg.Client): Promise<number> {
  const { rows } = await superuser.query<{ bytes: number }>(
    `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as bytes`,
  );
  return rows[0]?.bytes ?? 0;
}
