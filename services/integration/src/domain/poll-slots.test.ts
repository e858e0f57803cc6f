import type { Environment } from '@laurel/values/tenant';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPollSlots, type DuePoll, type PollSlots } from './poll-slots.ts';

const due = (integrationId: string, origin = integrationId, environment: Environment = 'live'): DuePoll => ({
  integrationId,
  origin,
  tenant: { programId: 'p', environment },
});
const many = (count: number, origin: (index: number) => string, name = 'i') =>
  Array.from({ length: count }, (_, index) => due(`${name}${index}`, origin(index)));
const originsOf = (allocated: readonly DuePoll[]) => allocated.map(({ origin }) => origin);

/** Polls each origin once, so that its health becomes known. */
function learn(slots: PollSlots, origins: readonly string[], durationMs: number): void {
  for (const origin of origins) {
    slots.setWaiting([due(`learn ${origin}`, origin)]);
    for (const allocated of slots.allocate()) slots.release(allocated, durationMs);
  }
}

describe('the slots of polls', () => {
  it('an origin gets at most its share of the slots, so that the origins behind it get their shares', () => {
    const slots = createPollSlots({ polls: 8, pollsPerOrigin: 2 });
    slots.setWaiting([...many(10, () => 'one', 'a'), ...many(3, () => 'other', 'b')]);
    expect(originsOf(slots.allocate())).toEqual(['one', 'one', 'other', 'other']);
    expect(slots.waiting).toBe(9);
  });

  it('slow origins hold at most half of the slots, however many are due', () => {
    const slots = createPollSlots({ polls: 8, pollsPerOrigin: 2 });
    const dead = many(20, (index) => `dead${index}`, 'd');
    learn(
      slots,
      dead.map(({ origin }) => origin),
      10_000,
    );
    learn(slots, ['prompt'], 10);
    slots.setWaiting([...dead, due('p', 'prompt')]);
    expect(originsOf(slots.allocate())).toEqual(['dead0', 'dead1', 'dead2', 'dead3', 'prompt']);
  });

  it('origins that were never polled leave an eighth of the slots to prompt ones', () => {
    const slots = createPollSlots({ polls: 8, pollsPerOrigin: 2 });
    learn(slots, ['prompt'], 10);
    slots.setWaiting([...many(20, (index) => `new${index}`), due('p', 'prompt')]);
    const allocated = slots.allocate();
    expect(allocated).toHaveLength(8);
    expect(allocated.at(-1)?.origin).toBe('prompt');
  });

  it('test polls hold at most half of the slots, however many test polls are due', () => {
    const slots = createPollSlots({ polls: 8, pollsPerOrigin: 2 });
    const flood = Array.from({ length: 50 }, (_, index) => due(`t${index}`, `origin${index}`, 'test'));
    slots.setWaiting([...flood, due('l', 'game')]);
    const allocated = slots.allocate();
    expect(allocated.map(({ tenant }) => tenant.environment)).toEqual(['live', 'test', 'test', 'test', 'test']);
    for (const ended of allocated) slots.release(ended, 10);
    slots.setWaiting([...flood, ...many(3, (index) => `game${index}`)]);
    expect(slots.allocate().map(({ tenant }) => tenant.environment)).toEqual([
      ...Array(3).fill('live'),
      ...Array(4).fill('test'),
    ]);
  });

  it('slow test polls of an origin do not affect its live polls', () => {
    const slots = createPollSlots({ polls: 8, pollsPerOrigin: 2 });
    learn(slots, ['game'], 10);
    const flood = Array.from({ length: 9 }, (_, index) => due(`t${index}`, 'game', 'test'));
    slots.setWaiting(flood);
    const [slow, ...others] = slots.allocate();
    if (slow === undefined) throw new Error('no slot');
    expect(others).toHaveLength(1);
    slots.release(slow, 10_000);
    slots.setWaiting([...many(3, () => 'game'), ...many(6, (index) => `new${index}`, 'n')]);
    expect(originsOf(slots.allocate()).slice(0, 2)).toEqual(['game', 'game']);
  });

  it('a single slot is enough to poll every origin', () => {
    const slots = createPollSlots({ polls: 1, pollsPerOrigin: 1 });
    slots.setWaiting(many(3, (index) => `o${index}`));
    for (let round = 0; round < 3; round += 1) {
      const [allocated, ...others] = slots.allocate();
      expect(others).toEqual([]);
      if (allocated === undefined) throw new Error('no slot');
      slots.release(allocated, 10_000);
    }
    expect(slots.waiting).toBe(0);
  });

  it('no limit of the slots is exceeded, and no integration is polled twice at once', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('due' as const), of: fc.array(fc.nat(30), { maxLength: 30 }) }),
      fc.record({ kind: fc.constant('allocate' as const) }),
      fc.record({ kind: fc.constant('end' as const), at: fc.nat(), durationMs: fc.constantFrom(5, 10_000, null) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 12 }), (steps, polls) => {
        const slots = createPollSlots({ polls, pollsPerOrigin: 2 });
        const flying: DuePoll[] = [];
        for (const next of steps) {
          if (next.kind === 'due')
            slots.setWaiting(
              next.of.map((index) => due(`i${index}`, `o${index % 7}`, index % 2 === 0 ? 'live' : 'test')),
            );
          if (next.kind === 'allocate') flying.push(...slots.allocate());
          if (next.kind === 'end' && flying.length > 0) {
            const [ended] = flying.splice(next.at % flying.length, 1);
            if (ended === undefined) throw new Error('none');
            if (next.durationMs === null) slots.releaseUnused(ended);
            else slots.release(ended, next.durationMs);
          }
          expect(slots.inFlight).toBe(flying.length);
          expect(flying.length).toBeLessThanOrEqual(polls);
          expect(new Set(flying.map(({ integrationId }) => integrationId)).size).toBe(flying.length);
          const perOrigin = Map.groupBy(flying, ({ origin, tenant }) => `${tenant.environment} ${origin}`);
          const ofTest = flying.filter(({ tenant }) => tenant.environment === 'test');
          expect(ofTest.length).toBeLessThanOrEqual(Math.max(1, Math.floor(polls / 2)));
          for (const held of perOrigin.values()) expect(held.length).toBeLessThanOrEqual(2);
        }
        for (const ended of flying) slots.release(ended, 5);
        expect(slots.inFlight).toBe(0);
        const origins = Array.from({ length: 7 }, (_, index) => `o${index}`);
        learn(slots, origins, 5);
        slots.setWaiting(many(20, (index) => `o${index % 7}`));
        expect(slots.allocate()).toHaveLength(polls);
      }),
    );
  });
});
