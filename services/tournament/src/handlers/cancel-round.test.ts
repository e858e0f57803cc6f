/**
 * An operator cancels a round of any program that has not ended: every fee returns, and nothing is
 * paid.
 */

import { AttemptStatus } from '@laurel/proto/attempts';
import { RefundReason } from '@laurel/proto/events';
import { PayoutStatus, RoundStatus, ThresholdDirection, TournamentStatus } from '@laurel/proto/tournament';
import { expectAccepted } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { describe, expect, it } from 'vitest';
import { drainOutboxForRound, inOrder, refunded, roundCancelled, settled } from '../outbox.fixture.ts';
import { boardOf, play, roundOf, statusOf, tableOf } from '../rounds.fixture.ts';
import {
  created,
  FEE,
  FUNDS,
  HOUR_MS,
  LIVE_PROGRAM,
  PROGRAM,
  recorded,
  useHarness,
  verdictOf,
} from '../tournament.fixture.ts';

// The tests take events out of the outbox.
const h = useHarness({ takesEvents: true });

const REASON = 'The game server counted every score twice.';
const cancel = (roundId: string, reason = REASON, operator = 'ada') =>
  h.tournament.cancelRound({ roundId, reason, operator });
const storedStatus = async (roundId: string) =>
  (await h.database.query<{ status: string }>({ text: 'select status from rounds where id = $1' }, [roundId]))[0]
    ?.status;

describe('a round that an operator cancels', () => {
  it('the cancellation of a round refunds every fee once and pays no purse', async () => {
    const round = await h.openRound({ attemptCap: 2 });
    const [scored, silent, late] = [await h.player(), await h.player(), await h.player()];
    const first = created(await h.create(round.id, scored.ref));
    const { recordedAt } = recorded(await h.report(first.id, 20));
    const again = created(await h.create(round.id, scored.ref));
    const open = created(await h.create(round.id, silent.ref));
    h.clock.advance(1_000);
    const at = h.clock();

    const { round: cancelled } = expectAccepted(await cancel(round.id));
    expect(cancelled).toMatchObject({
      status: RoundStatus.CANCELLED,
      closesAt: at,
      entriesCloseAt: at,
      settledAt: undefined,
      entrantCount: 1,
      cancellation: { cancelledAt: at, operator: 'ada', reason: REASON },
    });
    expect(cancelled).toEqual(await roundOf(h, round.id));
    expect(await storedStatus(round.id)).toBe('cancelled');
    for (const { accountId } of [scored, silent]) expect(await h.balance(accountId)).toBe(FUNDS);
    expect(await statusOf(h, first.id)).toBe(AttemptStatus.SETTLED);
    for (const { id } of [again, open]) {
      expect(await statusOf(h, id)).toBe(AttemptStatus.EXPIRED);
      expect(verdictOf(await h.report(id, 99))).toBe('round_closed');
    }
    expect(verdictOf(await h.report(first.id, 99))).toBe('attempt_already_settled');
    for (const { ref } of [scored, late]) expect(verdictOf(await h.create(round.id, ref))).toBe('entries_closed');
    expect(await tableOf(h, round.id)).toMatchObject([
      { rank: 1n, finalRank: undefined, payoutCents: 0n, payoutStatus: PayoutStatus.REFUNDED, paidAttempts: 2 },
    ]);
    // Each entrant sees the table, also one who had not scored.
    expect((await boardOf(h, round.id, silent.ref)).view).toBe((await boardOf(h, round.id, scored.ref)).view);

    await h.server.sweepOnce();
    const of = (attempt: { id: string }, { ref: playerRef }: { ref: string }) => ({ id: attempt.id, playerRef });
    const reason = RefundReason.ROUND_CANCELLED;
    expect(await drainOutboxForRound(h, round.id)).toEqual(
      inOrder([
        settled(round.id, of(first, scored), 20, recordedAt ?? at),
        refunded(round.id, of(first, scored), reason, at),
        refunded(round.id, of(again, scored), reason, at),
        refunded(round.id, of(open, silent), reason, at),
        roundCancelled(round, at),
      ]),
    );
  });

  it('an operator may cancel any round whose end is not decided', async () => {
    const live = await h.openRound({}, { tenant: LIVE_PROGRAM });
    const real = await h.player(undefined, FUNDS, LIVE_PROGRAM);
    created(await h.create(live.id, real.ref, undefined, LIVE_PROGRAM));
    expect(expectAccepted(await cancel(live.id)).round).toMatchObject({
      status: RoundStatus.CANCELLED,
      closesAt: h.clock(),
    });

    const later = await h.openRound({}, { opensInMs: HOUR_MS });
    expect(expectAccepted(await cancel(later.id)).round).toMatchObject({
      status: RoundStatus.CANCELLED,
      entriesCloseAt: later.opensAt,
      closesAt: later.opensAt,
    });
    h.clock.advance(HOUR_MS);
    expect(verdictOf(await h.create(later.id, (await h.player()).ref))).toBe('entries_closed');

    const { round: over, player, attempt } = await h.openAttempt();
    recorded(await h.report(attempt.id, 1));
    h.clock.advance(over.closesAt.getTime() - h.clock().getTime());
    expect(expectAccepted(await cancel(over.id)).round).toMatchObject({
      status: RoundStatus.CANCELLED,
      closesAt: over.closesAt,
    });
    expect(await h.balance(player.accountId)).toBe(FUNDS);
  });

  it('a cancellation opens the next round only if the tournament is active', async () => {
    const terms = {
      name: 'Cup',
      description: undefined,
      metricName: 'distance',
      metricUnit: 'm',
      thresholdDirection: ThresholdDirection.HIGHER_IS_BETTER,
      tiebreak: undefined,
      entryFeeCents: FEE,
      attemptCap: 1,
      purseTable: [{ rank: 1, amountCents: 1_000n }],
      minEntrants: 1,
      minScoredAttempts: 0,
      roundLengthSeconds: 3_600,
    };
    for (const status of [TournamentStatus.ACTIVE, TournamentStatus.PAUSED]) {
      const { tournament } = expectAccepted(await h.tournament.createTournament({ tenant: PROGRAM, terms }));
      const [tournamentId, roundId] = [tournament?.id ?? '', tournament?.currentRound?.id ?? ''];
      expectAccepted(await h.tournament.updateTournamentStatus({ tournamentId, status }));
      expectAccepted(await cancel(roundId));
      const { currentRound } = expectAccepted(await h.tournament.getTournament({ tournamentId })).tournament ?? {};
      const isActive = status === TournamentStatus.ACTIVE;
      expect(currentRound?.id === roundId).toBe(!isActive);
      expect(currentRound?.status).toBe(isActive ? RoundStatus.OPEN : RoundStatus.CANCELLED);
      expect(currentRound?.cancellation === undefined).toBe(isActive);
      expectAccepted(await h.tournament.updateTournamentStatus({ tournamentId, status: TournamentStatus.CLOSED }));
    }
  });
});

