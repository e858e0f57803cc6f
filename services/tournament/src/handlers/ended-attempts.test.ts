/** Attempts that end without an outcome: voided, expired manually, or ended with their round. */

import { AttemptStatus } from '@laurel/proto/attempts';
import { RoundStatus, GetLeaderboardResponse_View as View } from '@laurel/proto/tournament';
import { expectAccepted } from '@laurel/testing';
import { newOwnedId } from '@laurel/values/ids';
import { describe, expect, it } from 'vitest';
import { boardOf } from '../rounds.fixture.ts';
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

async function read(attemptId: string) {
  return expectAccepted(await h.tournament.getAttempt({ tenant: PROGRAM, attemptId })).attempt;
}

/** An open attempt in a round of half an hour, which ends before the attempt's deadline. */
async function shortAttempt() {
  const round = await h.openRound({}, { lengthMs: HOUR_MS / 2 });
  const player = await h.player();
  return { round, player, attempt: created(await h.create(round.id, player.ref)) };
}

describe('an attempt that an operator voids', () => {
  it('a voided attempt is refunded and cannot be voided again', async () => {
    const { attempt, player } = await h.openAttempt();
    const voided = expectAccepted(
      await h.tournament.voidAttempt({ attemptId: attempt.id, reason: 'a broken game' }),
    ).attempt;
    expect(voided).toEqual({ ...attempt, status: AttemptStatus.VOIDED });
    expect(await read(attempt.id)).toEqual(voided);
    expect(await h.balance(player.accountId)).toBe(FUNDS);
    expect(await h.tournament.voidAttempt({ attemptId: attempt.id, reason: 'again' })).toMatchObject({
      code: 'conflict',
    });
  });

  it('an operator may void an attempt right after its creation', async () => {
    const round = await h.openRound({ attemptCap: 100 });
    const player = await h.player();
    await Promise.all(
      Array.from({ length: 30 }, async () => {
        const attempt = created(await h.create(round.id, player.ref));
        const voided = expectAccepted(
          await h.tournament.voidAttempt({ attemptId: attempt.id, reason: 'at once' }),
        ).attempt;
        expect(voided).toEqual({ ...attempt, status: AttemptStatus.VOIDED });
      }),
    );
    expect(await h.balance(player.accountId)).toBe(FUNDS);
  });

  it('only an open attempt can be voided, and only with a reason', async () => {
    const { attempt } = await h.openAttempt();
    const unknown = newOwnedId('tournament');
    expect(await h.tournament.voidAttempt({ attemptId: unknown, reason: 'x' })).toMatchObject({ code: 'not_found' });
    for (const reason of ['', 'x'.repeat(1_001), '\0']) {
      expect(await h.tournament.voidAttempt({ attemptId: attempt.id, reason })).toMatchObject({
        code: 'invalid_request',
      });
    }
    recorded(await h.report(attempt.id, 1));
    expect(await h.tournament.voidAttempt({ attemptId: attempt.id, reason: 'x' })).toMatchObject({ code: 'conflict' });
  });

  it('a void that failed while the wallet was down is completed by the next call', async () => {
    const { attempt, player } = await h.openAttempt();
    await h.stopWallet();
    await expect(h.tournament.voidAttempt({ attemptId: attempt.id, reason: 'x' })).rejects.toThrow();
    await expect(h.tournament.getAttempt({ tenant: PROGRAM, attemptId: attempt.id })).rejects.toThrow();
    await h.startWallet();
    const voided = expectAccepted(await h.tournament.voidAttempt({ attemptId: attempt.id, reason: 'x' })).attempt;
    expect(voided?.status).toBe(AttemptStatus.VOIDED);
    expect(await h.balance(player.accountId)).toBe(FUNDS);
  });
});

describe('a sandbox attempt that is expired manually', () => {
  it('a sandbox attempt that is expired manually is refunded', async () => {
    const { attempt, player } = await h.openAttempt();
    const { id: attemptId } = attempt;
    const expired = expectAccepted(await h.tournament.expireAttempt({ tenant: PROGRAM, attemptId })).attempt;
    expect(expired).toEqual({ ...attempt, status: AttemptStatus.EXPIRED });
    expect(await h.balance(player.accountId)).toBe(FUNDS);
    expect(await h.tournament.expireAttempt({ tenant: PROGRAM, attemptId })).toMatchObject({
      code: 'attempt_already_settled',
    });
    expect(await h.tournament.expireAttempt({ tenant: OTHER_PROGRAM, attemptId })).toMatchObject({ code: 'not_found' });
    await expect(h.tournament.expireAttempt({ tenant: LIVE_PROGRAM, attemptId })).rejects.toThrow();
    expect(verdictOf(await h.report(attemptId, 1))).toBe('attempt_already_settled');
  });

  it('a manually expired attempt refuses reports even after its round ended', async () => {
    for (const minEntrants of [1, 2]) {
      const { round, player, attempt } = await h.openAttempt({ minEntrants });
      const scored = created(await h.create(round.id, player.ref));
      recorded(await h.report(scored.id, 1));
      expectAccepted(await h.tournament.expireAttempt({ tenant: PROGRAM, attemptId: attempt.id }));
      expectAccepted(await h.tournament.closeRound({ tenant: PROGRAM, roundId: round.id }));
      for (let turn = 0; turn < 2; turn += 1) {
        expect(verdictOf(await h.report(attempt.id, 1))).toBe('attempt_already_settled');
        h.clock.advance(2 * HOUR_MS);
      }
    }
  });
});

