/** The process around the handlers: readiness and shutdown. */
import { DeliveryStatus } from '@laurel/proto/webhook';
import { expectAccepted, startReceiver } from '@laurel/testing';
import { expect, it } from 'vitest';
import { useHarness } from './webhook.fixture.ts';

const h = useHarness();

it('the webhook service is ready while its database is reachable, even without a broker', async () => {
  const readiness = await fetch(`http://127.0.0.1:${h.server.adminPort}/readyz`);
  expect([readiness.status, await readiness.text()]).toEqual([200, 'ready']);
});

it('the webhook service records a send in flight before it stops', async () => {
  const answer = Promise.withResolvers<void>();
  await using receiver = await startReceiver({ ca: h.ca, answer: { after: answer.promise } });
  const owner = await h.createEndpoint({ url: receiver.url });
  const replica = await h.startReplica();
  const { deliveryId } = expectAccepted(
    await replica.webhook.sendTest({ developerId: owner.developerId, endpointId: owner.endpoint.id }),
  );
  await receiver.nth(1);
  const [underWay] = await h.deliveriesOf(owner);
  expect(underWay).toMatchObject({ status: DeliveryStatus.PENDING, nextAttemptAt: undefined });
  expect(underWay?.attempts).toMatchObject([{ number: 1, durationMs: undefined, errorKind: undefined }]);

  const stopped = replica[Symbol.asyncDispose]();
  answer.resolve();
  await stopped;
  expect(await h.deliveriesOf(owner)).toMatchObject([
    { id: deliveryId, status: DeliveryStatus.DELIVERED, attempts: [{ number: 1, httpStatus: 200 }] },
  ]);
});
