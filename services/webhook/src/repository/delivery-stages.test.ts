import { Environment } from '@laurel/proto/common';
import { metrics } from '@laurel/telemetry';
import { measureStages, measureStagesByEnvironment } from '@laurel/testing';
import { afterEach, expect, test } from 'vitest';
import { suspended, useDispatchHarness } from '../workers/deliver.fixture.ts';
import { DELIVERY_STAGES } from './delivery-stages.ts';

const h = useDispatchHarness();
const measure = () => measureStages(h.database, DELIVERY_STAGES, h.clock());

// A delivery that one test leaves pending must not be measured in another test.
afterEach(() =>
  h.database.query({
    text: `update deliveries set status = 'failed', next_attempt_at = null where status = 'pending'`,
  }),
);

async function failed(): Promise<number> {
  return await countedIn('laurel_webhook_deliveries_failed_total', 'test');
}

async function countedIn(name: string, environment: 'live' | 'test'): Promise<number> {
  const { values = [] } = (await metrics.getSingleMetric(name)?.get()) ?? {};
  return values.find(({ labels }) => labels.environment === environment)?.value ?? 0;
}

test('first sends, retries and due deliveries are counted separately, each with its age', async () => {
  const failedBefore = await failed();
  const target = h.receiver.url((response) => void response.writeHead(500).end());
  const endpoint = await h.endpoint(target.url);
  await h.consume([suspended(endpoint, h.clock())]);
  await h.dispatcher.whenIdle();
  expect(await measure()).toEqual({ delivery_retry: [1, 0] });

  // The retry is due a minute after the first send, and no process sends it.
  h.clock.advance(70_000);
  expect(await measure()).toEqual({ delivery_retry: [1, 70], delivery_due: [1, 10] });

  // The row of another process that inserted a delivery and did not send it.
  await h.database.query(
    {
      text: `
insert into deliveries (id, endpoint_id, event_id, event_type, body, status, next_attempt_at, created_at)
select gen_random_uuid(), endpoint_id, gen_random_uuid(), event_type, body, status, $1, $1 from deliveries`,
    },
    [new Date(h.clock().getTime() - 25_000)],
  );
  expect(await measure()).toEqual({ delivery_first: [1, 25], delivery_retry: [1, 70], delivery_due: [2, 25] });

  for (let sends = 0; sends < 3; sends += 1) {
    await h.sweep();
    h.clock.advance(600_000);
  }
  expect(await measure()).toEqual({});
  expect((await failed()) - failedBefore).toBe(2);
});

test('the deliveries of an endpoint that gets both environments are counted for each environment', async () => {
  const made = 'laurel_webhook_deliveries_total';
  const before = { live: await countedIn(made, 'live'), test: await countedIn(made, 'test') };
  const target = h.receiver.url((response) => void response.writeHead(500).end());
  const endpoint = await h.endpoint(target.url);
  const ofLive = { programId: endpoint.tenant.programId, environment: Environment.LIVE };
  await h.consume([
    suspended(endpoint, h.clock()),
    suspended(endpoint, h.clock()),
    suspended(endpoint, h.clock(), { tenant: ofLive }),
  ]);
  await h.dispatcher.whenIdle();
  expect([await countedIn(made, 'live'), await countedIn(made, 'test')]).toEqual([before.live + 1, before.test + 2]);

  h.clock.advance(70_000);
  expect(await measureStagesByEnvironment(h.database, DELIVERY_STAGES, h.clock())).toEqual({
    live: { delivery_retry: [1, 70], delivery_due: [1, 10] },
    test: { delivery_retry: [2, 70], delivery_due: [2, 10] },
  });
});

test('a test event that a developer sends counts as a delivery of the test environment', async () => {
  const endpoint = await h.endpoint(h.receiver.url().url, { environment: 'live' });
  await h.database.query(
    {
      text: `
insert into deliveries (id, endpoint_id, event_id, event_type, body, status, next_attempt_at, created_at)
values (gen_random_uuid(), $1, gen_random_uuid(), 'webhook.test', '', 'pending', $2, $2)`,
    },
    [endpoint.id, h.clock()],
  );
  h.clock.advance(30_000);
  const { live, test: ofTest } = await measureStagesByEnvironment(h.database, DELIVERY_STAGES, h.clock());
  expect([live.delivery_first, live.delivery_due]).toEqual([undefined, undefined]);
  expect([ofTest.delivery_first, ofTest.delivery_due]).toEqual([
    [1, 30],
    [1, 30],
  ]);
});
