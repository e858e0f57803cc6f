/** Sends on request: a test event, a resend, a retry before it is due. */
import { refused } from '@laurel/errors';
import { Environment } from '@laurel/proto/common';
import { type Delivery, DeliveryStatus } from '@laurel/proto/webhook';
import { signWebhook } from '@laurel/signature';
import { expectAccepted, type Receiver, startReceiver } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { insertDelivery } from '../repository/deliveries.ts';
import { useHarness } from '../webhook.fixture.ts';

const h = useHarness();

const NOT_FOUND = refused('not_found');
const OFF = refused('conflict', 'The endpoint is off.');

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver({ ca: h.ca });
});
afterAll(() => receiver[Symbol.asyncDispose]());
beforeEach(() => receiver.answerWith({ status: 200 }));

/** An endpoint at the receiver that subscribes only to round.settled, of one program in live. */
async function receiving() {
  const programId = newId();
  const scope = { programIds: [programId], programId, environment: Environment.LIVE, events: ['round.settled'] };
  const owner = await h.createEndpoint({ ...scope, url: `${receiver.url}/${newId()}` });
  const { pathname } = new URL(owner.endpoint.url);
  return { ...owner, received: () => receiver.requests.filter(({ path }) => path === pathname) };
}

type Owner = Awaited<ReturnType<typeof receiving>>;

/** A delivery of an event after one send, to which the receiver responds with this status. */
async function delivered(owner: Owner, status: number, environment: 'test' | 'live' = 'test') {
  receiver.answerWith({ status });
  const delivery = {
    id: newId(),
    endpointId: owner.endpoint.id,
    eventId: newId(),
    eventType: 'round.settled',
    tenant: { programId: newId(), environment },
    body: Buffer.from(`{"event":"round.settled","data":{"name":"é ${newId()}"}}`),
    resendOf: null,
    createdAt: h.clock(),
  };
  await insertDelivery(h.database, delivery);
  await h.server.sweepOnce();
  await h.server.whenIdle();
  expect(owner.received()).toHaveLength(1);
  receiver.answerWith({ status: 200 });
  return delivery;
}

async function logged(owner: Owner, id: string): Promise<Delivery | undefined> {
  return (await h.deliveriesOf(owner)).find((delivery) => delivery.id === id);
}

async function switchOff({ developerId, endpoint }: Owner): Promise<void> {
  expectAccepted(await h.webhook.updateEndpoint({ developerId, endpointId: endpoint.id, active: false }));
}

async function stored(id: string) {
  const statement = { text: 'select event_id, event_type, program_id, body, resend_of from deliveries where id = $1' };
  return (await h.database.query(statement, [id]))[0];
}

describe('a test event', () => {
  it('a test event is sent even to an endpoint that does not subscribe to test events', async () => {
    const owner = await receiving();
    const { developerId, endpoint } = owner;
    const { deliveryId } = expectAccepted(await h.webhook.sendTest({ developerId, endpointId: endpoint.id }));
    await h.server.whenIdle();
    const [request, ...others] = owner.received();
    expect(others).toEqual([]);
    expect(JSON.parse(String(request?.body))).toEqual({
      event: 'webhook.test',
      timestamp: h.clock().toISOString(),
      data: { message: expect.stringMatching(/^.+\.$/) },
    });
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      'x-webhook-event': 'webhook.test',
      'x-webhook-delivery-id': deliveryId,
      'x-webhook-signature': signWebhook(owner.secret, request?.body ?? Buffer.alloc(0)),
    });
    expect(await logged(owner, deliveryId)).toMatchObject({
      id: deliveryId,
      event: 'webhook.test',
      status: DeliveryStatus.DELIVERED,
      createdAt: h.clock(),
      attempts: [{ number: 1, httpStatus: 200, errorKind: undefined }],
    });
  });

  it('a test event can be sent any number of times', async () => {
    const owner = await receiving();
    const { developerId, endpoint } = owner;
    const sendTest = () => h.webhook.sendTest({ developerId, endpointId: endpoint.id });
    const answers = await Promise.all([sendTest(), sendTest(), sendTest()]);
    await h.server.whenIdle();
    const sent = answers.map((answer) => expectAccepted(answer).deliveryId);
    expect(
      owner
        .received()
        .map(({ headers }) => String(headers['x-webhook-delivery-id']))
        .sort(),
    ).toEqual(sent.sort());
  });

  it('a test event to an endpoint that is off is refused', async () => {
    const owner = await receiving();
    const { developerId, endpoint } = owner;
    expect(await h.webhook.sendTest({ developerId: newId(), endpointId: endpoint.id })).toEqual(NOT_FOUND);
    await switchOff(owner);
    expect(await h.webhook.sendTest({ developerId, endpointId: endpoint.id })).toEqual(OFF);
    expect(await h.deliveriesOf(owner)).toEqual([]);
    expect(owner.received()).toEqual([]);
  });
});

