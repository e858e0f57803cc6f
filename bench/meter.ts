// What the processes of a run used, and what PostgreSQL and the machine counted, between two
// readings.
import { setTimeout as sleep } from 'node:timers/promises';
import { SERVICES, type Service, type Stack } from '@laurel/testing';
import type pg from 'pg';
import { type MachineTime, machineTime, TICK_MS, type Usage, usageOf } from './processes.ts';

/**
 * PostgreSQL's sessions report their counters at most once a second, and what is left after ten
 * idle seconds (PGSTAT_IDLE_INTERVAL). An earlier reading would leave some of the work to the next
 * row.
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

/** What PostgreSQL has counted, over all databases of its servers. */
export interface Counters {
  /** Flushes of the write-ahead log: each is one fsync. */
  readonly flushes: number;
  readonly deadlocks: number;
}

export interface Meter {
  read(): Reading;
  /** Waits until every session has reported its counters, and reads them. */
  count(): Promise<Counters>;
}

export function createMeter(of: {
  readonly stack: Stack;
  /** A superuser of each PostgreSQL server. */
  readonly superusers: readonly pg.Client[];
  readonly postgresPids: readonly number[];
  readonly natsPids: readonly number[];
  readonly loadPid: number;
}): Meter {
  const services = [...processesOf(of.stack)].map(([service, { length }]) => ({
    service,
    name: length === 1 ? service : ONE_PROCESS,
  }));
  const usageOfAll = (name: string, pids: readonly number[], withChildren: boolean): ProcessUsage => {
    const usages = pids.map((pid) => usageOf(pid, withChildren));
    return {
      name,
      cpuMs: usages.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
      residentMiB: usages.reduce((sum, { residentMiB }) => sum + residentMiB, 0),
    };
  };
  return {
    read: () => ({
      processes: [
        ...services.map(({ service, name }) => usageOfAll(name, of.stack.pids(service), false)),
        usageOfAll(POSTGRES, of.postgresPids, true),
        usageOfAll(NATS, of.natsPids, false),
        { name: LOAD_GENERATOR, ...usageOf(of.loadPid, false) },
      ],
      machine: machineTime(),
    }),
    async count() {
      await sleep(REPORT_MS);
      const counted = await Promise.all(of.superusers.map((superuser) => superuser.query<Counters>(COUNTERS)));
      const each = counted.flatMap(({ rows }) => rows);
      return {
        flushes: each.reduce((sum, { flushes }) => sum + flushes, 0),
        deadlocks: each.reduce((sum, { deadlocks }) => sum + deadlocks, 0),
      };
    },
  };
}

/** Returns one service of each process of the stack, with all services that the process runs. */
export function processesOf(stack: Stack): ReadonlyMap<Service, readonly Service[]> {
  const byPids = Map.groupBy(SERVICES, (service) => stack.pids(service).join());
  return new Map([...byPids.values()].flatMap((services) => (services[0] ? [[services[0], services]] : [])));
}

export const POSTGRES = 'postgres';
const NATS = 'nats';
const LOAD_GENERATOR = 'load generator';
const ONE_PROCESS = 'one process';

/** Whether the process with this name runs at least one service. */
export function runsServices(name: string): boolean {
  return name !== POSTGRES && name !== NATS && name !== LOAD_GENERATOR;
}

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
   * Time that the run does not measure: other programs, and work of the kernel that belongs to no
   * process.
   */
  readonly other: number;
}

export function machineSharesBetween(before: Reading, after: Reading): MachineShares {
  const ticks = after.machine.ticks - before.machine.ticks;
  const idleTicks = after.machine.idleTicks - before.machine.idleTicks;
  const measuredMs = usedBetween(before, after).reduce((sum, { cpuMs }) => sum + cpuMs, 0);
  return { idle: idleTicks / ticks, other: Math.max(0, 1 - (idleTicks + measuredMs / TICK_MS) / ticks) };
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}
