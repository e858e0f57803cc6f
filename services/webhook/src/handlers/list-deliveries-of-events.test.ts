/** The deliveries of the events of one attempt, to all endpoints of a developer. */

import { expectAccepted } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { expect, it } from 'vitest';
import { insertDelivery } from '../repository/deliveries.ts';
import { DELIVERIES_OF_EVENTS } from '../repository/delivery-log.ts';
import { useHarness } from '../webhook.fixture.ts';

const h = useHarness();

type Owner = Awaited<ReturnType<typeof h.createEndpoint>>;

async function put({ endpoint }: Owner, eventId: string, resendOf: string | null = null): Promise<string> {
  h.clock.advance(1);
  const createdAt = h.clock();
  const id = newId(createdAt);
  await insertDelivery(h.database, {
    id,
    endpointId: endpoint.id,
    eventId,
    eventType: 'attempt.settled',
    tenant: { programId: newId(), environment: 'live' },
    body: Buffer.from('{}'),
    resendOf,
    createdAt,
  });
  return id;
}

it('the deliveries of events are listed oldest first, over all endpoints of the developer', async () => {
  const one = await h.createEndpoint();
  const two = await h.createEndpoint({ developerId: one.developerId });
  const removed = await h.createEndpoint({ developerId: one.developerId });
  const foreign = await h.createEndpoint();
  const [settled, refunded] = [newId(), newId()];
  const first = await put(two, settled);
  const second = await put(one, refunded);
  const third = await put(one, settled);
  await put(one, settled, third);
  for (const owner of [foreign, removed]) await put(owner, settled);
  await put(one, newId());
  expectAccepted(await h.webhook.deleteEndpoint({ developerId: one.developerId, endpointId: removed.endpoint.id }));

  const eventIds = [settled, refunded, newId()];
  const { deliveries } = expectAccepted(
    await h.webhook.listDeliveriesOfEvents({ developerId: one.developerId, eventIds }),
  );
  expect(deliveries.map(({ endpointId, delivery }) => [endpointId, delivery?.id])).toEqual([
    [two.endpoint.id, first],
    [one.endpoint.id, second],
    [one.endpoint.id, third],
  ]);
  const log = new Map([...(await h.deliveriesOf(one)), ...(await h.deliveriesOf(two))].map((it) => [it.id, it]));
  for (const { delivery } of deliveries) expect(delivery).toEqual(log.get(delivery?.id ?? ''));
  const unknown = { developerId: newId(), eventIds };
  expect(expectAccepted(await h.webhook.listDeliveriesOfEvents(unknown)).deliveries).toEqual([]);
});

it('the deliveries of events are found by the unique index among 50,000 of the endpoint', async () => {
  const owner = await h.createEndpoint();
  const eventId = newId();
  await h.database.query(
    {
      text: `
insert into deliveries (id, endpoint_id, event_id, event_type, body, status, created_at)
select gen_random_uuid(), $1, gen_random_uuid(), 'attempt.settled', '{}', 'failed', now() from generate_series(1, 50000)`,
    },
    [owner.endpoint.id],
  );
  const id = await put(owner, eventId);
  await h.database.query({ text: 'vacuum analyze deliveries' });
  const plan = await h.database.query<{ 'QUERY PLAN': string }>(
    { text: `explain (analyze, buffers, costs off, timing off) ${DELIVERIES_OF_EVENTS}` },
    [owner.developerId, [eventId, newId(), newId()]],
  );
  const text = plan.map((row) => row['QUERY PLAN']).join('\n');
  expect(text).toContain('deliveries_one_per_endpoint_and_event');
  expect(text).not.toContain('Seq Scan on deliveries');
  const pages = /Buffers: shared hit=(\d+)/.exec(text)?.[1];
  expect(Number(pages), text).toBeLessThan(60);
  const found = expectAccepted(
    await h.webhook.listDeliveriesOfEvents({ developerId: owner.developerId, eventIds: [eventId] }),
  );
  expect(found.deliveries.map(({ delivery }) => delivery?.id)).toEqual([id]);
});
