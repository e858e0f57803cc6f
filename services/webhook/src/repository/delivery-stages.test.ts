import { metrics } from '@laurel/telemetry';
import { measureStages } from '@laurel/testing';
import { expect, test } from 'vitest';
import { suspended, useRig } from '../workers/deliver.fixture.ts';
import { DELIVERY_STAGES } from './delivery-stages.ts';

const rig = useRig();
const measure = () => measureStages(rig.database, DELIVERY_STAGES, rig.clock());

async function failed(): Promise<number> {
  const { values = [] } = (await metrics.getSingleMetric('laurel_webhook_deliveries_failed_total')?.get()) ?? {};
  return values[0]?.value ?? 0;
}

test('deliveries are measured by whether they were sent before, and since they are due', async () => {
  const failedBefore = await failed();
  const target = rig.receiver.url((response) => void response.writeHead(500).end());
  const endpoint = await rig.endpoint(target.url);
  await rig.consume([suspended(endpoint, rig.clock())]);
  await rig.dispatcher.whenIdle();
  expect(await measure()).toEqual({ delivery_retry: [1, 0] });

  // The retry is due a minute after the first send, and no process sends it.
  rig.clock.advance(70_000);
  expect(await measure()).toEqual({ delivery_retry: [1, 70], delivery_due: [1, 10] });

  // As another process leaves one that it inserted and did not send.
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