describe('a cancellation that is refused', () => {
  it('a cancellation is refused for an unknown, a settled and a cancelled round', async () => {
    expect(await cancel(newId())).toMatchObject({ code: 'not_found' });

    const { round, player, attempt } = await h.openAttempt();
    recorded(await h.report(attempt.id, 1));
    expectAccepted(await h.tournament.closeRound({ tenant: PROGRAM, roundId: round.id }));
    expect(await cancel(round.id)).toMatchObject({ code: 'conflict', message: 'The round is settled.' });
    expect(await h.balance(player.accountId)).toBe(FUNDS - FEE + 10_000n);

    const empty = await h.openRound();
    expectAccepted(await h.tournament.closeRound({ tenant: PROGRAM, roundId: empty.id }));
    expect(await cancel(empty.id)).toMatchObject({ code: 'conflict', message: 'The round was cancelled at its end.' });

    const twice = await h.openRound();
    expectAccepted(await cancel(twice.id));
    const message = `The round was cancelled by ada: ${REASON}`;
    for (const operator of ['ada', 'bob']) {
      expect(await cancel(twice.id, 'Another reason.', operator)).toMatchObject({ code: 'conflict', message });
    }
    expect((await roundOf(h, twice.id)).cancellation).toMatchObject({ operator: 'ada', reason: REASON });
    expect(await h.tournament.closeRound({ tenant: PROGRAM, roundId: twice.id })).toMatchObject({ code: 'conflict' });
  });

  it('a cancellation is refused while the payouts of the round are under way', async () => {
    const { round, player, attempt } = await h.openAttempt();
    recorded(await h.report(attempt.id, 1));
    await h.stopWallet();
    await expect(h.tournament.closeRound({ tenant: PROGRAM, roundId: round.id })).rejects.toThrow();
    expect(await storedStatus(round.id)).toBe('settling');
    const message = 'The round has ended, and its payouts are under way.';
    expect(await cancel(round.id)).toMatchObject({ code: 'conflict', message });
    await h.startWallet();
    await h.server.sweepOnce();
    expect((await roundOf(h, round.id)).status).toBe(RoundStatus.SETTLED);
    expect(await h.balance(player.accountId)).toBe(FUNDS - FEE + 10_000n);
  });

  it('a cancellation needs a reason of 1 to 1,000 characters', async () => {
    const round = await h.openRound();
    for (const reason of ['', ' \n', 'x'.repeat(1_001), 'a\0b']) {
      expect(await cancel(round.id, reason)).toMatchObject({ code: 'invalid_request' });
    }
    expect(await roundOf(h, round.id)).toMatchObject({ status: RoundStatus.OPEN, closesAt: round.closesAt });
    expect(expectAccepted(await cancel(round.id, '🎯'.repeat(1_000))).round?.status).toBe(RoundStatus.CANCELLED);
  });
});

