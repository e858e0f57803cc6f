/**
 * Endpoints that never respond delay no other endpoint: the healthy ones get all their deliveries
 * while sends to the dead ones hang.
 */
import type { ServerResponse } from 'node:http';
import { newId } from '@laurel/values/ids';
import { expect, it } from 'vitest';
import type { DeliveryQueue } from '../domain/delivery-queues.ts';
import { insertDeliveries } from '../repository/deliveries.ts';
import { type RegisteredEndpoint, useDispatchHarness } from './deliver.fixture.ts';

const h = useDispatchHarness();

const DEAD = 100;
const HEALTHY = 20;
const EVENTS = 25;
/** The time is longer than any test of this file takes. */
const FOR_EVER_MS = 300_000;

async function queue(endpoints: readonly RegisteredEndpoint[], events: number): Promise<void> {
  const createdAt = h.clock();
  for (let event = 0; event < events; event += 1) {
    const deliveries = endpoints.map(({ id: endpointId, tenant }) => ({
      id: newId(createdAt),
      endpointId,
      eventId: newId(createdAt),
      eventType: 'attempt.settled',
      tenant,
      body: Buffer.from('{}'),
      resendOf: null,
      createdAt,
    }));
    await insertDeliveries(h.database, deliveries);
  }
}

const register = (count: number, url: () => string) =>
  Promise.all(Array.from({ length: count }, () => h.endpoint(url())));
const queuesOf = (endpoints: readonly RegisteredEndpoint[]): DeliveryQueue[] =>
  endpoints.map(({ id }) => ({ endpointId: id, environment: 'test' }));

it('healthy endpoints get all their deliveries while a hundred dead endpoints hang', async () => {
  await using dispatcher = h.startDispatcher({ timeoutMs: FOR_EVER_MS });
  const hanging = new Set<ServerResponse>();
  let isOver = false;
  const hangingTarget = h.receiver.url((response) => {
    if (isOver) response.destroy();
    else hanging.add(response);
  });
  const release = () => {
    for (const response of hanging) response.destroy();
    hanging.clear();
  };

  // Every endpoint is untried. The dead ones come first, so each has a hanging send before the
  // first healthy one requests a slot.
  const dead = await register(DEAD, () => hangingTarget.url);
  await queue(dead, 3);
  dispatcher.wake(queuesOf(dead));
  await hangingTarget.arrivals(DEAD);
  const targets = Array.from({ length: HEALTHY }, () => h.receiver.url());
  const healthy = await Promise.all(targets.map(({ url }) => h.endpoint(url)));
  await queue(healthy, EVENTS);
  dispatcher.wake(queuesOf(healthy));
  await Promise.all(targets.map((target) => target.arrivals(EVENTS)));
  expect(hanging.size).toBe(DEAD);

  // The dead endpoints have failed by then: they hold at most half of all slots, one each.
  release();
  await hangingTarget.arrivals(DEAD + 64);
  const newTarget = h.receiver.url();
  const all = [...healthy, await h.endpoint(newTarget.url)];
  await queue(all, EVENTS);
  dispatcher.wake(queuesOf(all));
  await Promise.all([newTarget.arrivals(EVENTS), ...targets.map((target) => target.arrivals(2 * EVENTS))]);
  expect(hanging.size).toBe(64);

  isOver = true;
  release();
  await dispatcher.whenIdle();
});