describe('a delivery sent again', () => {
  it('a resent delivery has the bytes of the original and is signed with the current secret', async () => {
    const owner = await receiving();
    const original = await delivered(owner, 500);
    const { developerId, endpoint } = owner;
    const rotated = expectAccepted(await h.webhook.rotateSecret({ developerId, endpointId: endpoint.id }));
    const { deliveryId } = expectAccepted(await h.webhook.resendDelivery({ developerId, deliveryId: original.id }));
    await h.server.whenIdle();

    expect(deliveryId).not.toBe(original.id);
    const [, again] = owner.received();
    expect(again?.body).toEqual(original.body);
    expect(again?.headers).toMatchObject({
      'x-webhook-event': 'round.settled',
      'x-webhook-delivery-id': deliveryId,
      'x-webhook-signature': signWebhook(rotated.signingSecret, original.body),
    });
    expect(await stored(deliveryId)).toEqual({
      event_id: original.eventId,
      event_type: 'round.settled',
      program_id: original.tenant.programId,
      body: original.body,
      resend_of: original.id,
    });
    expect((await logged(owner, deliveryId))?.status).toBe(DeliveryStatus.DELIVERED);
    // The first delivery is unchanged and still has its retries.
    expect(await logged(owner, original.id)).toMatchObject({
      status: DeliveryStatus.PENDING,
      attempts: [{ number: 1, httpStatus: 500 }],
    });
  });

  it('delivered and resent deliveries can be resent', async () => {
    const owner = await receiving();
    const original = await delivered(owner, 200);
    const { developerId } = owner;
    const second = expectAccepted(await h.webhook.resendDelivery({ developerId, deliveryId: original.id })).deliveryId;
    const third = expectAccepted(await h.webhook.resendDelivery({ developerId, deliveryId: second })).deliveryId;
    await h.server.whenIdle();
    expect(await stored(third)).toMatchObject({ event_id: original.eventId, body: original.body, resend_of: second });
    expect(owner.received().map(({ body }) => body)).toEqual([original.body, original.body, original.body]);
  });

  it('a resend to an endpoint that is off is refused', async () => {
    const owner = await receiving();
    const original = await delivered(owner, 200);
    const { developerId } = owner;
    for (const request of [
      { developerId: newId(), deliveryId: original.id },
      { developerId, deliveryId: newId() },
    ])
      expect(await h.webhook.resendDelivery(request)).toEqual(NOT_FOUND);
    await switchOff(owner);
    expect(await h.webhook.resendDelivery({ developerId, deliveryId: original.id })).toEqual(OFF);
    expect(await h.deliveriesOf(owner)).toHaveLength(1);
  });
});

