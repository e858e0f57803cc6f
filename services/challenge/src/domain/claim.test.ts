import { awardIdOf, newId, newOwnedId } from '@laurel/values/ids';
import { describe, expect, it } from 'vitest';
import { claimOf } from './claim.ts';
import { ATTEMPT_TERMS, ATTEMPT as EXAMPLE, TENANT } from './example.ts';
import type { SettlingReport } from './outcome-decision.ts';

// The award's id derives from the attempt's.
const ATTEMPT = { ...EXAMPLE, id: newOwnedId('challenge') };
const settling = (claimsPrize: boolean, accountId: string | null = 'account'): SettlingReport => ({
  kind: 'settled',
  metThreshold: true,
  claimsPrize,
  report: {
    operationId: newId(),
    attemptId: ATTEMPT.id,
    tenant: TENANT,
    score: 120,
    evidence: '',
    idempotencyUse: null,
  },
  found: { attempt: { ...ATTEMPT, accountId }, terms: ATTEMPT_TERMS },
});

describe('a claim', () => {
  it('a claim has the frozen prize and the paying account, whichever operation reports the win', () => {
    const claim = {
      id: awardIdOf(ATTEMPT.id, 'challenge'),
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
