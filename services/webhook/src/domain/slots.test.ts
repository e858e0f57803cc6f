import type { KnownHealth } from '@laurel/untrusted-url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_ENDPOINTS } from './endpoint.ts';
import { type Allocation, createSlots, healthAfter, type Slots } from './slots.ts';

const LIMITS = { sends: 128, sendsPerEndpoint: 4 };

test.each([
  [true, 0, 'proven'],
  [true, 999.9, 'proven'],
  [true, 1_000, 'slow'],
  [false, 0, 'failing'],
  [false, 5_000, 'failing'],
] as const)('an endpoint whose last send succeeded (%s) after %d ms is %s', (isSuccess, durationMs, health) => {
  expect(healthAfter({ isSuccess, durationMs })).toBe(health);
});

const idsOf = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name}-${index}`);
const slotsOf = (allocations: readonly Allocation[]) =>
  allocations.reduce((sum, allocation) => sum + allocation.slots, 0);
const useAll = ({ slots }: Allocation) => ({ used: slots, isDrained: false });

/** Ends one send of each endpoint with this health. */
function setHealth(slots: Slots, endpointIds: readonly string[], health: KnownHealth): void {
  for (const endpointId of endpointIds) {
    slots.enqueue(endpointId);
    slots.releaseUnused(slots.allocate(), () => ({ used: 1, isDrained: true }));
    slots.release(endpointId, health);
  }
}

function enqueue(slots: Slots, endpointIds: readonly string[]): void {
  for (const endpointId of endpointIds) slots.enqueue(endpointId);
}

describe('slots of the dispatcher', () => {
  test('slots are allocated in turn, at most four to a proven endpoint', () => {
    const slots = createSlots({ sends: 10, sendsPerEndpoint: 4 });
    setHealth(slots, ['a', 'b', 'c'], 'proven');
    enqueue(slots, ['a', 'b', 'c']);
    expect(slots.allocate()).toEqual([
      { endpointId: 'a', slots: 4 },
      { endpointId: 'b', slots: 3 },
      { endpointId: 'c', slots: 3 },
    ]);
    expect(slots.allocate()).toEqual([]);
  });

  test('busy endpoints of one developer leave slots for an endpoint of another developer', () => {
    const slots = createSlots(LIMITS);
    const flood = idsOf('flood', MAX_ENDPOINTS);
    setHealth(slots, flood, 'proven');
    enqueue(slots, flood);
    slots.releaseUnused(slots.allocate(), useAll);
    expect(slots.inFlight).toBe(4 * MAX_ENDPOINTS);
    enqueue(slots, ['live']);
    expect(slots.allocate()).toEqual([{ endpointId: 'live', slots: 1 }]);
  });

  test('a slot that was allocated but not used is free again', () => {
    const slots = createSlots(LIMITS);
    enqueue(slots, ['a', 'b']);
    const allocations = slots.allocate();
    expect(allocations).toEqual([
      { endpointId: 'a', slots: 1 },
      { endpointId: 'b', slots: 1 },
    ]);
    slots.enqueue('b');
    slots.releaseUnused(allocations, () => ({ used: 0, isDrained: true }));
    expect([slots.inFlight, slots.queued]).toEqual([0, 1]);
    expect(slots.allocate()).toEqual([{ endpointId: 'b', slots: 1 }]);
  });

  test('untried endpoints of a new process leave slots for healthy ones, however many are dead', () => {
    const slots = createSlots(LIMITS);
    const dead = idsOf('dead', 1_000);
    enqueue(slots, [...dead, 'healthy']);
    // Every endpoint is untried: together they hold all but an eighth, and the first failures of
    // dead endpoints free half of all slots.
    const first = slots.allocate();
    expect(slotsOf(first)).toBe(112);
    slots.releaseUnused(first, useAll);
    for (const { endpointId } of first) slots.release(endpointId, 'failing');
    const second = slots.allocate();
    expect(slotsOf(second)).toBe(112);
    slots.releaseUnused(second, useAll);
  });

  test('slots held by dead endpoints do not keep a new endpoint from its first send', () => {
    const slots = createSlots(LIMITS);
    const dead = idsOf('dead', 500);
    setHealth(slots, dead, 'failing');
    enqueue(slots, dead);
    const allocations = slots.allocate();
    expect(slotsOf(allocations)).toBe(64);
    slots.releaseUnused(allocations, useAll);
    slots.enqueue('new');
    expect(slots.allocate()).toEqual([{ endpointId: 'new', slots: 1 }]);
  });

  test('slow endpoints leave half of all slots to the others', () => {
    const slots = createSlots(LIMITS);
    const slow = idsOf('slow', 50);
    setHealth(slots, slow, 'slow');
    enqueue(slots, slow);
    const allocations = slots.allocate();
    expect(slotsOf(allocations)).toBe(64);
    expect(allocations.every((allocation) => allocation.slots === 1 || allocation.slots === 2)).toBe(true);
  });

  test('with a single slot the dispatcher sends one delivery after the other without a stop', () => {
    const slots = createSlots({ sends: 1, sendsPerEndpoint: 4 });
    enqueue(slots, ['a', 'b']);
    for (const endpointId of ['a', 'b', 'a', 'b']) {
      const allocations = slots.allocate();
      expect(allocations).toEqual([{ endpointId, slots: 1 }]);
      slots.releaseUnused(allocations, useAll);
      slots.release(endpointId, 'failing');
    }
  });
});

const ENDPOINTS = 12;
const endpoint = fc.nat(ENDPOINTS - 1);
const health = fc.constantFrom<KnownHealth>('proven', 'slow', 'failing');
const steps = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('enqueue' as const), endpoint }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('allocate' as const),
        due: fc.array(fc.nat(6), { minLength: ENDPOINTS, maxLength: ENDPOINTS }),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant('end' as const), which: fc.nat(), ended: health }),
    },
  ),
  { maxLength: 200 },
);
const limits = fc.record({ sends: fc.integer({ min: 1, max: 24 }), sendsPerEndpoint: fc.integer({ min: 1, max: 5 }) });

describe('properties of slots', () => {
  test('an allocation never exceeds a limit or withholds a free slot from a proven endpoint', () => {
    fc.assert(
      fc.property(limits, steps, (limit, history) => {
        const slots = createSlots(limit);
        const healths = new Map<string, KnownHealth>();
        const queued = new Set<string>();
        let inFlight: string[] = [];
        const healthOf = (id: string) => healths.get(id) ?? 'untried';
        const heldOf = (id: string) => inFlight.filter((held) => held === id).length;

        for (const step of history) {
          if (step.kind === 'enqueue') {
            slots.enqueue(`${step.endpoint}`);
            queued.add(`${step.endpoint}`);
          } else if (step.kind === 'end') {
            const id = inFlight[step.which % Math.max(1, inFlight.length)];
            if (id === undefined) continue;
            inFlight.splice(inFlight.indexOf(id), 1);
            healths.set(id, step.ended);
            slots.release(id, step.ended);
          } else {
            const allocations = slots.allocate();
            inFlight = [
              ...inFlight,
              ...allocations.flatMap((allocation) => Array<string>(allocation.slots).fill(allocation.endpointId)),
            ];
            expect(slots.inFlight).toBe(inFlight.length);
            expect(inFlight.length).toBeLessThanOrEqual(limit.sends);
            for (const { endpointId } of allocations) {
              expect(queued).toContain(endpointId);
              const health = healthOf(endpointId);
              const maxOwn = health === 'proven' || health === 'slow' ? limit.sendsPerEndpoint : 1;
              expect(heldOf(endpointId)).toBeLessThanOrEqual(maxOwn);
            }
            if (inFlight.length < limit.sends) {
              for (const id of queued) {
                if (healthOf(id) === 'proven') expect(heldOf(id)).toBeGreaterThanOrEqual(limit.sendsPerEndpoint);
              }
            }
            slots.releaseUnused(allocations, ({ endpointId, slots: allocated }) => {
              const used = Math.min(allocated, step.due[Number(endpointId)] ?? 0);
              for (let unused = used; unused < allocated; unused += 1) inFlight.splice(inFlight.indexOf(endpointId), 1);
              if (used < allocated) queued.delete(endpointId);
              return { used, isDrained: used < allocated };
            });
          }
          expect([slots.inFlight, slots.queued]).toEqual([inFlight.length, queued.size]);
        }
      }),
    );
  });

  test('every queued endpoint gets a slot within as many allocations as there are endpoints', () => {
    const ends = fc.infiniteStream(health);
    fc.assert(
      fc.property(limits, fc.integer({ min: 1, max: 60 }), ends, (limit, count, end) => {
        const slots = createSlots(limit);
        const unserved = new Set(idsOf('endpoint', count));
        enqueue(slots, [...unserved]);
        for (let turn = 0; turn < count; turn += 1) {
          const allocations = slots.allocate();
          slots.releaseUnused(allocations, useAll);
          for (const { endpointId, slots: allocated } of allocations) {
            unserved.delete(endpointId);
            for (let sent = 0; sent < allocated; sent += 1) {
              slots.release(endpointId, end.next().value);
            }
          }
        }
        expect([...unserved]).toEqual([]);
      }),
    );
  });
});
