// What the processes of a run used, and what PostgreSQL and the machine counted, between two
// readings.
import { setTimeout as sleep } from 'node:timers/promises';
import { SERVICES, type Stack } from '@laurel/testing';
import type pg from 'pg';
import { type MachineTime, machineTime, TICK_MS, type Usage, usageOf } from './processes.ts';

/**
 * PostgreSQL's sessions report their counters at most once a second, and the rest after ten idle
 * seconds (PGSTAT_IDLE_INTERVAL). An earlier reading would miss some, and the next row would count
 * them.
 */
const REPORT_MS = 10_500;

export interface ProcessUsage extends Usage {
  readonly name: string;
}

/** CPU and memory, exact at the moment of the reading. */
export interface Reading {
  readonly processes: readonly ProcessUsage[];
  readonly machine: MachineTime;
}

/** What PostgreSQL has counted, over all databases of the server. */
export interface Counters {
  /** Flushes of the write-ahead log: each is one fsync. */
  readonly flushes: number;
  readonly deadlocks: number;
}

export interface Meter {
  read(): Reading;
  /** Reads the counters, once every session has reported its own. */
  count(): Promise<Counters>;
}

export function createMeter(of: {
  readonly stack: Stack;
  readonly superuser: pg.Client;
  readonly postgresPid: number;
  readonly natsPid: number;
  readonly loadPid: number;
}): Meter {
  const serviceUsage = (service: (typeof SERVICES)[number]): ProcessUsage => {
    const replicas = of.stack.pids(service).map((pid) => usageOf(pid, false));
    return {
      name: service,
      cpuMs: replicas.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
      residentMiB: replicas.reduce((sum, { residentMiB }) => sum + residentMiB, 0),
    };
  };
  return {
    read: () => ({
      processes: [
        ...SERVICES.map(serviceUsage),
        { name: POSTGRES, ...usageOf(of.postgresPid, true) },
        { name: 'nats', ...usageOf(of.natsPid, false) },
        { name: 'load generator', ...usageOf(of.loadPid, false) },
      ],
      machine: machineTime(),
    }),
    async count() {
      await sleep(REPORT_MS);
      const { rows } = await of.superuser.query<{ flushes: number; deadlocks: number }>(COUNTERS);
      return rows[0] ?? { flushes: 0, deadlocks: 0 };
    },
  };
}

export const POSTGRES = 'postgres';

/** Context `normal` excludes the flush of a new, empty WAL file. */
const COUNTERS = `
  select (select sum(fsyncs)::float8 from pg_stat_io where object = 'wal' and context = 'normal') as flushes,
    (select sum(deadlocks)::float8 from pg_stat_database) as deadlocks`;

/** The CPU time and memory of each process between two readings. */
export function usedBetween(before: Reading, after: Reading): readonly ProcessUsage[] {
  return after.processes.map((process, index) => ({
    ...process,
    cpuMs: process.cpuMs - (before.processes[index]?.cpuMs ?? 0),
  }));
}

/** Shares of all cores' time. */
export interface MachineShares {
  /** Idle, or waiting for the disk. */
  readonly idle: number;
  /**
   * Time of everything that the run does not measure: other programs, and the kernel's work for no
   * process.
   */
  readonly other: number;
}

export function sharesBetween(before: Reading, after: Reading): MachineShares {
  const ticks = after.machine.ticks - before.machine.ticks;
  const idleTicks = after.machine.idleTicks - before.machine.idleTicks;
  const measuredMs = usedBetween(before, after).reduce((sum, { cpuMs }) => sum + cpuMs, 0);
  return { idle: idleTicks / ticks, other: Math.max(0, 1 - (idleTicks + measuredMs / TICK_MS) / ticks) };
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}
