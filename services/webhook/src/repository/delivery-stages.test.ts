import { Environment } from '@laurel/proto/common';
import { metrics } from '@laurel/telemetry';
import { measureStages, measureStagesByEnvironment } from '@laurel/testing';
import { afterEach, expect, test } from 'vitest';
import { suspended, useRig } from '../workers/deliver.fixture.ts';
import { DELIVERY_STAGES } from './delivery-stages.ts';

const rig = useRig();
const measure = () => measureStages(rig.database, DELIVERY_STAGES, rig.clock());

// A delivery that one test leaves pending must not be measured in another test.
afterEach(() =>
  rig.database.query({
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

test('deliveries are measured by whether they were sent before, and from when they are due', async () => {
  const failedBefore = await failed();
  const target = rig.receiver.url((response) => void response.writeHead(500).end());
  const endpoint = await rig.endpoint(target.url);
  await rig.consume([suspended(endpoint, rig.clock())]);
  await rig.dispatcher.whenIdle();
  expect(await measure()).toEqual({ delivery_retry: [1, 0] });

  // The retry is due a minute after the first send, and no process sends it.
  rig.clock.advance(70_000);
  expect(await measure()).toEqual({ delivery_retry: [1, 70], delivery_due: [1, 10] });

  // The row of another process that inserted a delivery and did not send it.
  await rig.database.query(
    {
      text: `
insert into deliveries (id, endpoint_id, event_id, event_type, body, status, next_attempt_at, created_at)
select gen_random_uuid(), endpoint_id, gen_random_uuid(), event_type, body, status, $1, $1 from deliveries`,
    },
    [new Date(rig.clock().getTime() - 25_000)],
  );
  expect(await measure()).toEqual({ delivery_first: [1, 25], delivery_retry: [1, 70], delivery_due: [2, 25] });

  for (let sends = 0; sends < 3; sends += 1) {
    await rig.sweep();
    rig.clock.advance(600_000);
  }
  expect(await measure()).toEqual({});
  expect((await failed()) - failedBefore).toBe(2);
});

test('an endpoint that takes both environments has its deliveries counted for each', async () => {
  const made = 'laurel_webhook_deliveries_total';
  const before = { live: await countedIn(made, 'live'), test: await countedIn(made, 'test') };
  const target = rig.receiver.url((response) => void response.writeHead(500).end());
  const endpoint = await rig.endpoint(target.url);
  const ofLive = { programId: endpoint.tenant.programId, environment: Environment.LIVE };
  await rig.consume([
    suspended(endpoint, rig.clock()),
    suspended(endpoint, rig.clock()),
    suspended(endpoint, rig.clock(), { tenant: ofLive }),
  ]);
  await rig.dispatcher.whenIdle();
  expect([await countedIn(made, 'live'), await countedIn(made, 'test')]).toEqual([before.live + 1, before.test + 2]);

  rig.clock.advance(70_000);
  expect(await measureStagesByEnvironment(rig.database, DELIVERY_STAGES, rig.clock())).toEqual({
    live: { delivery_retry: [1, 70], delivery_due: [1, 10] },
    test: { delivery_retry: [2, 70], delivery_due: [2, 10] },
  });
});

test('a test that a developer requested counts as a delivery of test', async () => {
  const endpoint = await rig.endpoint(rig.receiver.url().url, { environment: 'live' });
  await rig.database.query(
    {
      text: `
insert into deliveries (id, endpoint_id, event_id, event_type, body, status, next_attempt_at, created_at)
values (gen_random_uuid(), $1, gen_random_uuid(), 'webhook.test', '', 'pending', $2, $2)`,
    },
    [endpoint.id, rig.clock()],
  );
  rig.clock.advance(30_000);
  const { live, test: ofTest } = await measureStagesByEnvironment(rig.database, DELIVERY_STAGES, rig.clock());
  expect([live.delivery_first, live.delivery_due]).toEqual([undefined, undefined]);
  expect([ofTest.delivery_first, ofTest.delivery_due]).toEqual([
    [1, 30],
    [1, 30],
  ]);
});
