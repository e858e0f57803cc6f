/** Which rows are deleted because of their age, and which stay. */
import { newId } from '@laurel/values/ids';
import { expect, it } from 'vitest';
import { insertDelivery } from '../repository/deliveries.ts';
import { leaseSends, recordSends } from '../repository/sends.ts';
import { useHarness } from '../webhook.fixture.ts';
import { createDeleteOldRows } from './delete-old-rows.ts';

const h = useHarness();

const DAY_MS = 86_400_000;
const LEASE_MS = 10_000;

async function put(endpointId: string): Promise<string> {
  const id = newId();
  await insertDelivery(h.database, {
    id,
    endpointId,
    eventId: newId(),
    eventType: 'round.settled',
    tenant: null,
    body: Buffer.from('{}'),
    resendOf: null,
    createdAt: h.clock(),
  });
  return id;
}

/** Sends what the endpoint has due, successfully. */
async function deliver(endpointId: string): Promise<void> {
  const now = h.clock();
  const lease = { now, leasedUntil: new Date(now.getTime() + LEASE_MS), keyVersions: [1] };
  const { sends } = await leaseSends(h.database, [{ endpointId, environment: 'test', slots: 4 }], lease);
  const result = { httpStatus: 200, error: null, responseExcerpt: '', nextSendAt: null };
  const phases = { dnsMs: null, connectMs: null, waitMs: null, readMs: null };
  await recordSends(
    h.database,
    sends.map((send) => ({ send, durationMs: 1, phases, result })),
  );
}

async function idsIn(table: string): Promise<readonly string[]> {
  const rows = await h.database.query<{ id: string }>({ text: `select id from ${table} order by id` });
  return rows.map(({ id }) => id);
}

it('old log rows are deleted with their sends, except pending deliveries', async () => {
  const runOnce = createDeleteOldRows({ database: h.database, logRetentionDays: 30 });
  const kept = await h.createEndpoint();
  const deleted = await h.createEndpoint();
  await put(kept.endpoint.id);
  await put(deleted.endpoint.id);
  await deliver(kept.endpoint.id);
  await deliver(deleted.endpoint.id);
  const pending = await put(kept.endpoint.id);
  await h.webhook.deleteEndpoint({ developerId: deleted.developerId, endpointId: deleted.endpoint.id });

  h.clock.advance(30 * DAY_MS);
  await runOnce(h.clock());
  expect(await idsIn('deliveries')).toHaveLength(3);
  expect(await idsIn('endpoints')).toHaveLength(2);

  const young = await put(kept.endpoint.id);
  h.clock.advance(1);
  await runOnce(h.clock());
  expect(await idsIn('deliveries')).toEqual([pending, young].sort());
  expect(await h.database.query({ text: 'select delivery_id from delivery_attempts' })).toEqual([]);
  expect(await idsIn('endpoints')).toEqual([kept.endpoint.id]);
});

it('the row of a deleted endpoint without a log is removed by the next run', async () => {
  const runOnce = createDeleteOldRows({ database: h.database, logRetentionDays: 30 });
  const deleted = await h.createEndpoint();
  const off = await h.createEndpoint();
  await h.webhook.deleteEndpoint({ developerId: deleted.developerId, endpointId: deleted.endpoint.id });
  await h.webhook.updateEndpoint({ developerId: off.developerId, endpointId: off.endpoint.id, active: false });
  await runOnce(h.clock());
  const left = await idsIn('endpoints');
  expect(left).toContain(off.endpoint.id);
  expect(left).not.toContain(deleted.endpoint.id);
});

it('the row of an event is kept for longer than the stream keeps the event', async () => {
  const runOnce = createDeleteOldRows({ database: h.database, logRetentionDays: 30 });
  const insert = {
    text: 'insert into consumed_events (id, consumed_at) select gen_random_uuid(), $1 from generate_series(1, $2)',
  };
  await h.database.query(insert, [h.clock(), 2_500]);
  h.clock.advance(7 * DAY_MS);
  await runOnce(h.clock());
  expect(await idsIn('consumed_events')).toHaveLength(2_500);
  await h.database.query(insert, [h.clock(), 3]);
  h.clock.advance(1);
  await runOnce(h.clock());
  expect(await idsIn('consumed_events')).toHaveLength(3);
});
