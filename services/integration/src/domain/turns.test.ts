import { QueueFullError } from '@laurel/coalesce';
import type { Tenant } from '@laurel/tenant';
import { expect, test } from 'vitest';
import { createTurns } from './turns.ts';

const live: Tenant = { programId: 'one', environment: 'live' };
const testOf = (programId: string): Tenant => ({ programId, environment: 'test' });

/** Turns with a clock and an event loop that the test controls: each body takes `bodyMs`. */
function start(bodyMs: number) {
  const scheduled: (() => void)[] = [];
  const read: string[] = [];
  let time = 0;
  const turns = createTurns({ now: () => time, schedule: (turn) => scheduled.push(turn) });
  const body = (name: string) => () => {
    time += bodyMs;
    read.push(name);
    return name;
  };
  return { turns, read, body, nextTurn: () => scheduled.shift()?.(), scheduled };
}

test('a live body is read immediately, however many bodies of test keys and dry runs wait', async () => {
  const { turns, read, body, nextTurn } = start(5);
  const flood = Array.from({ length: 500 }, (_, index) => turns.run(testOf('flood'), body(`t${index}`)));
  const dryRuns = Array.from({ length: 500 }, (_, index) => turns.runDryRun(body(`d${index}`)));
  expect(await turns.run(live, body('live'))).toBe('live');
  expect(read).toEqual(['live']);
  nextTurn();
  expect(await turns.run(live, body('again'))).toBe('again');
  expect(read).toEqual(['live', 't0', 'again']);
  for (let turn = 0; turn < 999; turn += 1) nextTurn();
  expect(await Promise.all([...flood, ...dryRuns])).toHaveLength(1_000);
});

test('a turn ends after one large body, and small bodies share it', () => {
  for (const [bodyMs, inATurn] of [
    [5, 1],
    [0.5, 4],
  ] as const) {
    const { turns, read, body, nextTurn } = start(bodyMs);
    for (let index = 0; index < 10; index += 1) void turns.run(testOf('a'), body('a'));
    nextTurn();
    expect(read).toHaveLength(inATurn);
  }
});

test('programs are read in turn, however many bodies one of them has waiting', () => {
  const { turns, read, body, nextTurn, scheduled } = start(5);
  for (let index = 0; index < 50; index += 1) void turns.run(testOf('flood'), body('flood'));
  void turns.run(testOf('other'), body('other'));
  void turns.runDryRun(body('dry run'));
  for (let turn = 0; turn < 4; turn += 1) nextTurn();
  expect(read).toEqual(['flood', 'other', 'dry run', 'flood']);
  while (scheduled.length > 0) nextTurn();
  expect(read).toHaveLength(52);
});

test('a body that throws rejects only its own call, and a program with too many bodies is refused', async () => {
  const { turns, body, nextTurn } = start(0);
  const failing = turns.run(testOf('a'), () => {
    throw new Error('unreadable');
  });
  const others = Array.from({ length: 999 }, () => turns.run(testOf('a'), body('a')));
  await expect(turns.run(testOf('a'), body('a'))).rejects.toThrow(QueueFullError);
  const ofAnother = turns.run(testOf('b'), body('b'));
  nextTurn();
  await expect(failing).rejects.toThrow('unreadable');
  expect(await Promise.all([...others, ofAnother])).toHaveLength(1_000);
  await expect(
    turns.run(live, () => {
      throw new Error('unreadable');
    }),
  ).rejects.toThrow('unreadable');
});
