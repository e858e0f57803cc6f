import { type LeaderboardRow, PayoutStatus, RoundStatus, type Tournament } from '@laurel/proto/tournament';
import { describe, expect, test } from 'vitest';
import { atMinute, ROUND, TOURNAMENT } from './tournament.fixture.ts';
import {
  presentLeaderboardRow,
  presentMaskedLeaderboard,
  presentOperatorRound,
  presentOperatorTournament,
  presentRound,
  presentTournament,
} from './tournament.ts';

const ROW: LeaderboardRow = {
  rank: 1n,
  playerRef: 'p',
  bestScore: -0.5,
  bestTiebreak: 0,
  bestScoreAt: atMinute(5),
  paidAttempts: 2,
  finalRank: undefined,
  payoutCents: undefined,
  payoutStatus: PayoutStatus.NONE,
  entryId: 'entry',
};

const PURSE = {
  purse_amount: '150.05',
  purse_table: [
    { rank: 1, amount: '100.00' },
    { rank: 2, amount: '50.05' },
  ],
};

describe('rounds', () => {
  test('a round has every field of the contract and no other', () => {
    expect(presentRound(ROUND)).toEqual({
      id: ROUND.id,
      tournament_id: ROUND.tournamentId,
      tournament_name: 'Cup',
      status: 'open',
      opens_at: '2026-11-21T12:00:00.000Z',
      closes_at: '2026-11-21T12:30:00.000Z',
      entries_close_at: '2026-11-21T12:20:00.000Z',
      settled_at: null,
      entry_fee: '2.50',
      funding: 'house',
      ...PURSE,
      pool_amount: '0.00',
      rollover_in: '0.00',
      entrant_count: 4,
      attempt_cap: 3,
      min_entrants: 2,
      min_scored_attempts: 0,
    });
  });

  test('a round shows when it was settled', () => {
    const settled = presentRound({ ...ROUND, status: RoundStatus.SETTLED, settledAt: atMinute(31) });
    expect(settled).toMatchObject({ status: 'settled', settled_at: '2026-11-21T12:31:00.000Z' });
  });
});

describe('a round that an operator cancelled', () => {
  const CANCELLED = {
    ...ROUND,
    status: RoundStatus.CANCELLED,
    cancellation: { cancelledAt: atMinute(3), operator: 'ada', reason: 'A bug.' },
  };

  test('only operators see who cancelled a round, when and why', () => {
    const shown = presentRound({ ...ROUND, status: RoundStatus.CANCELLED });
    expect(presentRound(CANCELLED)).toEqual(shown);
    const cancellation = { cancelled_at: '2026-11-21T12:03:00.000Z', operator: 'ada', reason: 'A bug.' };
    const tenant = { program_id: ROUND.tenant?.programId, environment: 'live' };
    expect(presentOperatorRound(CANCELLED)).toEqual({ ...shown, ...tenant, cancellation });
    expect(presentOperatorRound(ROUND)).toEqual({ ...presentRound(ROUND), ...tenant, cancellation: null });
  });
});

describe('tournaments', () => {
  test('a tournament in a list has every field of the contract and no other', () => {
    expect(presentTournament(TOURNAMENT)).toEqual({
      id: TOURNAMENT.id,
      name: 'Cup',
      description: null,
      metric_name: 'time',
      metric_unit: 'ms',
      threshold_direction: 'lower_is_better',
      entry_fee: '2.50',
      attempt_cap: 3,
      status: 'active',
      created_at: '2026-11-21T12:00:00.000Z',
      current_round: null,
    });
    expect(presentTournament({ ...TOURNAMENT, currentRound: ROUND }).current_round).toEqual(presentRound(ROUND));
  });

  test('an operator also sees the terms of a tournament', () => {
    const { tiebreak: _tiebreak, ...terms } = TOURNAMENT.terms as NonNullable<Tournament['terms']>;
    const shown = {
      ...presentTournament(TOURNAMENT),
      program_id: '0199aaaa-0000-7000-8000-000000000002',
      environment: 'live',
      tiebreak_metric_name: 'coins',
      tiebreak_direction: 'higher_is_better',
      ...PURSE,
      min_entrants: 2,
      min_scored_attempts: 0,
      round_length_seconds: null,
    };
    expect(presentOperatorTournament(TOURNAMENT)).toEqual(shown);
    const timed = { ...terms, tiebreak: undefined, roundLengthSeconds: 900 };
    expect(presentOperatorTournament({ ...TOURNAMENT, terms: timed })).toEqual({
      ...shown,
      tiebreak_metric_name: null,
      tiebreak_direction: null,
      round_length_seconds: 900,
    });
  });
});

describe('boards', () => {
  test('a masked board shows the round and counts, and no player', () => {
    expect(presentMaskedLeaderboard(ROUND, 3)).toEqual({
      locked: true,
      reason: 'enter_to_see',
      round: presentRound(ROUND),
      entrant_count: 4,
      scored_players: 3,
      min_entrants: 2,
      min_scored_attempts: 0,
      ...PURSE,
      closes_at: '2026-11-21T12:30:00.000Z',
    });
  });

  test('before settlement a row of a board has no final rank and no payout', () => {
    expect(presentLeaderboardRow(ROW, 'entry')).toEqual({ ...presentLeaderboardRow(ROW, 'other'), is_player: true });
    expect(presentLeaderboardRow({ ...ROW, entryId: '' }, '')).not.toHaveProperty('is_player');
    expect(presentLeaderboardRow(ROW, '')).toEqual({
      rank: 1,
      player_ref: 'p',
      best_score: -0.5,
      best_tiebreak: 0,
      best_score_at: '2026-11-21T12:05:00.000Z',
      paid_attempts: 2,
      final_rank: null,
      payout_amount: null,
      payout_status: 'none',
    });
  });

  test.each([
    [PayoutStatus.PAID, 10_000n, 'paid', '100.00'],
    [PayoutStatus.HELD, 10_000n, 'held', '100.00'],
    [PayoutStatus.NONE, 0n, 'none', '0.00'],
    [PayoutStatus.REFUNDED, 0n, 'refunded', '0.00'],
  ])('after settlement a row has its final rank and payout (%i, %i)', (payoutStatus, payoutCents, status, amount) => {
    const row = { ...ROW, bestTiebreak: undefined, finalRank: 1n, payoutCents, payoutStatus };
    expect(presentLeaderboardRow(row, '')).toMatchObject({
      best_tiebreak: null,
      final_rank: 1,
      payout_amount: amount,
      payout_status: status,
    });
  });
});
