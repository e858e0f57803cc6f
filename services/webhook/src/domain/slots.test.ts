import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSlots, type Ended, type Room, type Slots, type Standing, standingAfter } from './slots.ts';

const LIMITS = { sends: 128, sendsPerEndpoint: 4 };

test.each([
  [true, 0, 'proven'],
  [true, 999.9, 'proven'],
  [true, 1_000, 'slow'],
  [false, 0, 'failing'],
  [false, 5_000, 'failing'],
] as const)('an endpoint whose last send succeeded (%s) after %d ms is %s', (isSuccess, durationMs, standing) => {
  expect(standingAfter({ isSuccess, durationMs })).toBe(standing);
});

const idsOf = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name}-${index}`);
const placesOf = (rooms: readonly Room[]) => rooms.reduce((sum, { room }) => sum + room, 0);
const useAll = ({ room }: Room) => ({ used: room, isDrained: false });

/** One send of each endpoint has ended with this health. */
function makeStanding(slots: Slots, endpointIds: readonly string[], standing: Ended): void {
  for (const endpointId of endpointIds) {
    slots.enqueue(endpointId);
    slots.settle(slots.deal(), () => ({ used: 1, isDrained: true }));
    slots.free(endpointId, standing);
  }
}

function enqueue(slots: Slots, endpointIds: readonly string[]): void {
  for (const endpointId of endpointIds) slots.enqueue(endpointId);
}

describe('slots of the dispatcher', () => {
  test('slots are allocated in turn: four to each proven endpoint while there are enough, and evenly when there are not', () => {
    const slots = createSlots({ sends: 10, sendsPerEndpoint: 4 });
    makeStanding(slots, ['a', 'b', 'c'], 'proven');
    enqueue(slots, ['a', 'b', 'c']);
    expect(slots.deal()).toEqual([
      { endpointId: 'a', room: 4 },
      { endpointId: 'b', room: 3 },
      { endpointId: 'c', room: 3 },
    ]);
    expect(slots.deal()).toEqual([]);
  });

  test('unused slots are free again, and an endpoint with nothing due gets none until it is enqueued', () => {
    const slots = createSlots(LIMITS);
    enqueue(slots, ['a', 'b']);
    const dealt = slots.deal();
    expect(dealt).toEqual([
      { endpointId: 'a', room: 1 },
      { endpointId: 'b', room: 1 },
    ]);
    slots.enqueue('b');
    slots.settle(dealt, () => ({ used: 0, isDrained: true }));
    expect([slots.inFlight, slots.queued]).toEqual([0, 1]);
    expect(slots.deal()).toEqual([{ endpointId: 'b', room: 1 }]);
  });

  test('untried endpoints of a new process leave slots for healthy ones, however many of them are dead', () => {
    const slots = createSlots(LIMITS);
    const dead = idsOf('dead', 1_000);
    enqueue(slots, [...dead, 'healthy']);
    // Every endpoint is untried: together they hold all but an eighth, and the first failures of dead ones free half of all slots.
    const first = slots.deal();
    expect(placesOf(first)).toBe(112);
    slots.settle(first, useAll);
    for (const { endpointId } of first) slots.free(endpointId, 'failing');
    const second = slots.deal();
    expect(placesOf(second)).toBe(112);
    slots.settle(second, useAll);
  });

  test('slots held by dead endpoints do not keep a new endpoint from its first send', () => {
    const slots = createSlots(LIMITS);
    const dead = idsOf('dead', 500);
    makeStanding(slots, dead, 'failing');
    enqueue(slots, dead);
    const dealt = slots.deal();
    expect(placesOf(dealt)).toBe(64);
    slots.settle(dealt, useAll);
    slots.enqueue('new');
    expect(slots.deal()).toEqual([{ endpointId: 'new', room: 1 }]);
  });

  test('slow endpoints leave half of all slots to the others', () => {
    const slots = createSlots(LIMITS);
    const slow = idsOf('slow', 50);
    makeStanding(slots, slow, 'slow');
    enqueue(slots, slow);
    const dealt = slots.deal();
    expect(placesOf(dealt)).toBe(64);
    expect(dealt.every(({ room }) => room === 1 || room === 2)).toBe(true);
  });

  test('with a single slot there is always a next send', () => {
    const slots = createSlots({ sends: 1, sendsPerEndpoint: 4 });
    enqueue(slots, ['a', 'b']);
    for (const endpointId of ['a', 'b', 'a', 'b']) {
      const dealt = slots.deal();
      expect(dealt).toEqual([{ endpointId, room: 1 }]);
      slots.settle(dealt, useAll);
      slots.free(endpointId, 'failing');
    }
  });
});

const ENDPOINTS = 12;
const endpoint = fc.nat(ENDPOINTS - 1);
const standing = fc.constantFrom<Ended>('proven', 'slow', 'failing');
const steps = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('enqueue' as const), endpoint }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('deal' as const),
        due: fc.array(fc.nat(6), { minLength: ENDPOINTS, maxLength: ENDPOINTS }),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant('end' as const), which: fc.nat(), ended: standing }),
    },
  ),
  { maxLength: 200 },
);
const limits = fc.record({ sends: fc.integer({ min: 1, max: 24 }), sendsPerEndpoint: fc.integer({ min: 1, max: 5 }) });

describe('properties of slots', () => {
  test('an allocation never exceeds a limit, and never refuses a proven endpoint a free slot', () => {
    fc.assert(
      fc.property(limits, steps, (limit, history) => {
        const slots = createSlots(limit);
        const standings = new Map<string, Standing>();
        const queued = new Set<string>();
        let inFlight: string[] = [];
        const standingOf = (id: string) => standings.get(id) ?? 'untried';
        const heldBy = (...of: readonly Standing[]) => inFlight.filter((id) => of.includes(standingOf(id))).length;
        const heldOf = (id: string) => inFlight.filter((held) => held === id).length;

        for (const step of history) {
          if (step.kind === 'enqueue') {
            slots.enqueue(`${step.endpoint}`);
            queued.add(`${step.endpoint}`);
          } else if (step.kind === 'end') {
            const id = inFlight[step.which % Math.max(1, inFlight.length)];
            if (id === undefined) continue;
            inFlight.splice(inFlight.indexOf(id), 1);
            standings.set(id, step.ended);
            slots.free(id, step.ended);
          } else {
            const dealt = slots.deal();
            inFlight = [...inFlight, ...dealt.flatMap(({ endpointId, room }) => Array<string>(room).fill(endpointId))];
            expect(slots.inFlight).toBe(inFlight.length);
            expect(inFlight.length).toBeLessThanOrEqual(limit.sends);
            for (const { endpointId } of dealt) {
              expect(queued).toContain(endpointId);
              const standing = standingOf(endpointId);
              const maxOwn = standing === 'proven' || standing === 'slow' ? limit.sendsPerEndpoint : 1;
              expect(heldOf(endpointId)).toBeLessThanOrEqual(maxOwn);
              if (standing === 'failing' || standing === 'slow') {
                expect(heldBy('failing', 'slow')).toBeLessThanOrEqual(Math.max(1, limit.sends / 2));
              }
              if (standing !== 'proven') {
                expect(heldBy('failing', 'slow', 'untried')).toBeLessThanOrEqual(Math.max(1, (limit.sends * 7) / 8));
              }
            }
            if (inFlight.length < limit.sends) {
              for (const id of queued) {
                if (standingOf(id) === 'proven') expect(heldOf(id)).toBeGreaterThanOrEqual(limit.sendsPerEndpoint);
              }
            }
            slots.settle(dealt, ({ endpointId, room }) => {
              const used = Math.min(room, step.due[Number(endpointId)] ?? 0);
              for (let unused = used; unused < room; unused += 1) inFlight.splice(inFlight.indexOf(endpointId), 1);
              if (used < room) queued.delete(endpointId);
              return { used, isDrained: used < room };
            });
          }
          expect([slots.inFlight, slots.queued]).toEqual([inFlight.length, queued.size]);
        }
      }),
    );
  });

  test('while sends end, every endpoint gets a slot within as many allocations as there are endpoints', () => {
    const ends = fc.infiniteStream(standing);
    fc.assert(
      fc.property(limits, fc.integer({ min: 1, max: 60 }), ends, (limit, count, end) => {
        const slots = createSlots(limit);
        const unserved = new Set(idsOf('endpoint', count));
        enqueue(slots, [...unserved]);
        for (let turn = 0; turn < count; turn += 1) {
          const dealt = slots.deal();
          slots.settle(dealt, useAll);
          for (const { endpointId, room } of dealt) {
            unserved.delete(endpointId);
            for (let sent = 0; sent < room; sent += 1) {
              slots.free(endpointId, end.next().value);
            }
          }
        }
        expect([...unserved]).toEqual([]);
      }),
    );
  });

  test('endpoints whose sends never end leave an eighth of the slots to proven endpoints', () => {
    fc.assert(
      fc.property(limits, fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 60 }), (limit, untried, known) => {
        fc.pre(limit.sends >= 2);
        const slots = createSlots(limit);
        makeStanding(slots, idsOf('failing', known), 'failing');
        makeStanding(slots, idsOf('slow', known), 'slow');
        makeStanding(slots, ['proven'], 'proven');
        enqueue(slots, [...idsOf('untried', untried), ...idsOf('failing', known), ...idsOf('slow', known)]);
        slots.settle(slots.deal(), useAll);
        slots.enqueue('proven');
        expect(placesOf(slots.deal().filter(({ endpointId }) => endpointId === 'proven'))).toBeGreaterThanOrEqual(
          Math.min(limit.sendsPerEndpoint, Math.ceil(limit.sends / 8)),
        );
      }),
    );
  });
});
