/** Sending the failed deliveries of a period again. */
import { refused } from '@laurel/errors';
import { expectAccepted } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { later } from '@laurel/values/instant';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { DeliveryStatus } from '../domain/delivery.ts';
import { MAX_EXAMINED_DELIVERIES } from '../repository/failed-deliveries.ts';
import { useHarness } from '../webhook.fixture.ts';
import { MAX_RESENT } from './resend-failed-deliveries.ts';

const h = useHarness();

type Owner = Awaited<ReturnType<typeof h.createEndpoint>>;
/** The deliveries of one event, oldest first. All after the first are resends. */
type History = readonly { readonly status: DeliveryStatus; readonly minute: number }[];

const MINUTE_MS = 60_000;
const START = new Date('2026-11-20T00:00:00.000Z');
const at = (minute: number) => later(START, minute * MINUTE_MS);

afterEach(() => h.database.query({ text: 'truncate deliveries, delivery_attempts' }));

/** Stores the deliveries of each event and returns the ids of the events. Nothing is sent. */
async function put({ endpoint }: Owner, histories: readonly History[]): Promise<readonly string[]> {
  const events = histories.map(() => newId());
  const rows = histories.flatMap((history, event) => {
    const first = newId();
    return history.map(({ status, minute }, index) => ({
      id: index === 0 ? first : newId(),
      resendOf: index === 0 ? null : first,
      eventId: events[event],
      status,
      // A delivery that is pending is not due, so that no test sends it.
      due: status === 'pending' ? at(1e7) : null,
      createdAt: at(minute),
    }));
  });
  await h.database.query(
    {
      text: `
insert into deliveries (id, endpoint_id, event_id, event_type, program_id, environment, body, resend_of, status, attempts, next_attempt_at, created_at)
select n.id, $1, n.event_id, 'attempt.settled', $2, 'live', '{}', n.resend_of, n.status, case n.status when 'pending' then 0 else 3 end, n.due, n.created_at
from unnest($3::uuid[], $4::uuid[], $5::uuid[], $6::text[], $7::timestamptz[], $8::timestamptz[])
  as n (id, event_id, resend_of, status, due, created_at)`,
    },
    [
      endpoint.id,
      newId(),
      rows.map(({ id }) => id),
      rows.map(({ eventId }) => eventId),
      rows.map(({ resendOf }) => resendOf),
      rows.map(({ status }) => status),
      rows.map(({ due }) => due),
      rows.map(({ createdAt }) => createdAt),
    ],
  );
  return events;
}

const FAILED: History = [{ status: 'failed', minute: 1 }];

const resend = ({ developerId, endpoint }: Owner, from = at(0), to = at(60), webhook = h.webhook) =>
  webhook.resendFailedDeliveries({ developerId, endpointId: endpoint.id, from, to });

/** The events of the endpoint's deliveries that were created now, by the test's clock. */
async function resentEvents({ endpoint }: Owner): Promise<readonly string[]> {
  const rows = await h.database.query<{ event_id: string }>(
    { text: 'select event_id from deliveries where endpoint_id = $1 and created_at >= $2 order by event_id' },
    [endpoint.id, h.clock()],
  );
  return rows.map(({ event_id }) => event_id);
}

