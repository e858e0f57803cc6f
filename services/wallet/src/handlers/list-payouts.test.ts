/** The operator's list of payouts and its filters. */
import { Environment } from '@laurel/proto/common';
import { type ListPayoutsRequest, type Payout, PayoutStatus } from '@laurel/proto/wallet';
import { newId, newOwnedId } from '@laurel/values/ids';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_WINDOWS_PER_PAGE, payoutListSql, payoutWindowSql, ROWS_OF_WINDOW } from '../repository/payout-list.ts';
import {
  addPlayer,
  awardOf,
  ok,
  openTestWallet,
  refusalOf,
  type TestPlayer,
  type TestWallet,
} from '../wallet.fixture.ts';

const PROGRAMS = [newId(), newId()];
let wallet: TestWallet;

beforeAll(async () => {
  wallet = await openTestWallet();
});
afterAll(() => wallet[Symbol.asyncDispose]());

type Filter = Partial<Pick<ListPayoutsRequest, 'status' | 'accountId' | 'programId' | 'environment'>>;

async function pageOf(filter: Filter, limit: number, cursor = '') {
  return ok(wallet.client.listPayouts({ status: PayoutStatus.UNSPECIFIED, ...filter, limit, cursor }));
}

async function pagesOf(filter: Filter, limit: number): Promise<Payout[][]> {
  const pages: Payout[][] = [];
  let cursor = '';
  do {
    const { payouts, nextCursor } = await pageOf(filter, limit, cursor);
    pages.push(payouts);
    cursor = nextCursor;
  } while (cursor !== '');
  return pages;
}

/** Adds payouts that are held because the account has a flag, one second apart, the newest last. */
async function addHeld({ accountId }: TestPlayer, count: number): Promise<void> {
  const text = `
    insert into payouts (award_id, attempt_id, program_id, environment, account_id, amount_cents, status, reason, created_at)
    select award_id, attempt_id, $3, 'live', $4, 100, 'held', 'enforcement_flag', $5::timestamptz + position * interval '1 s'
    from unnest($1::uuid[], $2::uuid[]) with ordinality as new (award_id, attempt_id, position)`;
  const ids = () => Array.from({ length: count }, () => newOwnedId('challenge'));
  await wallet.database.query({ text }, [ids(), ids(), newId(), accountId, wallet.clock.now]);
  wallet.clock.advance((count + 1) * 1_000);
}

describe('the list of payouts', () => {
  it('a filtered list has exactly the matching payouts, newest first, each once', async () => {
    const players: TestPlayer[] = [];
    for (const programId of PROGRAMS) {
      players.push(await addPlayer(wallet, { programId }));
      players.push(await addPlayer(wallet, { programId, environment: Environment.TEST }));
    }
    for (let index = 0; index < 24; index += 1) {
      const player = players[index % players.length] as TestPlayer;
      // Every other payout exceeds the velocity limit; some share an instant.
      const payment = awardOf(player, index % 2 === 0 ? 1_00n : 501_00n);
      const { payouts } = await ok(wallet.client.payAwards({ payments: [payment] }));
      const isHeld = payouts[0]?.status === PayoutStatus.HELD;
      if (isHeld && index % 3 === 0)
        await ok(wallet.client.denyPayout({ ...payment, operator: 'ana', reason: 'a bot' }));
      if (index % 5 === 0) wallet.clock.advance(1_000);
    }
    const all = (await pagesOf({}, 200)).flat();
    expect(all).toHaveLength(24);
    expect(new Set(all.map(({ status }) => status)).size).toBe(3);
    const filters = fc.record({
      status: fc.constantFrom(PayoutStatus.UNSPECIFIED, PayoutStatus.PAID, PayoutStatus.HELD, PayoutStatus.DENIED),
      accountId: fc.constantFrom(undefined, newId(), ...players.map(({ accountId }) => accountId)),
      programId: fc.constantFrom(undefined, newId(), ...PROGRAMS),
      environment: fc.constantFrom(undefined, Environment.TEST, Environment.LIVE),
    });
    await fc.assert(
      fc.asyncProperty(filters, fc.integer({ min: 1, max: 30 }), async (filter, limit) => {
        const { status, accountId, programId, environment } = filter;
        const wanted = all.filter(
          (payout) =>
            (status === PayoutStatus.UNSPECIFIED || payout.status === status) &&
            (accountId === undefined || payout.accountId === accountId) &&
            (programId === undefined || payout.tenant?.programId === programId) &&
            (environment === undefined || payout.tenant?.environment === environment),
        );
        const pages = await pagesOf(filter, limit);
        expect(pages.flat()).toEqual(wanted);
        for (const page of pages) expect(page.length).toBeLessThanOrEqual(limit);
      }),
      { numRuns: 60 },
    );
  });

  it('a filter by a text that is not an id is refused', async () => {
    const request = { status: PayoutStatus.UNSPECIFIED, limit: 1, cursor: '' };
    expect(await refusalOf(wallet.client.listPayouts({ ...request, accountId: 'x' }))).toBe('invalid_request');
    expect(await refusalOf(wallet.client.listPayouts({ ...request, programId: '' }))).toBe('invalid_request');
  });

  it('a page reads a limited number of payouts, and the next page continues after them', async () => {
    const [rare, usual] = [await addPlayer(wallet), await addPlayer(wallet)];
    await addHeld(rare, 3);
    await addHeld(usual, MAX_WINDOWS_PER_PAGE * ROWS_OF_WINDOW + 1);
    await addHeld(rare, 2);
    const { accountId } = rare;
    for (const filter of [{ accountId }, { accountId, status: PayoutStatus.HELD }]) {
      const pages = await pagesOf(filter, 200);
      expect(pages.map((page) => page.length)).toEqual([2, 3]);
      expect((await pagesOf(filter, 1)).map((page) => page.length)).toEqual([1, 1, 0, 1, 1, 1, 0]);
    }
    expect((await pageOf({ ...usual, status: PayoutStatus.PAID }, 1)).payouts).toEqual([]);
  });

  it('the list is read from the index of its order, and a list of a rare status reads no other payout', async () => {
    await addHeld(await addPlayer(wallet), 20_000);
    await wallet.database.query({ text: 'vacuum analyze payouts' });
    const scansOf = async (sql: string) => {
      const text = `explain (generic_plan) ${sql}`;
      const plan = await wallet.database.query<{ 'QUERY PLAN': string }>({ text });
      return plan.flatMap((row) => /([\w ]+ Scan.*) on payouts/.exec(row['QUERY PLAN'])?.[1]?.trim() ?? []);
    };
    expect(await scansOf(payoutWindowSql('every_status'))).toEqual(['Index Scan using payouts_newest_idx']);
    expect(await scansOf(payoutWindowSql('held'))).toEqual([
      'Index Only Scan using payouts_held_idx',
      'Index Scan using payouts_pkey',
    ]);
    for (const rare of ['paid', 'denied'] as const) {
      expect(await scansOf(payoutWindowSql(rare))).toEqual(['Index Scan using payouts_newest_by_status_idx']);
      expect(await scansOf(payoutListSql(rare))).toEqual(['Index Scan using payouts_newest_by_status_idx']);
    }
  });
});