describe('a cancellation that is interrupted', () => {
  it('a cancellation resolves the pending attempts of the round', async () => {
    const { round, player, attemptId } = await h.pendingAttempt();
    expect(expectAccepted(await cancel(round.id)).round?.status).toBe(RoundStatus.CANCELLED);
    expect(await h.tournament.getAttempt({ tenant: PROGRAM, attemptId })).toMatchObject({ code: 'not_found' });
    expect(verdictOf(await h.create(round.id, player.ref, attemptId))).toBe('entries_closed');
    expect(await h.balance(player.accountId)).toBe(FUNDS);
  });

  it('a cancelled round takes no entry and no score, even while the wallet is down', async () => {
    const { round, player, attemptId } = await h.pendingAttempt();
    await play(h, round.id, player, 5);
    const other = await h.player();
    const open = created(await h.create(round.id, other.ref));
    await h.stopWallet();
    const { round: decided } = expectAccepted(await cancel(round.id));
    expect(decided).toMatchObject({ status: RoundStatus.OPEN, closesAt: h.clock(), cancellation: { reason: REASON } });
    expect(verdictOf(await h.report(open.id, 99))).toBe('round_closed');
    expect(verdictOf(await h.create(round.id, player.ref))).toBe('entries_closed');
    expect(await cancel(round.id, 'Again.')).toMatchObject({ code: 'conflict' });

    await h.startWallet();
    await h.server.sweepOnce();
    expect(await roundOf(h, round.id)).toEqual({
      ...decided,
      status: RoundStatus.CANCELLED,
      entrantCount: 1,
    });
    for (const { accountId } of [player, other]) expect(await h.balance(accountId)).toBe(FUNDS);
    expect(await h.tournament.getAttempt({ tenant: PROGRAM, attemptId })).toMatchObject({ code: 'not_found' });
    const refunds = (await drainOutboxForRound(h, round.id)).flatMap(({ payload }) =>
      payload?.$case === 'attemptRefunded' ? payload.value.reason : [],
    );
    // The reported attempt ended before the round was decided, and its refund has the same reason.
    expect(refunds).toEqual(Array.from({ length: 3 }, () => RefundReason.ROUND_CANCELLED));
  });

  it('a cancellation succeeds while the wallet is down, and its refunds are posted later', async () => {
    const { round, player, attempt } = await h.openAttempt();
    recorded(await h.report(attempt.id, 1));
    await h.stopWallet();
    expect(expectAccepted(await cancel(round.id)).round).toMatchObject({ status: RoundStatus.CANCELLED });
    expect(await storedStatus(round.id)).toBe('cancelling');
    await h.startWallet();
    await h.server.sweepOnce();
    expect(await storedStatus(round.id)).toBe('cancelled');
    expect(await h.balance(player.accountId)).toBe(FUNDS);
  });

  it('a cancellation with very many refunds leaves the refunds to the worker', async () => {
    const round = await h.openRound({ attemptCap: 1_000 });
    const funds = 501n * FEE;
    const player = await h.player(undefined, funds);
    const attempts = await Promise.all(Array.from({ length: 501 }, () => h.create(round.id, player.ref)));
    expect(attempts.map(verdictOf)).toEqual(attempts.map(() => 'attempt'));
    expect(expectAccepted(await cancel(round.id)).round?.status).toBe(RoundStatus.CANCELLED);
    expect(await storedStatus(round.id)).toBe('cancelling');
    expect(await h.balance(player.accountId)).toBe(0n);
    await h.server.sweepOnce();
    expect(await storedStatus(round.id)).toBe('cancelled');
    expect(await h.balance(player.accountId)).toBe(funds);
  });
});
