import { type Attempt, AttemptStatus, AwardStatus } from '@laurel/proto/attempts';
import { newOwnedId } from '@laurel/values/ids';
import { describe, expect, test } from 'vitest';
import { presentAttempt, presentOutcome } from './attempt.ts';

const AT = new Date('2026-11-21T12:00:00.000Z');

const attempt: Attempt = {
  id: '01a1fda3-5031-8190-ad21-6bfd27e1bae3',
  contestId: '01a1fda2-cf3f-73c9-8ad5-9cf07a8ae5d3',
  playerRef: 'quote " and \\ and é',
  status: AttemptStatus.OPEN,
  feeCents: 5n,
  createdAt: AT,
  metadataJson: '{"a": 1.0, "big": 12345678901234567890}',
  outcome: undefined,
};
const outcome = {
  attemptId: attempt.id,
  score: 0.1,
  metThreshold: true,
  thresholdApplied: 0,
  recordedAt: AT,
  receiptId: 'receipt',
  award: { id: 'award', amountCents: 123_456n, paidAt: AT, status: AwardStatus.PAID },
};

describe('attempts', () => {
  test('an attempt has every field of the contract, and its metadata unchanged', () => {
    const text = presentAttempt(attempt);
    expect(text).toContain('"metadata":{"a": 1.0, "big": 12345678901234567890}');
    const { metadata: _metadata, ...fields } = JSON.parse(text);
    expect(fields).toEqual({
      id: attempt.id,
      challenge_id: attempt.contestId,
      tournament_round_id: null,
      player_ref: attempt.playerRef,
      status: 'open',
      fee_charged: '0.05',
      created_at: '2026-11-21T12:00:00.000Z',
      outcome: null,
    });
  });

  test('an attempt shows its outcome without the `payout_status` of the award', () => {
    const settled = JSON.parse(presentAttempt({ ...attempt, status: AttemptStatus.SETTLED, outcome }));
    expect(settled).toMatchObject({ status: 'settled', outcome: { met_threshold: true, threshold_applied: 0 } });
    expect(settled.outcome.award).toEqual({ id: 'award', amount: '1234.56', paid_at: '2026-11-21T12:00:00.000Z' });
  });
});

describe('entries of a round', () => {
  const entry: Attempt = { ...attempt, id: newOwnedId('tournament') };
  const recorded = { attemptId: attempt.id, score: -0.5, recordedAt: AT, receiptId: 'receipt' };
  const score = { ...recorded, metThreshold: false, thresholdApplied: undefined, award: undefined };
  const presented = {
    attempt_id: attempt.id,
    score: -0.5,
    met_threshold: false,
    threshold_applied: null,
    recorded_at: '2026-11-21T12:00:00.000Z',
    receipt_id: 'receipt',
    award: null,
  };

  test('an entry of a round names its round, and has the fields of any attempt', () => {
    const { challenge_id, tournament_round_id, ...fields } = JSON.parse(presentAttempt(entry));
    expect({ challenge_id, tournament_round_id }).toEqual({ challenge_id: null, tournament_round_id: entry.contestId });
    expect(Object.keys(fields).sort()).toEqual(
      ['id', 'player_ref', 'status', 'fee_charged', 'created_at', 'metadata', 'outcome'].sort(),
    );
  });

  test('the outcome of an entry of a round has no bar and no award', () => {
    const settled = { ...entry, status: AttemptStatus.SETTLED, outcome: score };
    expect(JSON.parse(presentAttempt(settled))).toMatchObject({ status: 'settled', outcome: presented });
    expect(JSON.parse(presentOutcome(score))).toEqual(presented);
  });
});

describe('outcomes', () => {
  test('an outcome with a paid award shows the amount of the award and when it was paid', () => {
    expect(JSON.parse(presentOutcome(outcome))).toEqual({
      attempt_id: attempt.id,
      score: 0.1,
      met_threshold: true,
      threshold_applied: 0,
      recorded_at: '2026-11-21T12:00:00.000Z',
      receipt_id: 'receipt',
      award: { id: 'award', amount: '1234.56', paid_at: '2026-11-21T12:00:00.000Z', payout_status: 'paid' },
    });
  });

  test('an outcome with a held award shows that the award has not been paid', () => {
    const held = { ...outcome.award, paidAt: undefined, status: AwardStatus.HELD };
    expect(JSON.parse(presentOutcome({ ...outcome, award: held })).award).toMatchObject({
      paid_at: null,
      payout_status: 'held',
    });
  });

  test('an outcome without a bar and without an award shows both as null', () => {
    const free = { ...outcome, metThreshold: false, thresholdApplied: undefined, award: undefined };
    expect(JSON.parse(presentOutcome(free))).toMatchObject({ threshold_applied: null, award: null });
  });

  test('an outcome with an unknown status is not shown', () => {
    const award = { ...outcome.award, status: AwardStatus.UNSPECIFIED };
    expect(() => presentOutcome({ ...outcome, award })).toThrow();
  });
});
