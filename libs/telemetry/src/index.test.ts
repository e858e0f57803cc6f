import { createCoalescer } from '@laurel/coalesce';
import { asService } from '@laurel/topology/current-service';
import { expect, onTestFinished, test } from 'vitest';
import { counter, gauge, histogram, metrics, publishOldestWaits, renderMetrics, setServiceLabel } from './index.ts';

test('later calls with the name of a metric return the same metric', () => {
  expect(counter('laurel_test_total', 'Things.')).toBe(counter('laurel_test_total', 'Things.'));
  expect(gauge('laurel_test_depth', 'Depth.', ['queue'])).toBe(gauge('laurel_test_depth', 'Depth.', ['queue']));
  expect(histogram('laurel_test_size', 'Sizes.', [1, 10])).toBe(histogram('laurel_test_size', 'Sizes.', [1, 10]));
});

test('the metrics page labels every metric with the service', async () => {
  setServiceLabel('wallet');
  // All files of this worker share the registry.
  onTestFinished(() => metrics.setDefaultLabels({}));
  counter('laurel_test_calls_total', 'Calls.', ['outcome']).inc({ outcome: 'ok' });
  const page = await metrics.metrics();
  expect(page).toContain('laurel_test_calls_total{outcome="ok",service="wallet"} 1');
  expect(page).toMatch(/nodejs_eventloop_lag_seconds\{service="wallet"\}/);
});

test('services that share a process have their own metrics on one page', async () => {
  const count = (by: number) => {
    publishOldestWaits();
    createCoalescer({ name: `test-${by}`, run: async (items) => items });
    counter('laurel_test_shared_total', 'Shared.', ['outcome']).inc({ outcome: 'ok' }, by);
  };
  asService('wallet', () => count(1));
  await asService('challenge', async () => {
    await new Promise(setImmediate);
    count(2);
  });
  count(4);
  const { page } = await renderMetrics();
  const shared = page.split('\n').filter((line) => line.includes('laurel_test_shared_total'));
  expect(shared).toEqual([
    '# HELP laurel_test_shared_total Shared.',
    '# TYPE laurel_test_shared_total counter',
    'laurel_test_shared_total{outcome="ok"} 4',
    'laurel_test_shared_total{outcome="ok",service="wallet"} 1',
    'laurel_test_shared_total{outcome="ok",service="challenge"} 2',
  ]);
  const waits = page.split('\n').filter((line) => /^laurel_oldest_waiting_call_seconds.*test-/.test(line));
  expect(waits).toEqual([
    'laurel_oldest_waiting_call_seconds{queue="test-4"} 0',
    'laurel_oldest_waiting_call_seconds{queue="test-1",service="wallet"} 0',
    'laurel_oldest_waiting_call_seconds{queue="test-2",service="challenge"} 0',
  ]);
  expect(page.match(/^# HELP nodejs_version_info/gm)).toHaveLength(1);
});

test('the event loop utilization covers the time since the last scrape', async () => {
  const readUtilization = async () =>
    Number(/^laurel_event_loop_utilization\S* (\S+)/m.exec(await metrics.metrics())?.[1] ?? Number.NaN);
  await readUtilization();
  const until = performance.now() + 50;
  while (performance.now() < until);
  // The loop counts a turn once it has finished it.
  await new Promise(setImmediate);
  const busy = await readUtilization();
  expect(busy).toBeGreaterThan(0.5);
  expect(busy).toBeLessThanOrEqual(1);
});

test('no Node metric uses a timer that would wake an idle process', async () => {
  expect(await metrics.metrics()).not.toMatch(/nodejs_eventloop_lag_\w+_seconds/);
});
