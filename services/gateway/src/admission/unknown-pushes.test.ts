import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createUnknownPushes } from './unknown-pushes.ts';

const KIB = 1_024;
const LARGEST = 256 * KIB;
const PUSH = 16 * KIB;
const PER_SECOND = 2_048 * KIB;
const SECOND_MS = 1_000;
const FIRST_EVERY_MS = 30_000;

function start(bytesPerSecond = PER_SECOND) {
  const unknownPushes = createUnknownPushes(bytesPerSecond);
  const clock = { now: 1_000_000 };
  /** The refusal of a push; null if the push was admitted. */
  const refusal = (integrationId: string, network: string, bytes: number) => {
    const push = { integrationId, network, bytes };
    const wait = unknownPushes.waitFor(push, clock.now);
    if (wait === null) unknownPushes.take(push, clock.now);
    return wait;
  };
  const isAdmitted = (...push: Parameters<typeof refusal>) => refusal(...push) === null;
  /** How many of `times` pushes are admitted. */
  const admitted = (times: number, ...push: Parameters<typeof refusal>) =>
    Array.from({ length: times }, () => isAdmitted(...push)).filter(Boolean).length;
  return { clock, refusal, isAdmitted, admitted };
}
const networks = (count: number) => Array.from({ length: count }, (_, index) => `network ${index}`);

describe('the bytes that one network pushes', () => {
  test('one network may push a quarter of the bytes per second to one integration', () => {
    const { clock, admitted, refusal } = start();
    expect(admitted(100, 'one', 'a', LARGEST)).toBe(3);
    clock.now += SECOND_MS;
    expect(admitted(100, 'one', 'a', LARGEST)).toBe(2);
    clock.now += 60 * SECOND_MS;
    expect(admitted(100, 'one', 'a', LARGEST)).toBe(3);
    expect(refusal('one', 'a', LARGEST)).toEqual({ bytesPerSecond: PER_SECOND / 4, waitMs: 125 });
    clock.now += 124;
    expect(admitted(1, 'one', 'a', LARGEST)).toBe(0);
    clock.now += 1;
    expect(admitted(1, 'one', 'a', LARGEST)).toBe(1);
  });

  test('one network may push half of the bytes per second to several integrations', () => {
    const { admitted, refusal } = start();
    expect(['one', 'two', 'three'].map((id) => admitted(100, id, 'a', LARGEST))).toEqual([3, 3, 1]);
    expect(refusal('four', 'a', LARGEST)).toMatchObject({ bytesPerSecond: PER_SECOND / 2 });
  });

  test('one network may push 64 empty bodies at once', () => {
    const { admitted } = start();
    expect(admitted(100, 'one', 'a', 0)).toBe(64);
    expect(admitted(3, 'two', 'a', LARGEST)).toBe(3);
    expect(admitted(100, 'two', 'a', PUSH)).toBe(6);
  });
});

test('many networks that flood one integration get at most half of the bytes for first pushes and half for later ones', () => {
  const { clock, isAdmitted } = start();
  const admissions: string[] = [];
  const seconds = 25;
  for (let tenths = 0; tenths < seconds * 10; tenths += 1) {
    for (const network of networks(200)) if (isAdmitted('one', network, LARGEST)) admissions.push(network);
    clock.now += SECOND_MS / 10;
  }
  const first = new Set(admissions).size;
  const mostOfEach = ((seconds + 2) * PER_SECOND) / 2 / (LARGEST + PUSH);
  expect(first).toBeLessThanOrEqual(mostOfEach);
  expect(admissions.length - first).toBeLessThanOrEqual(mostOfEach);
});

test('any network’s first push is admitted at once, whatever six other networks push', () => {
  const push = fc.record({
    integrationId: fc.constantFrom('one', 'two', 'three'),
    network: fc.constantFrom(...networks(6)),
    bytes: fc.nat(LARGEST),
    afterMs: fc.nat(50),
  });
  fc.assert(
    fc.property(fc.array(push, { maxLength: 500 }), fc.constantFrom('one', 'four'), (flood, integrationId) => {
      const { clock, refusal } = start();
      for (const { integrationId: flooded, network, bytes, afterMs } of flood) {
        refusal(flooded, network, bytes);
        clock.now += afterMs;
      }
      expect(refusal(integrationId, 'partner', LARGEST)).toBeNull();
    }),
  );
});

test('a network that tries every second is admitted within half a minute, whatever a hundred others push', () => {
  fc.assert(
    fc.property(fc.nat(60 * 10), fc.nat(LARGEST), (tenthsBefore, bytes) => {
      const { clock, isAdmitted } = start();
      const flood = () => {
        for (const network of networks(100)) while (isAdmitted('one', network, bytes));
        clock.now += SECOND_MS / 10;
      };
      for (let tenths = 0; tenths < tenthsBefore; tenths += 1) flood();
      const triedAt = clock.now;
      for (let tenths = 0; tenths % 10 !== 0 || !isAdmitted('one', 'partner', LARGEST); tenths += 1) {
        flood();
        expect(clock.now - triedAt).toBeLessThanOrEqual(FIRST_EVERY_MS);
      }
    }),
    { numRuns: 30 },
  );
});

test('an admitted network does not count as new again for half a minute', () => {
  const isAdmittedAgain = (afterMs: number) => {
    const { clock, isAdmitted } = start();
    expect(isAdmitted('one', 'partner', LARGEST)).toBe(true);
    for (const network of networks(20)) isAdmitted('one', network, LARGEST);
    clock.now += afterMs;
    for (const network of networks(20)) while (isAdmitted('one', network, 0));
    return isAdmitted('one', 'partner', LARGEST);
  };
  expect([10 * SECOND_MS, FIRST_EVERY_MS - 1, FIRST_EVERY_MS].map(isAdmittedAgain)).toEqual([false, false, true]);
});

test('the process admits at most twice its limit of bytes per second, from any number of networks', () => {
  const push = fc.record({
    integrationId: fc.nat(40).map(String),
    network: fc.nat(400).map(String),
    bytes: fc.nat(LARGEST),
    afterMs: fc.nat(20),
  });
  fc.assert(
    fc.property(fc.array(push, { maxLength: 600, size: 'max' }), (flood) => {
      const { clock, isAdmitted } = start(1_024 * KIB);
      const began = clock.now;
      let taken = 0;
      for (const { integrationId, network, bytes, afterMs } of flood) {
        clock.now += afterMs;
        if (isAdmitted(integrationId, network, bytes)) taken += bytes + PUSH;
      }
      expect(taken).toBeLessThanOrEqual(2 * 1_024 * KIB * (2 + (clock.now - began) / SECOND_MS));
    }),
  );
});
