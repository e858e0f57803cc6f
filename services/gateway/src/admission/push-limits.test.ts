import { expect, test } from 'vitest';
import { createPushLimits, type PushAdmission } from './push-limits.ts';

const MINUTE_MS = 60_000;

function start(limits: { perIntegration?: number; perAddress?: number; maxInFlight?: number } = {}) {
  const clock = { now: 5 * MINUTE_MS + 15_000 };
  const { perIntegration = 1_000, perAddress = 1_000, maxInFlight = 1_000 } = limits;
  const pushLimits = createPushLimits({ perIntegration, perAddress, maxInFlight, now: () => clock.now });
  const push = (integrationId: string, network: string, times = 1) => {
    const admissions = Array.from({ length: times }, () => pushLimits.admit(integrationId, network));
    return admissions.at(-1) as PushAdmission;
  };
  return { clock, push };
}
const kindOf = ({ kind }: PushAdmission) => kind;

test('pushes to an integration are counted by the minute, whichever addresses they come from', () => {
  const { clock, push } = start({ perIntegration: 3 });
  expect(['a', 'b', 'c'].map((network) => kindOf(push('one', network)))).toEqual(Array(3).fill('admitted'));
  const resetAt = new Date(6 * MINUTE_MS);
  expect(push('one', 'd')).toEqual({ kind: 'limited', limit: 3, retryAfterSeconds: 45, resetAt });
  expect(kindOf(push('two', 'd'))).toBe('admitted');
  clock.now = 6 * MINUTE_MS;
  expect(kindOf(push('one', 'd'))).toBe('admitted');
});

test('pushes of an address are counted by the minute, and beyond its limit do not count for the integration', () => {
  const { push } = start({ perIntegration: 3, perAddress: 2 });
  expect(kindOf(push('one', 'flood', 2))).toBe('admitted');
  expect(push('one', 'flood', 100)).toMatchObject({ kind: 'limited', limit: 2 });
  expect(kindOf(push('one', 'partner'))).toBe('admitted');
  expect(push('one', 'partner')).toMatchObject({ kind: 'limited', limit: 3 });
});

test('an integration has so many pushes under way, and gets room as they end, each once', () => {
  const { clock, push } = start({ maxInFlight: 2 });
  const first = push('one', 'a');
  push('one', 'a');
  const resetAt = new Date(clock.now + 1_000);
  expect(push('one', 'a')).toEqual({ kind: 'limited', limit: 2, retryAfterSeconds: 1, resetAt });
  expect(kindOf(push('two', 'a'))).toBe('admitted');
  if (first.kind === 'admitted') {
    first.release();
    first.release();
  }
  expect(kindOf(push('one', 'a'))).toBe('admitted');
  expect(kindOf(push('one', 'a'))).toBe('limited');
});

test('what is counted is bounded: more integrations than the table holds drop the oldest', () => {
  const { push } = start({ perIntegration: 1, perAddress: 1_000_000 });
  push('one', 'a');
  expect(kindOf(push('one', 'a'))).toBe('limited');
  for (let index = 0; index < 10_000; index += 1) push(`unknown ${index}`, 'a');
  expect(kindOf(push('one', 'a'))).toBe('admitted');
});
