import { expect, test } from 'vitest';
import { counter, gauge, histogram, metrics, setServiceLabel } from './index.ts';

test('a metric is made once, and every later call of its name gets the same one', () => {
  expect(counter('laurel_test_total', 'Things.')).toBe(counter('laurel_test_total', 'Things.'));
  expect(gauge('laurel_test_depth', 'Depth.', ['queue'])).toBe(gauge('laurel_test_depth', 'Depth.', ['queue']));
  expect(histogram('laurel_test_size', 'Sizes.', [1, 10])).toBe(histogram('laurel_test_size', 'Sizes.', [1, 10]));
});

test('the metrics page labels every metric with the service, and includes those of Node', async () => {
  setServiceLabel('wallet');
  counter('laurel_test_calls_total', 'Calls.', ['outcome']).inc({ outcome: 'ok' });
  const page = await metrics.metrics();
  expect(page).toContain('laurel_test_calls_total{outcome="ok",service="wallet"} 1');
  expect(page).toMatch(/nodejs_eventloop_lag_seconds\{service="wallet"\}/);
});
