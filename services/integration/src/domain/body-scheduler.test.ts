import { QueueFullError } from '@laurel/coalesce';
import type { Tenant } from '@laurel/values/tenant';
import { expect, test } from 'vitest';
import { createBodyScheduler } from './body-scheduler.ts';

const live: Tenant = { programId: 'one', environment: 'live' };
const testOf = (programId: string): Tenant => ({ programId, environment: 'test' });

/** A scheduler with a clock and an event loop that the test controls: each body takes `bodyMs`. */
function start(bodyMs: number) {
  const scheduled: (() => void)[] = [];
  const read: string[] = [];
  let time = 0;
  const bodyScheduler = createBodyScheduler({ now: () => time, schedule: (turn) => scheduled.push(turn) });
  const body = (name: string) => () => {
    time += bodyMs;
    read.push(name);
    return name;
  };
  return { bodyScheduler, read, body, nextTurn: () => scheduled.shift()?.(), scheduled };
}

test('a live body is read immediately, however many test bodies and dry runs wait', async () => {
  const { bodyScheduler, read, body, nextTurn } = start(5);
  const flood = Array.from({ length: 500 }, (_, index) => bodyScheduler.run(testOf('flood'), body(`t${index}`)));
  const dryRuns = Array.from({ length: 500 }, (_, index) => bodyScheduler.runDryRun(body(`d${index}`)));
  expect(await bodyScheduler.run(live, body('live'))).toBe('live');
  expect(read).toEqual(['live']);
  nextTurn();
  expect(await bodyScheduler.run(live, body('again'))).toBe('again');
  expect(read).toEqual(['live', 't0', 'again']);
  for (let turn = 0; turn < 999; turn += 1) nextTurn();
  expect(await Promise.all([...flood, ...dryRuns])).toHaveLength(1_000);
});

test('one turn of the scheduler reads one large body, or several small ones', () => {
  for (const [bodyMs, inATurn] of [
    [5, 1],
    [0.5, 4],
  ] as const) {
    const { bodyScheduler, read, body, nextTurn } = start(bodyMs);
    for (let index = 0; index < 10; index += 1) void bodyScheduler.run(testOf('a'), body('a'));
    nextTurn();
    expect(read).toHaveLength(inATurn);
  }
});

test('programs are read in turn, however many bodies of one program wait', () => {
  const { bodyScheduler, read, body, nextTurn, scheduled } = start(5);
  for (let index = 0; index < 50; index += 1) void bodyScheduler.run(testOf('flood'), body('flood'));
  void bodyScheduler.run(testOf('other'), body('other'));
  void bodyScheduler.runDryRun(body('dry run'));
  for (let turn = 0; turn < 4; turn += 1) nextTurn();
  expect(read).toEqual(['flood', 'other', 'dry run', 'flood']);
  while (scheduled.length > 0) nextTurn();
  expect(read).toHaveLength(52);
});

test('a body that throws rejects only its own call', async () => {
  const { bodyScheduler, body, nextTurn } = start(0);
  const failing = bodyScheduler.run(testOf('a'), () => {
    throw new Error('unreadable');
  });
  const others = Array.from({ length: 999 }, () => bodyScheduler.run(testOf('a'), body('a')));
  await expect(bodyScheduler.run(testOf('a'), body('a'))).rejects.toThrow(QueueFullError);
  const ofAnother = bodyScheduler.run(testOf('b'), body('b'));
  nextTurn();
  await expect(failing).rejects.toThrow('unreadable');
  expect(await Promise.all([...others, ofAnother])).toHaveLength(1_000);
  await expect(
    bodyScheduler.run(live, () => {
      throw new Error('unreadable');
    }),
  ).rejects.toThrow('unreadable');
});
