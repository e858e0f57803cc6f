/**
 * The look-up of an id for an operator: which delivery or event of the webhook service it names.
 */
import { Environment, ItemKind } from '@laurel/proto/common';
import { expectAccepted } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { expect, it } from 'vitest';
import { insertDelivery } from '../repository/deliveries.ts';
import { SELECT_BY_ANY_ID } from '../repository/deliveries-by-id.ts';
import { useHarness } from '../webhook.fixture.ts';

const h = useHarness();
const lookUp = async (id: string) => expectAccepted(await h.webhook.lookUpId({ id })).items;

it('a look-up of the id of a delivery or an event returns the attempt, for any developer’s endpoint', async () => {
  const [one, other] = [await h.createEndpoint(), await h.createEndpoint()];
  const [attemptId, eventId, programId] = [newId(), newId(), newId()];
  const put = async (endpointId: string) => {
    const id = newId();
    await insertDelivery(h.database, {
      id,
      endpointId,
      eventId,
      eventType: 'attempt.settled',
      tenant: { programId, environment: 'live' },
      body: Buffer.from(JSON.stringify({ event: 'attempt.settled', data: { attempt_id: attemptId } })),
      resendOf: null,
      createdAt: h.clock(),
    });
    return id;
  };
  const item = { tenant: { programId, environment: Environment.LIVE }, attemptId, accountId: '' };
  for (const { endpoint } of [one, other]) {
    const [found, ...more] = await lookUp(await put(endpoint.id));
    expect([found, more]).toEqual([
      { ...item, kind: ItemKind.DELIVERY, summary: expect.stringMatching(/^attempt\.settled, /) },
      [],
    ]);
  }
  expect(await lookUp(eventId)).toEqual([{ ...item, kind: ItemKind.EVENT, summary: 'attempt.settled' }]);
  for (const id of [newId(), attemptId, one.endpoint.id]) expect(await lookUp(id)).toEqual([]);
});

it('an id is looked up by index among 50,000 deliveries', async () => {
  const owner = await h.createEndpoint();
  await h.database.query(
    {
      text: `
insert into deliveries (id, endpoint_id, event_id, event_type, body, status, created_at)
select gen_random_uuid(), $1, gen_random_uuid(), 'attempt.settled', '{}', 'failed', now() from generate_series(1, 50000)`,
    },
    [owner.endpoint.id],
  );
  await h.database.query({ text: 'vacuum analyze deliveries' });
  const plan = await h.database.query<{ 'QUERY PLAN': string }>(
    { text: `explain (analyze, buffers, costs off, timing off) ${SELECT_BY_ANY_ID.text}` },
    [newId()],
  );
  const text = plan.map((row) => row['QUERY PLAN']).join('\n');
  expect(text).toContain('deliveries_one_per_endpoint_and_event');
  expect(text).not.toContain('Seq Scan on deliveries');
  const pages = /Buffers: shared hit=(\d+)/.exec(text)?.[1];
  expect(Number(pages), text).toBeLessThan(60);
});
