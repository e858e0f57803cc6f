/** What became of the deliveries of a program's events. */

import { Environment } from '@laurel/proto/common';
import { expectAccepted } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { later } from '@laurel/values/instant';
import { expect, it } from 'vitest';
import { MAX_EXAMINED_EACH } from '../repository/delivery-summary.ts';
import { useHarness } from '../webhook.fixture.ts';

const h = useHarness();
const HOUR_MS = 3_600_000;

type Stored = {
  readonly programId: string | null;
  readonly environment: 'test' | 'live';
  readonly status: string;
  readonly hoursAgo: number;
};

async function put(endpointId: string, stored: readonly Stored[]): Promise<void> {
  await h.database.query(
    {
      text: `
insert into deliveries (id, endpoint_id, event_id, event_type, program_id, environment, body, status, attempts, next_attempt_at, created_at)
select gen_random_uuid(), $1, gen_random_uuid(), 'attempt.settled', n.program_id, case when n.program_id is not null then n.environment end,
  '{}', n.status, case n.status when 'pending' then 0 else 1 end,
  case n.status when 'pending' then '9999-01-01T00:00:00Z'::timestamptz end, n.created_at
from unnest($2::uuid[], $3::text[], $4::text[], $5::timestamptz[]) as n (program_id, environment, status, created_at)`,
    },
    [
      endpointId,
      stored.map(({ programId }) => programId),
      stored.map(({ environment }) => environment),
      stored.map(({ status }) => status),
      stored.map(({ hoursAgo }) => later(h.clock(), -hoursAgo * HOUR_MS)),
    ],
  );
}

const summary = async (developerId: string, programId: string, environment: Environment, hours: number) =>
  expectAccepted(
    await h.webhook.summarizeDeliveries({
      developerId,
      tenant: { programId, environment },
      from: later(h.clock(), -hours * HOUR_MS),
    }),
  );

it('the summary counts a program’s deliveries over all endpoints of its developer, in one environment', async () => {
  const [programId, other] = [newId(), newId()];
  const { developerId, endpoint: all } = await h.createEndpoint({ programIds: [programId, other] });
  const none = await summary(developerId, programId, Environment.LIVE, 24);
  expect(none).toEqual({ delivered: 0, failed: 0, pending: 0, endpointCreatedAt: all.createdAt });
  h.clock.advance(HOUR_MS);
  const own = { developerId, programIds: [programId, other], programId, environment: Environment.LIVE };
  const { endpoint } = await h.createEndpoint(own);
  const { endpoint: deleted } = await h.createEndpoint(own);
  const live = { programId, environment: 'live' } as const;
  await put(all.id, [
    { ...live, status: 'delivered', hoursAgo: 1 },
    { ...live, status: 'failed', hoursAgo: 2 },
    { ...live, status: 'delivered', hoursAgo: 30 },
    { programId, environment: 'test', status: 'delivered', hoursAgo: 1 },
    { programId: other, environment: 'live', status: 'failed', hoursAgo: 1 },
    { programId: null, environment: 'live', status: 'failed', hoursAgo: 1 },
  ]);
  await put(endpoint.id, [
    { ...live, status: 'delivered', hoursAgo: 3 },
    { ...live, status: 'pending', hoursAgo: 3 },
  ]);
  await put(deleted.id, [{ ...live, status: 'failed', hoursAgo: 1 }]);
  await h.webhook.deleteEndpoint({ developerId, endpointId: deleted.id });
  const found = await summary(developerId, programId, Environment.LIVE, 24);
  expect(found).toEqual({
    delivered: 2,
    failed: 1,
    pending: 1,
    endpointCreatedAt: all.createdAt,
    deliveredAt: later(h.clock(), -30 * HOUR_MS),
  });
  expect(await summary(developerId, programId, Environment.TEST, 24)).toMatchObject({ delivered: 1, failed: 0 });
  expect(await summary(newId(), programId, Environment.LIVE, 24)).toEqual({ delivered: 0, failed: 0, pending: 0 });
});

it('a summary of too many deliveries counts only the newest of each endpoint', async () => {
  const programId = newId();
  const { developerId, endpoint } = await h.createEndpoint({ programIds: [programId] });
  const hoursAgo = (index: number) => 20 * (1 - index / (MAX_EXAMINED_EACH + 5));
  const stored = Array.from({ length: MAX_EXAMINED_EACH + 5 }, (_, index) => ({
    programId,
    environment: 'live' as const,
    status: 'delivered',
    hoursAgo: hoursAgo(index),
  }));
  await put(endpoint.id, stored);
  const found = await summary(developerId, programId, Environment.LIVE, 24);
  expect(found.delivered).toBe(MAX_EXAMINED_EACH);
  expect(found.countedFrom).toEqual(later(h.clock(), -hoursAgo(5) * HOUR_MS));
});
