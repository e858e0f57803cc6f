import { awardIdOf, newId } from '@laurel/ids';
import { describe, expect, it } from 'vitest';
import { claimOf } from './claim.ts';
import { ATTEMPT, ATTEMPT_TERMS, TENANT } from './example.ts';
import type { SettlingReport } from './outcome-decision.ts';

const OPERATION = newId();
const settling = (claimsPrize: boolean, accountId: string | null = 'account'): SettlingReport => ({
  kind: 'settled',
  metThreshold: true,
  claimsPrize,
  report: { operationId: OPERATION, attemptId: ATTEMPT.id, tenant: TENANT, score: 120, evidence: '', keyUse: null },
  found: { attempt: { ...ATTEMPT, accountId }, terms: ATTEMPT_TERMS },
});

describe('a claim', () => {
  it('a claim is for the prize that was frozen on the attempt, for the account that paid, under the id of its operation', () => {
    const claim = {
      id: awardIdOf(OPERATION, 'challenge'),
      attemptId: ATTEMPT.id,
      challengeId: ATTEMPT.challengeId,
      accountId: 'account',
      amountCents: ATTEMPT.prizeCents,
    };
    expect(claimOf(settling(true))).toEqual(claim);
    expect(claimOf(settling(true))).toEqual(claim);
  });

  it('an outcome that wins nothing makes no claim', () => {
    expect(claimOf(settling(false))).toBeNull();
  });

  it('a claim without an account throws', () => {
    expect(() => claimOf(settling(true, null))).toThrow('has no account');
  });
});
