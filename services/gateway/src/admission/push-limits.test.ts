import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPushLimits, type PushAdmission, type PushCost } from './push-limits.ts';

const KIB = 1_024;
const LARGEST = 256 * KIB;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

interface Limits {
  readonly perIntegration?: number;
  readonly perAddress?: number;
  readonly maxInFlight?: number;
  readonly unknownBytesPerSecond?: number;
  readonly testBytesPerSecond?: number;
}

function start(limits: Limits = {}) {
  const clock = { now: 5 * MINUTE_MS + 15_000 };
  const { perIntegration = 1_000, perAddress = 1_000_000, maxInFlight = 1_000_000 } = limits;
  const { unknownBytesPerSecond = Number.MAX_SAFE_INTEGER, testBytesPerSecond = 1_000_000_000 } = limits;
  const pushLimits = createPushLimits({
    perIntegration,
    perAddress,
    maxInFlight,
    unknownBytesPerSecond,
    bytesPerSecond: { live: 1_000_000_000, test: testBytesPerSecond },
    now: () => clock.now,
  });
  const push = (integrationId: string, network: string, times = 1, bytes = 0) => {
    const admissions = Array.from({ length: times }, () => pushLimits.admit(integrationId, network, bytes));
    return admissions.at(-1) as PushAdmission;
  };
  /** Sends one push and finds its signature valid, which makes its network known. */
  const sign = (integrationId: string, network: string, bytes = 0, cost: PushCost | null = null) => {
    const admission = push(integrationId, network, 1, bytes);
    if (admission.kind !== 'admitted') throw new Error('the signed push was not admitted');
    admission.makeKnown(cost);
    admission.release();
  };
  return { clock, push, sign };
}
const kindOf = ({ kind }: PushAdmission) => kind;
const networks = (count: number) => Array.from({ length: count }, (_, index) => `foreign ${index}`);

test('an unknown network may send a tenth of an integration’s pushes per minute', () => {
  const { clock, push } = start({ perIntegration: 30 });
  expect(kindOf(push('one', 'a', 3))).toBe('admitted');
  const resetAt = new Date(6 * MINUTE_MS);
  expect(push('one', 'a')).toEqual({ kind: 'limited', limit: 3, retryAfterSeconds: 45, resetAt });
  expect(kindOf(push('two', 'a'))).toBe('admitted');
  clock.now = 6 * MINUTE_MS;
  expect(kindOf(push('one', 'a'))).toBe('admitted');
});

test('all unknown networks share one limit of pushes per minute for an integration', () => {
  const { push } = start({ perIntegration: 30 });
  expect(networks(10).map((network) => kindOf(push('one', network, 3)))).toEqual(Array(10).fill('admitted'));
  expect(push('one', 'another')).toMatchObject({ kind: 'limited', limit: 30 });
  expect(kindOf(push('two', 'another'))).toBe('admitted');
});

test('the known networks of an integration share a separate limit of pushes per minute', () => {
  const { push, sign } = start({ perIntegration: 30 });
  for (const network of ['server 1', 'server 2']) sign('one', network);
  expect([push('one', 'server 1', 10), push('one', 'server 2', 20)].map(kindOf)).toEqual(['admitted', 'admitted']);
  expect(push('one', 'server 1')).toMatchObject({ kind: 'limited', limit: 30 });
});

test('a known network is admitted as if it were the only one, whatever other networks push', () => {
  const limits = { perIntegration: 20, perAddress: 50, maxInFlight: 12, unknownBytesPerSecond: 1_024 * KIB };
  const events = fc.array(fc.constantFrom('partner', 'release', ...networks(40)), { maxLength: 400 });
  fc.assert(
    fc.property(events, (sequence) => {
      const admissionsOf = (isAlone: boolean) => {
        const { push, sign } = start(limits);
        sign('one', 'partner');
        const underWay: (() => void)[] = [];
        const admissions: unknown[] = [];
        for (const event of sequence) {
          if (event === 'release') underWay.pop()?.();
          else if (event !== 'partner') isAlone || push('one', event);
          else {
            const admission = push('one', 'partner');
            if (admission.kind === 'admitted') underWay.push(admission.release);
            admissions.push(admission.kind === 'admitted' ? 'admitted' : admission);
          }
        }
        return admissions;
      };
      expect(admissionsOf(false)).toEqual(admissionsOf(true));
    }),
  );
});

test('any network’s first push is admitted, however often another network pushes', () => {
  const limits = fc.record({
    perIntegration: fc.integer({ min: 2 }),
    maxInFlight: fc.integer({ min: 2, max: 200 }),
    unknownBytesPerSecond: fc.integer({ min: 1_024 * KIB, max: 8_192 * KIB }),
  });
  fc.assert(
    fc.property(limits, fc.integer({ min: 1, max: 500 }), fc.nat(LARGEST), (some, times, bytes) => {
      const { push, sign } = start(some);
      push('one', 'flood', times, bytes);
      sign('one', 'partner', LARGEST);
      expect(push('one', 'partner')).toMatchObject({ kind: 'admitted', isKnown: true });
    }),
  );
});

