import { beforeEach, describe, expect, test } from 'vitest';
import { createFakeClock, type FakeClock } from './fake-clock.fixture.ts';
import { type GatePass, type GateReport, RateGate } from './rate-gate.ts';

const SOON = 90_000;

describe('the gate of a client', () => {
  let clock: FakeClock;
  let gate: RateGate;
  let passes: GatePass[];
  beforeEach(() => {
    clock = createFakeClock();
    gate = new RateGate(clock);
    passes = [];
  });

  async function enter(calls: number, deadline = clock.now() + SOON): Promise<void> {
    for (let call = 0; call < calls; call += 1) void gate.enter(deadline).then((pass) => passes.push(pass));
    await clock.advance(0);
  }

  const passed = () => passes.filter(({ kind }) => kind === 'passed').length;

  async function leave(index: number, report: GateReport): Promise<void> {
    const pass = passes[index];
    if (pass?.kind !== 'passed') throw new Error(`call ${index} has not passed`);
    pass.leave(report);
    await clock.advance(0);
  }

  const counted = (remaining: number): GateReport => ({ kind: 'counted', remaining });
  const limited = (retryAfterMs: number): GateReport => ({ kind: 'limited', retryAfterMs });

  test('ten calls are sent while the client does not know how many requests remain', async () => {
    await enter(50);
    expect(passed()).toBe(10);
  });

  test('at most a quarter of the minute’s remaining requests is under way', async () => {
    await enter(400);
    await leave(0, counted(299));
    expect(passed() - 1).toBe(75);
    await leave(1, counted(200));
    expect(passed()).toBe(76);
    for (let call = 2; call < 30; call += 1) await leave(call, { kind: 'lost' });
    expect(passed() - 30).toBe(50);
  });

  test('one request at a time is sent when the minute’s requests are used up', async () => {
    await enter(30);
    for (let call = 0; call < 10; call += 1) await leave(call, counted(0));
    expect(passed()).toBe(11);
    await leave(10, counted(0));
    expect(passed()).toBe(12);
  });

  test('a response to an earlier request does not raise the count of remaining requests', async () => {
    await enter(40);
    await leave(3, counted(2));
    await leave(0, counted(200));
    expect(passed()).toBe(10);
    for (let call = 1; call < 10; call += 1) if (call !== 3) await leave(call, { kind: 'lost' });
    expect(passed()).toBe(11);
    await leave(10, counted(299));
    expect(passed()).toBe(40);
  });

  test('a 429 makes every caller wait until its retry_after', async () => {
    await enter(50);
    await leave(0, limited(30_000));
    for (let call = 1; call < 10; call += 1) await leave(call, limited(30_000));
    await clock.advance(29_999);
    expect(passed()).toBe(10);
    await clock.advance(1);
    expect(passed()).toBe(20);
    await leave(10, counted(290));
    expect(passed()).toBe(50);
  });

  test('servers with one key reopen their gates at different moments', async () => {
    clock.chance = 0.5;
    await enter(11);
    await leave(0, limited(1_000));
    for (let call = 1; call < 10; call += 1) await leave(call, { kind: 'lost' });
    await clock.advance(1_249);
    expect(passed()).toBe(10);
    await clock.advance(1);
    expect(passed()).toBe(11);
  });

  test('a call whose deadline is before the gate opens is refused immediately', async () => {
    await enter(1);
    await leave(0, limited(60_000));
    await enter(1, clock.now() + 10_000);
    expect(passes[1]).toEqual({ kind: 'limited', retryAfterMs: 60_000 });
    expect(clock.pending).toBe(0);
  });

  test('a closed gate has a timer only while calls wait', async () => {
    await enter(1);
    await leave(0, limited(30_000));
    expect(clock.pending).toBe(0);
    const waiting = [new AbortController(), new AbortController()].map((controller) => ({
      controller,
      end: gate.enter(SOON, controller.signal).catch((reason: unknown) => reason),
    }));
    // Three timers: a deadline for each of two calls, and the opening for both.
    expect(clock.pending).toBe(3);
    for (const { controller } of waiting) controller.abort('left');
    expect(await Promise.all(waiting.map(({ end }) => end))).toEqual(['left', 'left']);
    expect(clock.pending).toBe(0);
  });

  test('a closed gate opens at the same moment whether or not a call waits', async () => {
    await enter(1);
    await leave(0, limited(30_000));
    await clock.advance(29_000);
    await enter(1);
    await clock.advance(999);
    expect(passed()).toBe(1);
    await clock.advance(1);
    expect(passed()).toBe(2);
    await leave(1, limited(30_000));
    await clock.advance(30_000);
    await enter(1);
    expect(passed()).toBe(3);
    expect(clock.pending).toBe(0);
  });

  test('a later 429 delays the calls that already wait at the gate', async () => {
    await enter(2);
    await leave(0, limited(10_000));
    await enter(1);
    await leave(1, limited(30_000));
    expect(clock.pending).toBe(2);
    await clock.advance(29_999);
    expect(passed()).toBe(2);
    await clock.advance(1);
    expect(passed()).toBe(3);
    expect(clock.pending).toBe(0);
  });

  test('a call that reaches its deadline behind other calls is refused as late', async () => {
    await enter(10);
    await enter(1, clock.now() + 500);
    await clock.advance(499);
    expect(passes).toHaveLength(10);
    await clock.advance(1);
    expect(passes[10]).toEqual({ kind: 'late' });
  });

  test('a request that failed without a response no longer delays other calls', async () => {
    await enter(10);
    for (let call = 0; call < 10; call += 1) await leave(call, { kind: 'lost' });
    await enter(10);
    expect(passed()).toBe(20);
  });

  test('responses without a count of remaining requests delay no call', async () => {
    await enter(100);
    await leave(0, { kind: 'uncounted' });
    expect(passed()).toBe(100);
  });

  test('an aborted call leaves the queue with the reason of its signal', async () => {
    await enter(10);
    const controller = new AbortController();
    const waiting = gate.enter(SOON, controller.signal);
    controller.abort(new Error('the player left'));
    await expect(waiting).rejects.toThrow('the player left');
    await enter(1);
    await leave(0, { kind: 'lost' });
    expect(passed()).toBe(11);
    await expect(gate.enter(SOON, AbortSignal.abort('before'))).rejects.toBe('before');
  });
});
