// How long the processes of a stack take to become ready.
import type { Stack } from '@laurel/testing';
import { processesOf } from './meter.ts';
import { median } from './statistics.ts';

const STARTS = 3;

/**
 * Stops all processes and starts them together, three times. Returns the median time until all are
 * ready. Their databases are migrated, and their code is in the compile cache.
 */
export async function measureTimeToReady(stack: Stack): Promise<number> {
  const replicas = [...processesOf(stack).keys()].flatMap((service) =>
    stack.pids(service).map((_, replica) => [service, replica] as const),
  );
  const timesMs: number[] = [];
  for (let start = 0; start < STARTS; start += 1) {
    await Promise.all(replicas.map((one) => stack.stop(...one)));
    const startedAt = performance.now();
    await Promise.all(replicas.map((one) => stack.restart(...one)));
    timesMs.push(performance.now() - startedAt);
  }
  return median(timesMs);
}
