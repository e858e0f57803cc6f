import { canonicalJson } from '@laurel/signature';
import { describe, expect, it } from 'vitest';
import { ATTEMPT, NOW, ROUND, ROUND_ID, WITH_TIEBREAK } from './example.ts';
import { composeReceipt } from './receipt.ts';

const OUTCOME = { attemptId: ATTEMPT.id, receiptId: 'receipt', score: 120.25, tiebreak: null, recordedAt: NOW };
const FACTS = { attempt: ATTEMPT, round: ROUND, outcome: OUTCOME, reportedTiebreak: null, evidence: '' };

describe('a receipt', () => {
  it('a receipt states everything that is needed to decide a dispute', () => {
    const facts = {
      ...FACTS,
      round: { ...ROUND, terms: WITH_TIEBREAK },
      outcome: { ...OUTCOME, tiebreak: 7 },
      reportedTiebreak: 7,
      evidence: '{"replay":[1,2]}',
    };
    expect(composeReceipt(facts)).toEqual({
      version: 1,
      receipt_id: 'receipt',
      program_id: 'program',
      environment: 'live',
      tournament_id: 'tournament',
      tournament_round_id: ROUND_ID,
      attempt_id: 'attempt',
      attempt_created_at: '2026-11-21T12:00:00.000Z',
      player_ref: 'player',
      fee_charged: '5.00',
      score: 120.25,
      metric_name: 'distance',
      metric_unit: 'm',
      threshold_direction: 'higher_is_better',
      tiebreak: 7,
      tiebreak_metric_name: 'seconds',
      tiebreak_direction: 'lower_is_better',
      threshold_applied: null,
      met_threshold: false,
      award: null,
      recorded_at: '2026-11-21T12:00:00.000Z',
      evidence: { replay: [1, 2] },
    });
  });

  it('a receipt states a tiebreak that was reported although the tournament declares none', () => {
    expect(composeReceipt({ ...FACTS, reportedTiebreak: 7 })).toMatchObject({
      tiebreak: 7,
      tiebreak_metric_name: null,
      tiebreak_direction: null,
      evidence: null,
    });
  });

  it('a receipt can be signed with any evidence', () => {
    expect(canonicalJson(composeReceipt({ ...FACTS, evidence: '{"half":"\\ud800"}' }))).toMatch(
      '"evidence":null,"evidence_text":"{\\"half\\":\\"\\\\ud800\\"}"',
    );
    expect(canonicalJson(composeReceipt({ ...FACTS, evidence: '{"h":1,"\\"":2,"\\\\":3}' }))).toMatch(
      '"evidence":{"\\"":2,"\\\\":3,"h":1}',
    );
  });
});
