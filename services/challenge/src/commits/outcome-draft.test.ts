import { createSigner } from '@laurel/signature';
import { verdictOnReceipt } from '@laurel/testing';
import { receiptIdOf } from '@laurel/values/ids';
import { describe, expect, it } from 'vitest';
import type { Claim } from '../domain/claim.ts';
import { ATTEMPT_TERMS, ATTEMPT as EXAMPLE, NOW, TENANT } from '../domain/example.ts';
import type { SettlingReport } from '../domain/outcome-decision.ts';
import { draftOutcome, eventsOf, settlementOf } from './outcome-draft.ts';

const signer = createSigner(Buffer.alloc(32, 9));
// The id of the event derives from this attempt id.
const ATTEMPT = { ...EXAMPLE, id: '01890000-0000-7000-8000-000000000002' };
const OPERATION = '01890000-0000-7000-8000-000000000001';
const SETTLING: SettlingReport = {
  kind: 'settled',
  metThreshold: true,
  claimsPrize: true,
  report: {
    operationId: OPERATION,
    attemptId: ATTEMPT.id,
    tenant: TENANT,
    score: 120,
    evidence: '{"replay":"x"}',
    idempotencyUse: null,
  },
  found: { attempt: ATTEMPT, terms: ATTEMPT_TERMS },
};
const CLAIM: Claim = {
  id: 'award',
  attemptId: ATTEMPT.id,
  challengeId: ATTEMPT.challengeId,
  accountId: 'account',
  amountCents: ATTEMPT.prizeCents,
};
const OUTCOME = {
  attemptId: ATTEMPT.id,
  receiptId: receiptIdOf(OPERATION),
  score: 120,
  metThreshold: true,
  thresholdApplied: 100,
  recordedAt: NOW,
};

describe('the draft of an outcome', () => {
  it('the draft of an outcome without a claim emits its event at once', () => {
    const draft = draftOutcome(SETTLING, { claim: null, idempotencyUse: null, signer, now: NOW });
    expect(settlementOf(draft, null)).toEqual({ kind: 'recorded', outcome: OUTCOME, won: null });
    expect(eventsOf([draft]).map(({ payload }) => payload)).toMatchObject([
      { value: { attemptId: ATTEMPT.id, score: 120 } },
    ]);
  });

  it('the draft of an outcome with a claim emits no event and returns the award to pay', () => {
    const draft = draftOutcome(SETTLING, { claim: CLAIM, idempotencyUse: null, signer, now: NOW });
    const award = { ...CLAIM, status: 'paying', createdAt: NOW, paidAt: null };
    expect(settlementOf(draft, 'paying')).toEqual({
      kind: 'recorded',
      outcome: OUTCOME,
      won: { award, tenant: TENANT, playerRef: ATTEMPT.playerRef },
    });
    expect(eventsOf([draft])).toEqual([]);
  });

  it('the draft of an outcome has a valid receipt with the award, the score and the evidence', async () => {
    const { signed } = draftOutcome(SETTLING, { claim: CLAIM, idempotencyUse: null, signer, now: NOW });
    const { publicKey } = signer;
    const verdict = await verdictOnReceipt({ canonical: signed.receipt, signature: signed.signature, publicKey });
    expect(verdict.kind).toBe('valid');
    expect(JSON.parse(signed.receipt)).toMatchObject({
      receipt_id: OUTCOME.receiptId,
      score: 120,
      award: { id: 'award', amount: '20.00' },
      evidence: { replay: 'x' },
    });
  });
});
