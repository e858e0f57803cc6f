import { parseJson } from '@laurel/json';
import { canonicalJson } from '@laurel/signature';
import fc from 'fast-check';
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
  it('holds everything that the case is decided by', () => {
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

  it('says that no evidence was sent', () => {
    expect(compose('').evidence).toBeNull();
  });

  it('keeps evidence without a canonical form as its exact text', () => {
    for (const text of ['{"half":"\\ud800"}', '{"\\udfff":1}', '{"big":1e999}']) {
      expect(compose(text)).toMatchObject({ evidence: null, evidence_text: text });
    }
  });

  it('keeps the names in the evidence, also where the native parser would take them from evidence before', () => {
    compose('{"h":[],"\\\\":0,"x":1}');
    const receipt = canonicalJson(compose('{"h":1,"\\"":2,"\\\\":3}'));
    expect(receipt).toMatch('"evidence":{"\\"":2,"\\\\":3,"h":1}');
  });

  it('can be signed whatever JSON object the evidence is', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ stringUnit: 'binary' })), (evidence) => {
        const text = JSON.stringify(evidence);
        const receipt = parseJson(canonicalJson(compose(text))) as { evidence: unknown; evidence_text: string };
        expect(receipt.evidence ?? parseJson(receipt.evidence_text)).toEqual(parseJson(text));
      }),
    );
  });
});
