import { expect, test } from 'vitest';
import { createQueueSlots, type DeliveryQueue, queueOf } from './delivery-queues.ts';

const LIMITS = { sends: 128, sendsPerEndpoint: 4 };
const live = (endpointId: string): DeliveryQueue => ({ endpointId, environment: 'live' });
const ofTest = (endpointId: string): DeliveryQueue => ({ endpointId, environment: 'test' });

test('a live delivery gets its slots even if test endpoints hold theirs and never respond', () => {
  const slots = createQueueSlots(LIMITS);
  const useAll = ({ slots: used }: { readonly slots: number }) => ({ used, isDrained: false });
  for (let index = 0; index < 1_000; index += 1) slots.enqueue(ofTest(`flood-${index}`));
  slots.releaseUnused(slots.allocate(), useAll);
  const heldByTest = slots.inFlight;
  for (let index = 0; index < 112; index += 1) slots.enqueue(live(`game-${index}`));
  const allocated = slots.allocate();
  expect(allocated).toHaveLength(112);
  expect(allocated.every(({ environment }) => environment === 'live')).toBe(true);
  expect(slots.inFlight).toBe(heldByTest + 112);
});

test('slow test sends to an endpoint do not affect its live deliveries', () => {
  const slots = createQueueSlots(LIMITS);
  slots.enqueue(live('game'));
  slots.releaseUnused(slots.allocate(), () => ({ used: 1, isDrained: true }));
  slots.release(live('game'), 'proven');
  slots.enqueue(ofTest('game'));
  slots.releaseUnused(slots.allocate(), () => ({ used: 1, isDrained: false }));
  slots.release(ofTest('game'), 'failing');
  slots.enqueue(live('game'));
  expect(slots.allocate()).toEqual([
    { ...ofTest('game'), slots: 1 },
    { ...live('game'), slots: 4 },
  ]);
  expect([slots.queued, slots.inFlight]).toEqual([2, 5]);
});

test('a delivery waits in the queue of its environment, and a test event in the queue of test', () => {
  const tenant = { programId: 'p', environment: 'live' } as const;
  expect(queueOf({ endpointId: 'e', tenant })).toEqual(live('e'));
  expect(queueOf({ endpointId: 'e', tenant: null })).toEqual(ofTest('e'));
});
