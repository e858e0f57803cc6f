import type { Service } from '@laurel/testing';
import { expect } from 'vitest';
import type { World } from '../world.ts';

/** A service, and how many replicas of it the stack has. */
export interface Replicas {
  readonly service: Service;
  readonly count: number;
}

/**
 * Replaces the replicas one by one, like a deployment, with replicas that have these settings.
 * `check` must hold after each.
 */
export async function rollOut(
  { stack }: World,
  { service, count }: Replicas,
  settings: Readonly<Record<string, string>>,
  check: () => Promise<unknown> = async () => undefined,
): Promise<void> {
  for (let replica = 0; replica < count; replica++) {
    expect(await stack.stop(service, replica)).toBe(0);
    await stack.restart(service, replica, settings);
    await check();
  }
}
