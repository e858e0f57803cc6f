/** Makes what the pages of webhooks show. */
import { type Developer, expectStatus, type SharedWorld } from '../world.ts';

/** A test event that failed once, at an endpoint of the developer's program in test. */
export async function newDelivery(world: SharedWorld, developer: Developer) {
  const { portal, program } = developer;
  const answer = { status: 500, body: '{"error":"busy"}' };
  const hook = await world.newReceiver(developer, { program_id: program.id, environment: 'test', answer });
  const { delivery_id: deliveryId } = expectStatus(202, await portal.sendTest(hook.endpoint.id)).body;
  await hook.delivery(deliveryId, ({ attempts }) => typeof attempts[0]?.duration_ms === 'number');
  return { endpointId: hook.endpoint.id, deliveryId };
}
