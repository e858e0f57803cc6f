import { canonicalJson } from '@laurel/signature';
import { describe, expect, it } from 'vitest';
import { ATTEMPT, ATTEMPT_TERMS, NOW } from './example.ts';
import { composeReceipt } from './receipt.ts';

const OUTCOME = {
  attemptId: ATTEMPT.id,
  receiptId: 'receipt',
  score: 120.25,
  metThreshold: true,
  thresholdApplied: 100,
  recordedAt: NOW,
};

function compose(evidence: string): Record<string, unknown> {
  return composeReceipt({
    attempt: ATTEMPT,
    terms: ATTEMPT_TERMS,
    outcome: OUTCOME,
    award: { id: 'award' },
    evidence,
  }) as never;
}

describe('a receipt', () => {
  it('a receipt holds everything needed to decide a dispute', () => {
    expect(compose('{"replay":[1,2]}')).toEqual({
      version: 1,
      receipt_id: 'receipt',
      program_id: 'program',
      environment: 'live',
      challenge_id: 'challenge',
      attempt_id: 'attempt',
      attempt_created_at: '2026-11-21T12:00:00.000Z',
      player_ref: 'player',
      fee_charged: '1.00',
      score: 120.25,
      threshold_direction: 'higher_is_better',
      threshold_applied: 100,
      met_threshold: true,
      award: { id: 'award', amount: '20.00' },
      recorded_at: '2026-11-21T12:00:00.000Z',
      evidence: { replay: [1, 2] },
    });
  });

  it('a receipt states that no evidence was sent', () => {
    expect(compose('').evidence).toBeNull();
  });

  it('a receipt can be signed with any evidence', () => {
    expect(canonicalJson(compose('{"half":"\\ud800"}'))).toMatch(
      '"evidence":null,"evidence_text":"{\\"half\\":\\"\\\\ud800\\"}"',
    );
  });
});