test('a network stays known to an integration for an hour after its last valid signature', () => {
  const { clock, push, sign } = start();
  const isKnown = (integrationId: string, network: string) => {
    const admission = push(integrationId, network);
    return admission.kind === 'admitted' && admission.isKnown;
  };
  sign('one', 'a');
  expect([isKnown('one', 'a'), isKnown('two', 'a'), isKnown('one', 'b')]).toEqual([true, false, false]);
  clock.now += HOUR_MS - 1;
  sign('one', 'a');
  clock.now += HOUR_MS - 1;
  expect(isKnown('one', 'a')).toBe(true);
  clock.now += 1;
  expect(isKnown('one', 'a')).toBe(false);
});

test('pushes beyond the limit of their address do not count for the integration', () => {
  const { push, sign } = start({ perIntegration: 4, perAddress: 2 });
  sign('one', 'partner');
  expect([push('one', 'partner'), push('one', 'partner')].map(kindOf)).toEqual(['admitted', 'limited']);
  expect(push('one', 'partner', 100)).toMatchObject({ kind: 'limited', limit: 2 });
  sign('one', 'server');
  expect(kindOf(push('one', 'server'))).toBe('admitted');
});

test('an integration has a limited number of pushes under way from known networks', () => {
  const { clock, push, sign } = start({ maxInFlight: 2 });
  sign('one', 'a');
  sign('two', 'a');
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

test('one unknown network may have two thirds of the pushes under way that all unknown networks together may have', () => {
  const { push, sign } = start({ maxInFlight: 6 });
  sign('one', 'partner');
  expect(kindOf(push('one', 'a', 4))).toBe('admitted');
  expect(push('one', 'a')).toMatchObject({ kind: 'limited', limit: 4, retryAfterSeconds: 1 });
  expect(push('two', 'a')).toMatchObject({ kind: 'limited', limit: 4 });
  expect(kindOf(push('one', 'b', 2))).toBe('admitted');
  expect(push('one', 'b')).toMatchObject({ kind: 'limited', limit: 6 });
  expect(kindOf(push('one', 'partner', 6))).toBe('admitted');
});

test('too many integrations never evict a network that a valid signature made known', () => {
  const { push, sign } = start({ perIntegration: 1 });
  push('one', 'a');
  expect(kindOf(push('one', 'a'))).toBe('limited');
  sign('two', 'partner');
  for (let index = 0; index < 10_000; index += 1) push(`unknown ${index}`, 'a');
  expect(kindOf(push('one', 'a'))).toBe('admitted');
  expect(push('two', 'partner')).toMatchObject({ kind: 'admitted', isKnown: true });
  expect(push('two', 'partner')).toMatchObject({ kind: 'limited', limit: 1 });
});

const costOf = (programId: string, environment: 'test' | 'live', extraCostBytes = 0): PushCost => ({
  tenant: { programId, environment },
  extraCostBytes,
});

test('the test pushes of a program share one limit of bytes per second over all its integrations', () => {
  const { clock, push, sign } = start({ testBytesPerSecond: 100 * KIB });
  sign('one', 'a', 49 * KIB, costOf('p', 'test'));
  sign('two', 'a', 49 * KIB, costOf('p', 'test'));
  sign('live', 'a', 0, costOf('p', 'live'));
  sign('other', 'a', 0, costOf('q', 'test'));
  expect(kindOf(push('one', 'a', 1, 99 * KIB))).toBe('admitted');
  const resetAt = new Date(clock.now + 1_000);
  expect(push('two', 'b', 1, 99 * KIB)).toEqual({ kind: 'limited', limit: 100 * KIB, retryAfterSeconds: 1, resetAt });
  for (const integrationId of ['live', 'other']) expect(kindOf(push(integrationId, 'a', 1, 99 * KIB))).toBe('admitted');
  clock.now += 1_000;
  expect(kindOf(push('two', 'a', 1, 99 * KIB))).toBe('admitted');
});

test('the extra cost of reading a push is charged after the response', () => {
  const { clock, push, sign } = start({ testBytesPerSecond: 100 * KIB });
  sign('one', 'a', 0, costOf('p', 'test', 499 * KIB));
  expect(push('one', 'a')).toMatchObject({ kind: 'limited', retryAfterSeconds: 4 });
  clock.now += 4_000;
  expect(kindOf(push('one', 'a'))).toBe('admitted');
});

test('a small push counts as a KiB', () => {
  const { push, sign } = start({ testBytesPerSecond: 50 * KIB });
  sign('one', 'a', 0, costOf('p', 'test'));
  expect(kindOf(push('one', 'a', 99))).toBe('admitted');
  expect(push('one', 'a')).toMatchObject({ kind: 'limited', limit: 50 * KIB });
});

test('an integration’s environment is known for every network after the first valid signature', () => {
  const { push, sign } = start();
  expect(push('one', 'a')).toMatchObject({ environment: null });
  sign('one', 'a', 0, costOf('p', 'test'));
  expect([push('one', 'a'), push('one', 'b')]).toMatchObject([{ environment: 'test' }, { environment: 'test' }]);
});
