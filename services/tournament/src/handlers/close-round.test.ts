/** A partner's test ends the entries of one sandbox round, or the round itself. */

import { AttemptStatus } from '@laurel/proto/attempts';
import { PayoutStatus, RoundStatus } from '@laurel/proto/tournament';
import { expectAccepted } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { describe, expect, it } from 'vitest';
import { play, roundOf, statusOf, tableOf } from '../rounds.fixture.ts';
import {
  created,
  FEE,
  FUNDS,
  HOUR_MS,
  LIVE_PROGRAM,
  OTHER_PROGRAM,
  PROGRAM,
  recorded,
  useHarness,
  verdictOf,
} from '../tournament.fixture.ts';

const h = useHarness();

const close = (roundId: string, tenant = PROGRAM) => h.tournament.closeRound({ tenant, roundId });
const closeEntries = (roundId: string, tenant = PROGRAM) => h.tournament.closeEntries({ tenant, roundId });

describe('entries that are closed manually', () => {
  it('closing entries manually stops new entries at once, but not scores', async () => {
    const { round, player, attempt } = await h.openAttempt();
    const other = await h.openRound();
    h.clock.advance(HOUR_MS / 2);
    const { round: closed } = expectAccepted(await closeEntries(round.id));
    expect(closed).toEqual({ ...(await roundOf(h, round.id)), entriesCloseAt: h.clock() });
    expect(closed?.closesAt).toEqual(round.closesAt);
    for (const { ref } of [player, await h.player()]) {
      expect(verdictOf(await h.create(round.id, ref))).toBe('entries_closed');
    }
    recorded(await h.report(attempt.id, 1));
    expect((await roundOf(h, other.id)).entriesCloseAt).toEqual(other.entriesCloseAt);

    h.clock.advance(1_000);
    expect(expectAccepted(await closeEntries(round.id)).round).toEqual(closed);
  });
});

describe('a round that is closed manually', () => {
  it('a round that is closed manually is settled before the response', async () => {
    const round = await h.openRound();
    const [first, second] = [await h.player(), await h.player()];
    await play(h, round.id, first, 2);
    await play(h, round.id, second, 1);
    const open = created(await h.create(round.id, second.ref));
    const { round: closed } = expectAccepted(await close(round.id));
    expect(closed).toMatchObject({
      status: RoundStatus.SETTLED,
      closesAt: h.clock(),
      entriesCloseAt: h.clock(),
      settledAt: h.clock(),
      entrantCount: 2,
    });
    expect(closed).toEqual(await roundOf(h, round.id));
    expect(await h.balance(first.accountId)).toBe(FUNDS - FEE + 10_000n);
    expect(await h.balance(second.accountId)).toBe(FUNDS - FEE + 5_000n);
    expect(await statusOf(h, open.id)).toBe(AttemptStatus.EXPIRED);
    expect(verdictOf(await h.report(open.id, 99))).toBe('round_closed');
    expect(verdictOf(await h.create(round.id, (await h.player()).ref))).toBe('entries_closed');
    expect(await close(round.id)).toMatchObject({ code: 'conflict' });
    expect(await closeEntries(round.id)).toMatchObject({ code: 'conflict' });
  });

  it('a round with too few entrants is cancelled before the response to its manual close', async () => {
    const { round, player, attempt } = await h.openAttempt({ minEntrants: 2 });
    recorded(await h.report(attempt.id, 1));
    const open = created(await h.create(round.id, player.ref));
    const { round: closed } = expectAccepted(await close(round.id));
    expect(closed).toMatchObject({ status: RoundStatus.CANCELLED, settledAt: undefined, entrantCount: 1 });
    expect(await closeEntries(round.id)).toMatchObject({ code: 'conflict' });
    expect(await h.balance(player.accountId)).toBe(FUNDS);
    expect(await statusOf(h, attempt.id)).toBe(AttemptStatus.SETTLED);
    expect(await statusOf(h, open.id)).toBe(AttemptStatus.EXPIRED);
    expect(verdictOf(await h.report(open.id, 99))).toBe('round_closed');
    expect(verdictOf(await h.create(round.id, (await h.player()).ref))).toBe('entries_closed');
    expect(await tableOf(h, round.id)).toMatchObject([
      { rank: 1n, finalRank: undefined, payoutCents: 0n, payoutStatus: PayoutStatus.REFUNDED, paidAttempts: 2 },
    ]);
  });

  it('closing a round manually is refused in live, and for another tenant’s round', async () => {
    const round = await h.openRound();
    const live = await h.openRound({}, { tenant: LIVE_PROGRAM });
    const later = await h.openRound({}, { opensInMs: HOUR_MS });
    for (const call of [close, closeEntries]) {
      expect(await call(round.id, OTHER_PROGRAM)).toMatchObject({ code: 'not_found' });
      expect(await call(newId())).toMatchObject({ code: 'not_found' });
      expect(await call(live.id)).toMatchObject({ code: 'not_found' });
      expect(await call(later.id)).toMatchObject({ code: 'conflict' });
      await expect(call(live.id, LIVE_PROGRAM)).rejects.toThrow();
    }
    expect(await roundOf(h, round.id)).toMatchObject({ status: RoundStatus.OPEN, closesAt: round.closesAt });
  });

  it('closing a round manually resolves its pending attempts', async () => {
    const { round, player, attemptId } = await h.pendingAttempt();
    const before = await h.balance(player.accountId);
    expectAccepted(await close(round.id));
    expect(await h.tournament.getAttempt({ tenant: PROGRAM, attemptId })).toMatchObject({ code: 'not_found' });
    expect(verdictOf(await h.create(round.id, player.ref, attemptId))).toBe('entries_closed');
    // The other attempt of this player was open and had no score.
    expect(await h.balance(player.accountId)).toBe(before + FEE);
  });

  it('a repeated call completes the close of a round that failed while the wallet was down', async () => {
    const { round, player, attempt } = await h.openAttempt();
    recorded(await h.report(attempt.id, 1));
    await h.stopWallet();
    await expect(close(round.id)).rejects.toThrow();
    expect((await roundOf(h, round.id)).status).toBe(RoundStatus.SETTLING);
    await h.startWallet();
    expect(expectAccepted(await close(round.id)).round?.status).toBe(RoundStatus.SETTLED);
    expect(await h.balance(player.accountId)).toBe(FUNDS - FEE + 10_000n);
  });

  it('every call in flight while a round is closed either completes or is refused as too late', async () => {
    const round = await h.openRound({ attemptCap: 10 });
    const players = await Promise.all(Array.from({ length: 6 }, () => h.player()));
    const receipts = await Promise.all(players.map((player) => play(h, round.id, player, 1)));
    const traffic = players.map(async (player) => {
      const verdicts: string[] = [];
      for (let count = 0; count < 4; count += 1) {
        const result = await h.create(round.id, player.ref);
        verdicts.push(verdictOf(result));
        if (result?.$case === 'attempt') verdicts.push(verdictOf(await h.report(result.value.id, Math.random())));
      }
      return verdicts;
    });
    const [closed, ...verdicts] = await Promise.all([close(round.id), ...traffic]);
    expect(expectAccepted(closed).round?.status).toBe(RoundStatus.SETTLED);
    for (const verdict of new Set(verdicts.flat())) {
      expect(['attempt', 'outcome', 'entries_closed', 'round_closed']).toContain(verdict);
    }
    expect((await tableOf(h, round.id)).length).toBe(players.length);
    expect(new Set(receipts).size).toBe(players.length);
    await h.server.sweepOnce();
    expect(await h.violations()).toEqual([]);
  });
});
