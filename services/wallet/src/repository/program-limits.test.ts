/**
 * The sum of a program's recent payouts, over tables that have only payouts. The sum equals adding
 * the payouts one by one, and takes no longer for many payouts than for few.
 */
import type { Transaction } from '@laurel/postgres';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { useTestWallet } from '../wallet.fixture.ts';
import { recentProgramPayoutsSql } from './program-limits.ts';

const wallet = useTestWallet();

const PROGRAM = '00000000-0000-7000-8000-000000000001';
const SINCE = Date.parse('2026-03-01T00:00:00Z');
const MINUTE_MS = 60_000;
const SUM = recentProgramPayoutsSql({
  programId: '$1::uuid',
  environment: "'live'",
  since: '$2::timestamptz',
  countCents: '$3::bigint',
});

type Payout = { readonly paidAt: number; readonly cents: bigint; readonly isCounted: boolean };

/**
 * Hides the real table of payouts from this transaction behind a temporary one with these payouts,
 * which took the program's lock in this order.
 */
async function putPayouts(tx: Transaction, payouts: readonly Payout[]): Promise<bigint> {
  await tx.query({ text: 'create temporary table if not exists payouts (like public.payouts including indexes)' });
  await tx.query({ text: 'truncate pg_temp.payouts' });
  let count = 0n;
  const counts = payouts.map(({ cents, isCounted }) => {
    if (isCounted) count += cents;
    return isCounted ? count : null;
  });
  await tx.query(
    {
      text: `
        insert into pg_temp.payouts (award_id, program_id, environment, account_id, amount_cents, status, created_at, paid_at, program_paid_cents)
        select gen_random_uuid(), $1, 'live', gen_random_uuid(), p.cents, 'paid', p.paid_at, p.paid_at, p.count_cents
        from unnest($2::bigint[], $3::timestamptz[], $4::bigint[]) as p (cents, paid_at, count_cents)`,
    },
    [PROGRAM, payouts.map(({ cents }) => cents), payouts.map(({ paidAt }) => new Date(paidAt)), counts],
  );
  return count;
}

it('the sum includes every payout after the instant, even if payouts took the lock in another order', async () => {
  // Instants near the window's start, and far from the start on both sides.
  const moment = fc.oneof(
    fc.integer({ min: -4 * MINUTE_MS, max: 4 * MINUTE_MS }),
    fc.constantFrom(-MINUTE_MS - 1, -MINUTE_MS, -MINUTE_MS + 1, -1, 0, 1, -50 * MINUTE_MS, 50 * MINUTE_MS),
  );
  const payout = fc.record({
    lockedAt: moment,
    // How long the payout waited for the lock after it took its instant.
    waitedMs: fc.oneof(fc.constantFrom(0, 1), fc.nat(MINUTE_MS - 1)),
    cents: fc.bigInt({ min: 1n, max: 1_000n }),
    // Payouts from before the count existed are uncounted.
    isCounted: fc.boolean().map((isOld) => !isOld),
  });
  await wallet.database.transaction(async (tx) => {
    await fc.assert(
      fc.asyncProperty(fc.array(payout, { maxLength: 12 }), async (drawn) => {
        const payouts = drawn
          .toSorted((a, b) => a.lockedAt - b.lockedAt)
          .map(({ lockedAt, waitedMs, ...rest }) => ({ ...rest, paidAt: SINCE + lockedAt - waitedMs }));
        const count = await putPayouts(tx, payouts);
        const [row] = await tx.query<{ paid_cents: bigint }>({ text: SUM }, [PROGRAM, new Date(SINCE), count]);
        const expected = payouts.reduce((sum, { paidAt, cents }) => (paidAt > SINCE ? sum + cents : sum), 0n);
        expect(row?.paid_cents).toBe(expected);
      }),
      { numRuns: 200 },
    );
  });
});

it('the sum reads as few pages for 20,000 payouts in the window as for 200', async () => {
  const pagesAt = (payouts: number) =>
    wallet.database.transaction(async (tx) => {
      const spread = (24 * 60 * MINUTE_MS) / payouts;
      const made = Array.from({ length: payouts }, (_, index) => ({
        paidAt: SINCE - 10 * MINUTE_MS + index * spread,
        cents: 100n,
        isCounted: true,
      }));
      const count = await putPayouts(tx, made);
      await tx.query({ text: 'analyze pg_temp.payouts' });
      const plan = await tx.query<{ 'QUERY PLAN': string }>(
        { text: `explain (analyze, buffers, costs off, timing off, summary off) ${SUM}` },
        [PROGRAM, new Date(SINCE), count],
      );
      const [, pages] = /local hit=(\d+)/.exec(plan.map((row) => row['QUERY PLAN']).join('\n')) ?? [];
      return Number(pages);
    });
  const few = await pagesAt(200);
  expect(few).toBeGreaterThan(0);
  expect(await pagesAt(20_000)).toBeLessThanOrEqual(few + 10);
});
