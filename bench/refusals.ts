// The time that a push with an invalid signature takes, for each cause of the 401: equal times
// reveal neither which integrations exist, nor that a secret was once valid.
import { randomUUID } from 'node:crypto';
import { Laurel } from '@laurel/sdk';
import type { Stack } from '@laurel/testing';
import { HttpConnection } from './http-connection.ts';
import { createRandom } from './mix.ts';
import type { BenchProgram } from './paid-flow.ts';
import { type PushTarget, push } from './push.ts';
import { createPushTargets } from './push-targets.ts';
import { percentiles } from './statistics.ts';

const INTEGRATIONS = 20;
const SIZES = [
  { name: '200 bytes', bytes: 200, pushes: 9_000 },
  { name: '256 KiB', bytes: 256 * 1024, pushes: 1_500 },
];
const SHARE_OF_WARM_UP = 0.1;
const SEED = 1;

/**
 * Rows of a printed table; the first is its head. One push at a time, with a random cause, so that
 * a drift of the machine favours none.
 */
export async function measureRefusals(
  stack: Stack,
  programs: readonly BenchProgram[],
): Promise<readonly (string | number)[][]> {
  const some = programs.slice(0, INTEGRATIONS);
  const targets = await createPushTargets(stack.baseUrl, some);
  const retired: PushTarget[] = [];
  for (const { programId, testKey } of some) {
    const target = targets.get(programId);
    if (target === undefined) throw new Error('a program has no integration');
    const { integrations } = new Laurel({ apiKey: testKey, baseUrl: stack.baseUrl });
    await integrations.rotateSecret(target.id);
    await integrations.retirePreviousSecret(target.id);
    retired.push(target);
  }

  const random = createRandom(SEED);
  const oneOf = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const secret = 'a'.repeat(64);
  const causes: { readonly name: string; readonly target: () => PushTarget }[] = [
    { name: 'an integration that does not exist', target: () => ({ id: randomUUID(), secret }) },
    { name: 'another secret', target: () => ({ id: oneOf(retired).id, secret }) },
    { name: 'a retired secret', target: () => oneOf(retired) },
  ];
  const rows: (string | number)[][] = [['a push that is 401 for', 'body', 'pushes', 'p50 ms', 'p95 ms']];
  const { hostname, port } = new URL(stack.baseUrl);
  const connection = new HttpConnection(hostname, Number(port));
  for (const { name: size, bytes, pushes } of SIZES) {
    const body = JSON.stringify({ evidence: ' '.repeat(bytes) }).slice(0, bytes);
    const times = new Map<string, number[]>(causes.map(({ name }) => [name, []]));
    for (let count = 0; count < pushes; count += 1) {
      const { name, target } = oneOf(causes);
      const pushed = target();
      const startedAt = performance.now();
      const { status } = await push(connection, pushed, body);
      const elapsedMs = performance.now() - startedAt;
      if (status !== 401) throw new Error(`a push under ${name} was ${status}`);
      if (count >= pushes * SHARE_OF_WARM_UP) times.get(name)?.push(elapsedMs);
    }
    for (const [name, elapsed] of times) {
      const { p50Ms, p95Ms } = percentiles(elapsed);
      rows.push([name, size, elapsed.length, p50Ms, p95Ms]);
    }
  }
  connection.close();
  return rows;
}