describe('an account whose every fee was returned', () => {
  const boardAs = (roundId: string, playerRef: string) => boardOf(h, roundId, playerRef);

  it('an account whose every fee was refunded is no longer an entrant', async () => {
    const { round, player, attempt } = await h.openAttempt();
    const alias = await h.secondRefOf(player);
    const second = created(await h.create(round.id, alias));
    expectAccepted(await h.tournament.expireAttempt({ tenant: PROGRAM, attemptId: attempt.id }));
    expect(await boardAs(round.id, player.ref)).toMatchObject({ view: View.WINDOW, round: { entrantCount: 1 } });
    expectAccepted(await h.tournament.voidAttempt({ attemptId: second.id, reason: 'a broken game' }));
    for (const ref of [player.ref, alias]) {
      expect(await boardAs(round.id, ref)).toEqual(await boardAs(round.id, ''));
      expect(await boardAs(round.id, ref)).toMatchObject({ view: View.MASKED, round: { entrantCount: 0 } });
    }
    const third = created(await h.create(round.id, player.ref));
    expect(await boardAs(round.id, alias)).toMatchObject({ view: View.WINDOW, round: { entrantCount: 1 } });
    recorded(await h.report(third.id, 5));
    expect((await boardAs(round.id, alias)).rows).toMatchObject([{ bestScore: 5, paidAttempts: 1 }]);
  });

  it('an account stops being an entrant with the end of its last attempt, even before the refund', async () => {
    const { round, attempt } = await h.openAttempt();
    await h.stopWallet();
    await expect(h.tournament.expireAttempt({ tenant: PROGRAM, attemptId: attempt.id })).rejects.toThrow();
    expect((await boardAs(round.id, '')).round?.entrantCount).toBe(0);
    await h.startWallet();
    expect((await boardAs(round.id, '')).round?.entrantCount).toBe(0);
  });

  it('an account whose every fee was refunded does not count towards the minimum of entrants', async () => {
    for (const [minEntrants, status] of [
      [2, RoundStatus.CANCELLED],
      [1, RoundStatus.SETTLED],
    ] as const) {
      const { round, player, attempt } = await h.openAttempt({ minEntrants });
      recorded(await h.report(attempt.id, 1));
      const other = await h.player();
      const open = created(await h.create(round.id, other.ref));
      expect((await boardAs(round.id, '')).round?.entrantCount).toBe(2);
      const { round: closed } = expectAccepted(await h.tournament.closeRound({ tenant: PROGRAM, roundId: round.id }));
      expect(closed).toMatchObject({ status, entrantCount: 1 });
      expect(await read(open.id)).toMatchObject({ status: AttemptStatus.EXPIRED });
      expect(await h.balance(other.accountId)).toBe(FUNDS);
      const isCancelled = status === RoundStatus.CANCELLED;
      expect(await h.balance(player.accountId)).toBe(isCancelled ? FUNDS : FUNDS - FEE + 10_000n);
      // A cancellation returns every fee, and still shows the board to every account that was an
      // entrant.
      expect((await boardAs(round.id, other.ref)).view).toBe(isCancelled ? View.COMPLETE : View.MASKED);
      expect((await boardAs(round.id, player.ref)).view).toBe(View.COMPLETE);
    }
  });
});

describe('an attempt without an outcome at the end of its round', () => {
  it('an attempt without an outcome is shown as expired and refunded from the end of its round', async () => {
    const { player, attempt } = await shortAttempt();
    h.clock.advance(HOUR_MS / 2 - 1);
    expect(await read(attempt.id)).toEqual(attempt);
    h.clock.advance(1);
    expect(await read(attempt.id)).toEqual({ ...attempt, status: AttemptStatus.EXPIRED });
    expect(await h.balance(player.accountId)).toBe(FUNDS);
    const reason = { text: 'select closed_reason from attempts where id = $1' };
    expect(await h.database.query(reason, [attempt.id])).toEqual([{ closed_reason: 'round_closed' }]);
  });

  it('an attempt can be neither voided nor expired manually after the end of its round', async () => {
    const [one, another] = [await shortAttempt(), await shortAttempt()];
    h.clock.advance(HOUR_MS / 2);
    expect(await h.tournament.voidAttempt({ attemptId: one.attempt.id, reason: 'x' })).toMatchObject({
      code: 'conflict',
    });
    expect(await h.tournament.expireAttempt({ tenant: PROGRAM, attemptId: another.attempt.id })).toMatchObject({
      code: 'attempt_already_settled',
    });
    expect(await h.balance(one.player.accountId)).toBe(FUNDS);
    expect(await h.balance(another.player.accountId)).toBe(FUNDS);
  });

  it('the sweepers refund an attempt without an outcome once at the end of its round', async () => {
    const { round, player, attempt } = await shortAttempt();
    const scored = created(await h.create(round.id, player.ref));
    recorded(await h.report(scored.id, 1));
    h.clock.advance(HOUR_MS / 2);
    await h.server.sweepOnce();
    await h.server.sweepOnce();
    await h.server.sweepOnce();
    expect(await read(attempt.id)).toEqual({ ...attempt, status: AttemptStatus.EXPIRED });
    expect(await read(scored.id)).toMatchObject({ status: AttemptStatus.SETTLED });
    expect(await h.balance(player.accountId)).toBe(FUNDS - FEE + 10_000n);
  });

  it('an attempt without an outcome is not shown as expired before its fee is refunded', async () => {
    const { player, attempt } = await shortAttempt();
    h.clock.advance(HOUR_MS / 2);
    await h.stopWallet();
    await expect(h.tournament.getAttempt({ tenant: PROGRAM, attemptId: attempt.id })).rejects.toThrow();
    await h.startWallet();
    expect(await read(attempt.id)).toEqual({ ...attempt, status: AttemptStatus.EXPIRED });
    expect(await h.balance(player.accountId)).toBe(FUNDS);
  });
});
