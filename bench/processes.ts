import { readdirSync, readFileSync } from 'node:fs';

/** CPU time is in clock ticks of 10 ms, as Linux reports it to every process. */
export const TICK_MS = 10;

/** What a process has used so far. PostgreSQL's use includes all of its children. */
export interface Usage {
  readonly cpuMs: number;
  readonly residentMiB: number;
}

/**
 * Reads a process's use from /proc; `withChildren` adds its direct children (PostgreSQL's
 * backends). It reads all CPU times before any memory, because memory takes longer to read: a child
 * that ends in between would be missing here, and count for its parent in the next reading.
 */
export function usageOf(pid: number, withChildren: boolean): Usage {
  const children = withChildren ? childrenOf(pid) : [];
  const reapedMs = withChildren ? childrenReapedMs(pid) : 0;
  const pids = [pid, ...children];
  const cpuMs = pids.reduce((sum, one) => sum + cpuMsOf(one), reapedMs);
  return { cpuMs, residentMiB: pids.reduce((sum, one) => sum + residentMiBOf(one), 0) };
}

function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter((entry) => parentOf(entry) === pid);
}

function statFields(pid: number): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}

function parentOf(pid: number): number {
  return Number(statFields(pid)[1] ?? 0);
}

function childrenReapedMs(pid: number): number {
  const fields = statFields(pid);
  return (Number(fields[13] ?? 0) + Number(fields[14] ?? 0)) * TICK_MS;
}

function cpuMsOf(pid: number): number {
  const fields = statFields(pid);
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * TICK_MS;
}

function residentMiBOf(pid: number): number {
  // Only Pss counts the shared pages of PostgreSQL's backends once; it needs a readable
  // smaps_rollup.
  let residentKiB = 0;
  try {
    residentKiB = Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0);
  } catch {
    residentKiB = 0;
  }
  if (residentKiB === 0) {
    try {
      residentKiB = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
    } catch {
      residentKiB = 0;
    }
  }
  return residentKiB / 1024;
}

/** Clock ticks of all cores since the machine started. */
export interface MachineTime {
  readonly ticks: number;
  /** Ticks without anything to run, or waiting for the disk. */
  readonly idleTicks: number;
}

export function machineTime(): MachineTime {
  // The fields are user nice system idle iowait irq softirq steal; later ones are part of user and
  // nice.
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n', 1);
  const ticks = line.trim().split(/\s+/).slice(1, 9).map(Number);
  return { ticks: ticks.reduce((sum, value) => sum + value, 0), idleTicks: (ticks[3] ?? 0) + (ticks[4] ?? 0) };
}