describe('sending the failed deliveries of a period again', () => {
  it('each failed event is resent once, unless another delivery of the event is pending or delivered', async () => {
    const delivery = fc.record({
      status: fc.constantFrom<DeliveryStatus>('failed', 'failed', 'delivered', 'pending'),
      minute: fc.constantFrom(0, 1, 5, 9, 10, 11),
    });
    const [from, to] = [1, 10];
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(delivery, { minLength: 1, maxLength: 4 }), { maxLength: 8 }),
        async (drawn) => {
          const owner = await h.createEndpoint();
          const histories = drawn.map((history) => history.toSorted((one, other) => one.minute - other.minute));
          const events = await put(owner, histories);
          const expected = events.filter((_, index) => {
            const history = histories[index] ?? [];
            const hasFailed = history.some(
              ({ status, minute }) => status === 'failed' && minute >= from && minute < to,
            );
            return hasFailed && history.every(({ status }) => status === 'failed');
          });
          expect(expectAccepted(await resend(owner, at(from), at(to)))).toEqual({
            resent: expected.length,
            resumeFrom: undefined,
          });
          expect(await resentEvents(owner)).toEqual(expected.toSorted());
          expect(expectAccepted(await resend(owner, at(from), at(to)))).toEqual({ resent: 0, resumeFrom: undefined });
          expect(await resentEvents(owner)).toEqual(expected.toSorted());
        },
      ),
      { numRuns: 40 },
    );
  });

  it('a resend has the bytes, the event and the tenant of the failed delivery', async () => {
    const owner = await h.createEndpoint();
    await put(owner, [FAILED]);
    expect(expectAccepted(await resend(owner)).resent).toBe(1);
    const [again, original] = await h.deliveriesOf(owner);
    const detail = async (deliveryId = '') =>
      expectAccepted(await h.webhook.getDelivery({ developerId: owner.developerId, deliveryId }));
    const { delivery: _, resendOf, ...repeated } = await detail(again?.id);
    const { delivery: __, resendOf: ___, ...failed } = await detail(original?.id);
    expect(repeated).toEqual(failed);
    expect(resendOf).toBe(original?.id);
  });

  it('concurrent calls on two replicas resend each failed delivery once', async () => {
    await using other = await h.startReplica();
    for (let round = 0; round < 5; round += 1) {
      const owner = await h.createEndpoint();
      const events = await put(
        owner,
        Array.from({ length: 40 }, () => FAILED),
      );
      const answers = await Promise.all(
        [h.webhook, other.webhook, h.webhook, other.webhook].map((webhook) => resend(owner, at(0), at(60), webhook)),
      );
      expect(answers.map((answer) => expectAccepted(answer).resent).toSorted((a, b) => b - a)).toEqual([40, 0, 0, 0]);
      expect(await resentEvents(owner)).toEqual(events.toSorted());
    }
  });

  it('one call resends at most 1,000 deliveries, oldest first', async () => {
    const owner = await h.createEndpoint();
    const events = await put(
      owner,
      Array.from({ length: MAX_RESENT + 3 }, (_, index) => [{ status: 'failed' as const, minute: index / 100 }]),
    );
    const resumeFrom = at(MAX_RESENT / 100);
    expect(expectAccepted(await resend(owner))).toEqual({ resent: MAX_RESENT, resumeFrom });
    expect(await resentEvents(owner)).toEqual(events.slice(0, MAX_RESENT).toSorted());
    expect(expectAccepted(await resend(owner, resumeFrom))).toEqual({ resent: 3, resumeFrom: undefined });
    expect(expectAccepted(await resend(owner))).toEqual({ resent: 0, resumeFrom: undefined });
  });

  it('a call examines a limited number of failures, and the next call continues after them', async () => {
    const owner = await h.createEndpoint();
    const covered = Array.from(
      { length: MAX_EXAMINED_DELIVERIES },
      (_, index): History => [
        { status: 'failed', minute: index / 1_000 },
        { status: 'delivered', minute: 30 },
      ],
    );
    const [last] = (await put(owner, [...covered, [{ status: 'failed', minute: 20 }]])).slice(-1);
    // The test runs `analyze` as autovacuum would: without statistics the planner takes the table
    // for empty.
    await h.database.query({ text: 'analyze deliveries' });
    const first = expectAccepted(await resend(owner));
    expect(first).toEqual({ resent: 0, resumeFrom: at((MAX_EXAMINED_DELIVERIES - 1) / 1_000) });
    expect(expectAccepted(await resend(owner, first.resumeFrom))).toEqual({ resent: 1, resumeFrom: undefined });
    expect(await resentEvents(owner)).toEqual([last]);
  });

  it('nothing is resent to an endpoint that is off, or to another developer’s endpoint', async () => {
    const owner = await h.createEndpoint();
    await put(owner, [FAILED]);
    expect(await resend({ ...owner, developerId: newId() })).toEqual(refused('not_found'));
    await h.webhook.updateEndpoint({ developerId: owner.developerId, endpointId: owner.endpoint.id, active: false });
    expect(await resend(owner)).toEqual(refused('conflict', 'The endpoint is off.'));
    expect(await resentEvents(owner)).toEqual([]);
  });
});
