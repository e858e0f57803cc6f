import { status } from '@grpc/grpc-js';
import { metrics } from '@laurel/telemetry';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Breaker, createBreaker } from './breaker.ts';
import { CallFailedError, UnavailableError } from './error-mapping.ts';

const CLIENT = 'breaker-test';
let breaker: Breaker;

beforeEach(() => {
  vi.useFakeTimers();
  breaker = createBreaker(CLIENT, {});
});
afterEach(() => {
  breaker.shutdown();
  vi.useRealTimers();
});

const isShownOpen = async () => {
  const { values = [] } = (await metrics.getSingleMetric('laurel_breaker_open')?.get()) ?? {};
  return values.find(({ labels }) => labels.client === CLIENT)?.value;
};

/** The service is down; returns what the caller gets. */
const fail = () =>
  breaker
    .fire(() => Promise.reject(new CallFailedError('away', { code: status.UNAVAILABLE, definite: false })))
    .catch((error: unknown) => error);
const succeed = () => breaker.fire(async () => 'answer');

async function open(): Promise<void> {
  for (let call = 0; call < 20; call += 1) await fail();
  expect(await fail()).toBeInstanceOf(UnavailableError);
}

test('the metric shows a breaker as open from the first failures until a call succeeds', async () => {
  expect(await isShownOpen()).toBe(0);
  await open();
  // Two minutes of load: a probe a second fails, and the calls in between are not sent.
  for (let call = 0; call < 480; call += 1) {
    vi.advanceTimersByTime(250);
    await fail();
    expect(await isShownOpen()).toBe(1);
  }
  vi.advanceTimersByTime(1_000);
  expect(await isShownOpen()).toBe(1);
  expect(await succeed()).toBe('answer');
  expect(await isShownOpen()).toBe(0);
  vi.advanceTimersByTime(120_000);
  expect(await isShownOpen()).toBe(0);
});

test('the metric shows a breaker without calls as open for at most half a minute', async () => {
  await open();
  vi.advanceTimersByTime(30_999);
  expect(await isShownOpen()).toBe(1);
  vi.advanceTimersByTime(1);
  expect(await isShownOpen()).toBe(0);

  // The service is still down: the probe opens the breaker again.
  expect(await fail()).not.toBeInstanceOf(UnavailableError);
  expect(await isShownOpen()).toBe(1);
  expect(await fail()).toBeInstanceOf(UnavailableError);
});

test('the metric shows a breaker as open while its probe is under way', async () => {
  await open();
  vi.advanceTimersByTime(20_000);
  const answer = Promise.withResolvers<string>();
  const probe = breaker.fire(() => answer.promise);
  vi.advanceTimersByTime(60_000);
  expect(await fail()).toBeInstanceOf(UnavailableError);
  expect(await isShownOpen()).toBe(1);
  answer.resolve('answer');
  expect(await probe).toBe('answer');
  expect(await isShownOpen()).toBe(0);
});
