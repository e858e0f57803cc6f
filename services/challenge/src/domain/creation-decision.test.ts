import { ABANDONED_CODE } from '@laurel/attempts/domain';
import { cents } from '@laurel/values/money';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CreationFacts, decideCachedCreations, decideCreations } from './creation-decision.ts';
import { ATTEMPT, CALIBRATING_CHALLENGE, CEILINGS, LIVE_CHALLENGE, NOW, TENANT, TERMS } from './example.ts';

const NOTHING_YET = { claimed: false, parentClaimed: true, paidInWindow: 0 };

function facts(
  changes: Partial<CreationFacts> & { attemptId?: string; accountId?: string | null; isFresh?: boolean } = {},
): CreationFacts {
  const { attemptId = 'attempt', accountId = 'account', isFresh = true, ...rest } = changes;
  return {
    creation: {
      attemptId,
      tenant: TENANT,
      challengeId: LIVE_CHALLENGE.id,
      playerRef: 'player',
      metadata: '{}',
      idempotencyUse: null,
    },
    account: { accountId, isFresh },
    challenge: LIVE_CHALLENGE,
    known: null,
    player: accountId === null ? null : NOTHING_YET,
    ...rest,
  };
}

function decide(...batch: readonly CreationFacts[]) {
  return decideCreations(batch, { ceilings: CEILINGS, now: NOW });
}

describe('a creation', () => {
  it('a new paid attempt is pending, with its terms frozen', () => {
    expect(decide(facts())).toEqual([
      { kind: 'created', challenge: LIVE_CHALLENGE, attempt: { ...ATTEMPT, status: 'pending' } },
    ]);
  });

  it('a creation of a free attempt is open immediately, with or without an account', () => {
    const [known, unlinked] = decide(
      facts({ challenge: CALIBRATING_CHALLENGE }),
      facts({ attemptId: 'b', accountId: null, challenge: CALIBRATING_CHALLENGE }),
    );
    expect(known).toMatchObject({ kind: 'created', attempt: { status: 'open', feeCents: 0n, accountId: 'account' } });
    expect(unlinked).toMatchObject({ kind: 'created', attempt: { status: 'open', feeCents: 0n, accountId: null } });
  });

  it('a creation that costs money is refused for lack of funds if the ref has no account', () => {
    expect(decide(facts({ accountId: null }))).toMatchObject([{ kind: 'refused', code: 'insufficient_funds' }]);
  });

  it('a repeated creation returns the first result', () => {
    const settled = { ...ATTEMPT, status: 'settled' as const };
    expect(decide(facts({ known: settled, player: { ...NOTHING_YET, paidInWindow: 99 } }))).toEqual([
      { kind: 'known', attempt: settled, challenge: LIVE_CHALLENGE },
    ]);
  });

  it('a repeated creation of an abandoned attempt is charged under a new fee id', () => {
    const abandoned = { ...ATTEMPT, status: 'refused' as const, closedReason: ABANDONED_CODE, feeGeneration: 3 };
    expect(decide(facts({ known: abandoned }))).toMatchObject([
      { kind: 'created', attempt: { status: 'pending', feeGeneration: 4, closedReason: null } },
    ]);
  });

  it('a creation relies on a cached account only if the wallet will check the account', () => {
    const claimed = { ...NOTHING_YET, claimed: true };
    expect(decide(facts({ isFresh: false }))).toMatchObject([{ kind: 'created' }]);
    expect(decide(facts({ isFresh: false, player: claimed }))).toEqual([{ kind: 'ask_wallet' }]);
    expect(decide(facts({ isFresh: false, challenge: CALIBRATING_CHALLENGE }))).toEqual([{ kind: 'ask_wallet' }]);
    expect(decide(facts({ isFresh: false, challenge: null }))).toMatchObject([{ code: 'not_found' }]);
    expect(decide(facts({ isFresh: true, player: claimed }))).toMatchObject([{ code: 'challenge_already_claimed' }]);
  });
});

describe('a batch of creations', () => {
  it('a batch with two creations of the same id makes one attempt', () => {
    expect(decide(facts(), facts()).map((decision) => decision.kind)).toEqual(['created', 'known']);
  });

  it('a batch of creations never exceeds the cap of a player, after any earlier attempts and for any creations', () => {
    fc.assert(
      fc.property(fc.nat(4), fc.array(fc.constantFrom('one', 'two'), { maxLength: 12 }), (before, accounts) => {
        const player = { ...NOTHING_YET, paidInWindow: before };
        const decisions = decide(
          ...accounts.map((accountId, index) => facts({ attemptId: `${index}`, accountId, player })),
        );
        for (const accountId of ['one', 'two']) {
          const asked = accounts.filter((account) => account === accountId).length;
          const made = decisions.filter(
            (decision, index) => decision.kind === 'created' && accounts[index] === accountId,
          ).length;
          expect(made).toBe(Math.min(asked, Math.max(0, LIVE_CHALLENGE.terms.dailyAttemptCap - before)));
        }
      }),
    );
  });
});

describe('creations that are decided on a cached challenge', () => {
  const decideCached = (...batch: readonly CreationFacts[]) =>
    decideCachedCreations(batch, { ceilings: CEILINGS, now: NOW });

  it('a cached challenge and its row give the same decision if no rule refuses', () => {
    const batch = [facts(), facts({ attemptId: 'b', accountId: 'other', isFresh: false })];
    expect(decideCached(...batch)).toEqual(decide(...batch));
  });

  it('a creation that is free or refused is not decided on a cached challenge', () => {
    const rich = { ...LIVE_CHALLENGE, terms: { ...TERMS, prizeCents: cents(2_501n) } };
    const foreign = { ...facts().creation, tenant: { ...TENANT, programId: 'other' } };
    const others = [
      facts({ challenge: null }),
      facts({ challenge: CALIBRATING_CHALLENGE }),
      facts({ challenge: { ...LIVE_CHALLENGE, status: 'suspended' } }),
      facts({ challenge: rich }),
      facts({ creation: foreign }),
      facts({ accountId: null }),
    ];
    for (const one of others) expect(decideCached(one)).toEqual([null]);
  });

  it('a cached challenge decides at most one creation per player and per id in a batch', () => {
    const batch = [facts(), facts({ attemptId: 'b' }), facts({ accountId: 'other' })];
    expect(decideCached(...batch).map((decision) => decision?.attempt.id ?? null)).toEqual(['attempt', null, null]);
  });
});
