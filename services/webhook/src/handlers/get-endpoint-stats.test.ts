/** What became of an endpoint's deliveries. */
import { refused } from '@laurel/errors';
import { expectAccepted } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { later } from '@laurel/values/instant';
import { describe, expect, it } from 'vitest';
import { MAX_COUNTED_ITEMS } from '../repository/delivery-stats.ts';
import { useHarness } from '../webhook.fixture.ts';

const h = useHarness();
const HOUR_MS = 3_600_000;

type Owner = Awaited<ReturnType<typeof h.createEndpoint>>;
type Stored = {
  readonly status: 'delivered' | 'failed' | 'pending';
  readonly hoursAgo: number;
  readonly durationMs?: number;
};

/**
 * Stores deliveries and returns their ids. Each that is not pending has one send, which has ended.
 */
async function put({ endpoint }: Owner, stored: readonly Stored[]): Promise<readonly string[]> {
  const now = h.clock();
  const rows = stored.map((delivery) => ({
    ...delivery,
    id: newId(),
    createdAt: later(now, -delivery.hoursAgo * HOUR_MS),
  }));
  await h.database.query(
    {
      text: `
with inserted as (
  insert into deliveries (id, endpoint_id, event_id, event_type, body, status, attempts, next_attempt_at, created_at)
  select n.id, $1, gen_random_uuid(), 'attempt.settled', '{}', n.status, case n.status when 'pending' then 0 else 1 end,
    case n.status when 'pending' then '9999-01-01T00:00:00Z'::timestamptz end, n.created_at
  from unnest($2::uuid[], $3::text[], $4::timestamptz[]) as n (id, status, created_at)
  returning id
)
insert into delivery_attempts (delivery_id, number, started_at, duration_ms, http_status, error_kind)
select n.id, 1, n.created_at, n.duration_ms, case n.status when 'failed' then 503 else 204 end, case n.status when 'failed' then 'http_5xx' end
from unnest($2::uuid[], $3::text[], $4::timestamptz[], $5::float8[]) as n (id, status, created_at, duration_ms)
where n.status <> 'pending'`,
    },
    [
      endpoint.id,
      rows.map(({ id }) => id),
      rows.map(({ status }) => status),
      rows.map(({ createdAt }) => createdAt),
      rows.map(({ durationMs }) => durationMs ?? 10),
    ],
  );
  return rows.map(({ id }) => id);
}

const stats = async ({ developerId, endpoint }: Owner, hours: number) =>
  expectAccepted(await h.webhook.getEndpointStats({ developerId, endpointId: endpoint.id, hours }));

describe('the statistics of an endpoint', () => {
  it('the statistics of a new endpoint are zero in every bucket', async () => {
    const found = await stats(await h.createEndpoint(), 24);
    expect(found).toMatchObject({ delivered: 0, failed: 0, pending: 0, countedFrom: undefined });
    expect([found.p50Ms, found.p95Ms, found.lastFailure]).toEqual([undefined, undefined, undefined]);
    expect(found.buckets).toHaveLength(24);
    expect(found.buckets.every(({ delivered, failed }) => delivered + failed === 0)).toBe(true);
  });

  it('the statistics count deliveries by state, in the bucket in which they were created', async () => {
    const owner = await h.createEndpoint();
    await put(await h.createEndpoint(), [{ status: 'failed', hoursAgo: 1 }]);
    const [, lastFailed] = await put(owner, [
      { status: 'failed', hoursAgo: 23.5, durationMs: 40 },
      { status: 'failed', hoursAgo: 1.5, durationMs: 30 },
      { status: 'delivered', hoursAgo: 1.25, durationMs: 20 },
      { status: 'delivered', hoursAgo: 0, durationMs: 10 },
      { status: 'pending', hoursAgo: 0.5 },
      { status: 'delivered', hoursAgo: 24.1, durationMs: 9_000 },
    ]);
    const found = await stats(owner, 24);
    expect(found).toMatchObject({ delivered: 2, failed: 2, pending: 1, p50Ms: 25, countedFrom: undefined });
    expect(found.p95Ms).toBeCloseTo(38.5);
    expect(found.lastFailure).toEqual({
      deliveryId: lastFailed,
      at: later(h.clock(), -1.5 * HOUR_MS),
      httpStatus: 503,
      errorKind: 'http_5xx',
    });
    const filled = found.buckets.flatMap(({ delivered, failed }, index) =>
      delivered + failed === 0 ? [] : [[index, delivered, failed]],
    );
    expect(filled).toEqual([
      [0, 0, 1],
      [22, 1, 1],
      [23, 1, 0],
    ]);
    const [first] = found.buckets;
    expect(first?.from).toEqual(later(h.clock(), -24 * HOUR_MS));
    expect((await stats(owner, 48)).delivered).toBe(3);
  });

  it('a delivery that was closed because its endpoint was off counts as a failure', async () => {
    const owner = await h.createEndpoint();
    const [id] = await put(owner, [{ status: 'pending', hoursAgo: 2 }]);
    const { developerId, endpoint } = owner;
    await h.webhook.updateEndpoint({ developerId, endpointId: endpoint.id, active: false });
    expect((await stats(owner, 24)).lastFailure).toEqual({ deliveryId: id, at: h.clock(), errorKind: 'endpoint_off' });
  });

  it('the statistics of an endpoint with too many deliveries count only the newest', async () => {
    const owner = await h.createEndpoint();
    const hoursAgo = (index: number) => 700 * (1 - index / (MAX_COUNTED_ITEMS + 10));
    await put(
      owner,
      Array.from({ length: MAX_COUNTED_ITEMS + 10 }, (_, index) => ({
        status: 'delivered' as const,
        hoursAgo: hoursAgo(index),
      })),
    );
    const found = await stats(owner, 720);
    expect(found.delivered).toBe(MAX_COUNTED_ITEMS);
    expect(found.countedFrom).toEqual(later(h.clock(), -hoursAgo(10) * HOUR_MS));
    expect(found.buckets).toHaveLength(30);
  });

  it('the statistics are not_found for another developer', async () => {
    const { endpoint } = await h.createEndpoint();
    const asked = { developerId: newId(), endpointId: endpoint.id, hours: 24 };
    expect(await h.webhook.getEndpointStats(asked)).toEqual(refused('not_found'));
  });
});
