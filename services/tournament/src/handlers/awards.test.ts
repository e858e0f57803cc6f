/** Purses that are held for review: an operator releases or denies each, never both. */

import { PayoutStatus as WalletPayoutStatus } from '@laurel/proto/wallet';
import { expectAccepted } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { describe, expect, it } from 'vitest';
import { awardIdOfRank } from '../domain/purse.ts';
import { created, FEE, FUNDS, PROGRAM, recorded, useHarness } from '../tournament.fixture.ts';

const h = useHarness();
const WON = 10_000n;

/** The purse of a settled round's winner, held by the wallet. */
async function heldAward() {
  const round = await h.openRound();
  const player = await h.player();
  const { id: attemptId } = created(await h.create(round.id, player.ref));
  recorded(await h.report(attemptId, 1));
  expectAccepted(await h.wallet.holdNextAward({ player: { tenant: PROGRAM, playerRef: player.ref } }));
  expectAccepted(await h.tournament.closeRound({ tenant: PROGRAM, roundId: round.id }));
  const awardId = awardIdOfRank(round.id, 1);
  expect(await payoutOf(awardId)).toEqual({ status: 'held', isPaid: false });
  expect(await h.balance(player.accountId)).toBe(FUNDS - FEE);
  return { awardId, attemptId, accountId: player.accountId };
}

async function payoutOf(awardId: string) {
  const [row] = await h.database.query<{ status: string; isPaid: boolean }>(
    { text: 'select status, paid_at is not null as "isPaid" from round_payouts where award_id = $1' },
    [awardId],
  );
  return row;
}

describe('a held purse', () => {
  it('a held purse is paid once, however often its release is repeated', async () => {
    const { awardId, accountId } = await heldAward();
    expect(await h.tournament.releaseAward({ awardId })).toEqual({});
    expect(await h.tournament.releaseAward({ awardId })).toEqual({});
    expect(await payoutOf(awardId)).toEqual({ status: 'paid', isPaid: true });
    expect(await h.balance(accountId)).toBe(FUNDS - FEE + WON);
    expect(await h.tournament.denyAward({ awardId })).toMatchObject({ code: 'conflict' });
  });

  it('a denied purse stays unpaid and cannot be released', async () => {
    const { awardId, accountId } = await heldAward();
    expect(await h.tournament.denyAward({ awardId })).toEqual({});
    expect(await h.tournament.denyAward({ awardId })).toEqual({});
    expect(await h.tournament.releaseAward({ awardId })).toMatchObject({ code: 'conflict' });
    expect(await payoutOf(awardId)).toEqual({ status: 'denied', isPaid: false });
    expect(await h.balance(accountId)).toBe(FUNDS - FEE);
  });

  it('an operator sees the id of the purse that an attempt won', async () => {
    const { awardId, attemptId } = await heldAward();
    const describe = async (id: string) =>
      expectAccepted(await h.tournament.describeAttempt({ programId: '', attemptId: id, anyProgram: true }));
    expect(await describe(attemptId)).toMatchObject({ awardId, tenant: PROGRAM });
    const { attempt } = await h.openAttempt();
    expect(await describe(attempt.id)).toMatchObject({ awardId: '' });
  });

  it('a held purse is not found under another id', async () => {
    expect(await h.tournament.releaseAward({ awardId: newId() })).toMatchObject({ code: 'not_found' });
    expect(await h.tournament.denyAward({ awardId: newId() })).toMatchObject({ code: 'not_found' });
  });

  it('a concurrent release and denial of a held purse never both take effect', async () => {
    const { awardId, accountId } = await heldAward();
    const [released, denied] = await Promise.all([
      h.tournament.releaseAward({ awardId }),
      h.tournament.denyAward({ awardId }),
    ]);
    const isReleased = Object.keys(released).length === 0;
    expect(isReleased ? denied : released).toMatchObject({ code: 'conflict' });
    expect(await payoutOf(awardId)).toEqual({ status: isReleased ? 'paid' : 'denied', isPaid: isReleased });
    expect(await h.balance(accountId)).toBe(FUNDS - FEE + (isReleased ? WON : 0n));
  });

  it('the sweeper completes an interrupted release of a held purse', async () => {
    const before = await heldAward();
    const after = await heldAward();
    await h.database.query({ text: `update round_payouts set status = 'releasing' where award_id = any($1)` }, [
      [before.awardId, after.awardId],
    ]);
    expectAccepted(await h.wallet.releasePayout({ awardId: after.awardId }));
    h.clock.advance(2_000);
    await h.server.sweepOnce();
    for (const { awardId, accountId } of [before, after]) {
      expect(expectAccepted(await h.wallet.getPayout({ awardId })).payout?.status).toBe(WalletPayoutStatus.PAID);
      expect(await payoutOf(awardId)).toEqual({ status: 'paid', isPaid: true });
      expect(await h.balance(accountId)).toBe(FUNDS - FEE + WON);
    }
  });

  it('a review is stored with its operator and reason, even if the sweeper completes it', async () => {
    const review = { operator: 'ana', reason: 'two players are one' };
    const [whole, interrupted] = [await heldAward(), await heldAward()];
    expect(await h.tournament.denyAward({ awardId: whole.awardId, ...review })).toEqual({});
    // Leaves the rows as a process does that is killed after the commit that begins the review.
    await h.database.transaction(async (tx) => {
      const { awardId } = interrupted;
      await tx.query({ text: `update round_payouts set status = 'denying' where award_id = $1` }, [awardId]);
      const text = `insert into award_reviews (award_id, decision, operator, reason) values ($1, 'denied', $2, $3)`;
      await tx.query({ text }, [awardId, review.operator, review.reason]);
    });
    h.clock.advance(2_000);
    await h.server.sweepOnce();
    for (const { awardId } of [whole, interrupted]) {
      const { payout } = expectAccepted(await h.wallet.getPayout({ awardId }));
      expect(payout).toMatchObject({ status: WalletPayoutStatus.DENIED, decision: review });
      expect(await payoutOf(awardId)).toEqual({ status: 'denied', isPaid: false });
    }
  });
});
