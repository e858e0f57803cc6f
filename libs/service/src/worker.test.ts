import { metrics } from '@laurel/telemetry';
import { expect, test, vi } from 'vitest';
import { createLogger } from './logger.ts';
import { startWorker } from './worker.ts';

const clock = () => new Date();
const logged: string[] = [];
const logger = createLogger({ service: 'test', level: 'info', destination: { write: (line) => logged.push(line) } });

test('a worker runs immediately and again after the interval', async () => {
  const now = new Date('2026-10-01T00:00:00.000Z');
  const times: Date[] = [];
  const twice = Promise.withResolvers<void>();
  await using _worker = startWorker({
    name: 'sweep',
    intervalMs: 1,
    logger,
    clock: () => now,
    runOnce: async (at) => {
      times.push(at);
      if (times.length === 2) twice.resolve();
    },
  });
  await twice.promise;
  expect(times.slice(0, 2)).toEqual([now, now]);
});

test('two runs of a worker never overlap', async () => {
  let running = 0;
  let ended = 0;
  const entered = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const worker = startWorker({
    name: 'slow',
    intervalMs: 1,
    logger,
    clock,
    runOnce: async () => {
      running += 1;
      expect(running).toBe(1);
      entered.resolve();
      await release.promise;
      running -= 1;
      ended += 1;
    },
  });
  await entered.promise;
  const stopped = worker[Symbol.asyncDispose]();
  let isStopped = false;
  void stopped.then(() => {
    isStopped = true;
  });
  await Promise.resolve();
  expect(isStopped).toBe(false);
  release.resolve();
  await stopped;
  expect(ended).toBe(1);
});

test('stopping a worker does not wait for the interval', async () => {
  const ran = Promise.withResolvers<void>();
  const worker = startWorker({
    name: 'rare',
    intervalMs: 3_600_000,
    logger,
    clock,
    runOnce: async () => ran.resolve(),
  });
  await ran.promise;
  await worker[Symbol.asyncDispose]();
});

test('a failed run of a worker is logged and counted', async () => {
  const runOnce = vi.fn().mockRejectedValueOnce(new Error('database gone')).mockResolvedValue(undefined);
  const worker = startWorker({ name: 'flaky', intervalMs: 1, logger, clock, runOnce });
  await vi.waitUntil(() => runOnce.mock.calls.length >= 2, 10_000);
  await worker[Symbol.asyncDispose]();
  expect(logged.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({
      level: 'error',
      worker: 'flaky',
      err: expect.objectContaining({ message: 'database gone' }),
    }),
  ]);
  expect(await metrics.metrics()).toMatch(/laurel_worker_runs_total\{worker="flaky",outcome="error"\} 1/);
});

test('the metrics contain both outcomes of a worker before its first run completes', async () => {
  const entered = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const runOnce = async () => {
    entered.resolve();
    await release.promise;
  };
  const worker = startWorker({ name: 'hourly', intervalMs: 3_600_000, logger, clock, runOnce });
  await entered.promise;
  const page = await metrics.metrics();
  expect(page).toMatch(/laurel_worker_runs_total\{worker="hourly",outcome="ok"\} 0/);
  expect(page).toMatch(/laurel_worker_runs_total\{worker="hourly",outcome="error"\} 0/);
  release.resolve();
  await worker[Symbol.asyncDispose]();
});