describe('a retry before it is due', () => {
  function tenantOf({ tenant }: { tenant: { programId: string } }, environment: Environment = Environment.TEST) {
    return { programId: tenant.programId, environment };
  }

  it('a requested retry runs immediately, in place of the scheduled one', async () => {
    const owner = await receiving();
    const delivery = await delivered(owner, 503);
    expect(await h.webhook.retryDelivery({ tenant: tenantOf(delivery), deliveryId: delivery.id })).toEqual({});
    await h.server.whenIdle();
    expect(owner.received()).toHaveLength(2);
    expect(await logged(owner, delivery.id)).toMatchObject({
      status: DeliveryStatus.DELIVERED,
      attempts: [
        { number: 1, httpStatus: 503 },
        { number: 2, httpStatus: 200 },
      ],
    });
  });

  it('no retry can be requested after the third send', async () => {
    const owner = await receiving();
    const delivery = await delivered(owner, 503);
    const retry = () => h.webhook.retryDelivery({ tenant: tenantOf(delivery), deliveryId: delivery.id });
    receiver.answerWith({ status: 503 });
    for (let count = 0; count < 2; count += 1) {
      expect(await retry()).toEqual({});
      await h.server.whenIdle();
    }
    expect(await retry()).toEqual(refused('conflict', 'No retry of this delivery is scheduled.'));
    expect(owner.received()).toHaveLength(3);
    expect((await logged(owner, delivery.id))?.status).toBe(DeliveryStatus.FAILED);
  });

  it('a requested retry is refused if none is scheduled', async () => {
    const owner = await receiving();
    const delivery = await delivered(owner, 200);
    expect(await h.webhook.retryDelivery({ tenant: tenantOf(delivery), deliveryId: delivery.id })).toEqual(
      refused('conflict', 'No retry of this delivery is scheduled.'),
    );
  });

  it('a retry of a test event may be requested only by programs whose events the endpoint receives', async () => {
    const [ours, sibling, theirs] = [newId(), newId(), newId()];
    const developerId = newId();
    await h.webhook.putProgram({ programId: theirs, developerId: newId(), version: 0n });
    const owners = { developerId, programIds: [ours, sibling], url: `${receiver.url}/${newId()}` };
    const failedTest = async (programId?: string) => {
      receiver.answerWith({ status: 503 });
      const { endpoint } = await h.createEndpoint({ ...owners, programId });
      const { deliveryId } = expectAccepted(await h.webhook.sendTest({ developerId, endpointId: endpoint.id }));
      await h.server.whenIdle();
      receiver.answerWith({ status: 200 });
      return deliveryId;
    };
    const retry = (programId: string, deliveryId: string) =>
      h.webhook.retryDelivery({ tenant: { programId, environment: Environment.TEST }, deliveryId });

    const ofOne = await failedTest(ours);
    for (const other of [sibling, theirs, newId()]) expect(await retry(other, ofOne)).toEqual(NOT_FOUND);
    expect(await retry(ours, ofOne)).toEqual({});
    const ofAll = await failedTest();
    for (const other of [theirs, newId()]) expect(await retry(other, ofAll)).toEqual(NOT_FOUND);
    expect(await retry(sibling, ofAll)).toEqual({});
    await h.server.whenIdle();
  });

  it('a retry of another program’s delivery, or of a live one, cannot be requested', async () => {
    const owner = await receiving();
    const delivery = await delivered(owner, 503);
    expect(await h.webhook.retryDelivery({ tenant: tenantOf(delivery), deliveryId: newId() })).toEqual(NOT_FOUND);
    const other = { programId: newId(), environment: Environment.TEST };
    expect(await h.webhook.retryDelivery({ tenant: other, deliveryId: delivery.id })).toEqual(NOT_FOUND);
    const liveOwner = await receiving();
    const live = await delivered(liveOwner, 503, 'live');
    expect(await h.webhook.retryDelivery({ tenant: tenantOf(live), deliveryId: live.id })).toEqual(NOT_FOUND);
    await expect(
      h.webhook.retryDelivery({ tenant: tenantOf(live, Environment.LIVE), deliveryId: live.id }),
    ).rejects.toThrow();
    expect(liveOwner.received()).toHaveLength(1);
  });
});
