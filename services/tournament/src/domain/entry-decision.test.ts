import { ABANDONED_CODE } from '@laurel/attempts/domain';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type CreationFacts,
  decideAdmission,
  decideCachedEntries,
  decideEntries,
  entryIdOf,
} from './entry-decision.ts';
import { ATTEMPT, after, NOW, OTHER_TENANT, ROUND, ROUND_ID, TENANT } from './example.ts';

function facts(
  changes: Partial<CreationFacts> & { attemptId?: string; accountId?: string | null; isFresh?: boolean } = {},
): CreationFacts {
  const { attemptId = 'attempt', accountId = 'account', isFresh = true, ...rest } = changes;
  return {
    creation: {
      attemptId,
      tenant: TENANT,
      roundId: ROUND_ID,
      playerRef: 'player',
      metadata: '{}',
      idempotencyUse: null,
    },
    account: { accountId, isFresh },
    round: ROUND,
    known: null,
    bought: 0,
    ...rest,
  };
}

function decide(...batch: readonly CreationFacts[]) {
  return decideEntries(batch, NOW);
}

function codeOf(changes: Parameters<typeof facts>[0], now = NOW): string {
  const [decision] = decideEntries([facts(changes)], now);
  return decision?.kind === 'refused' ? decision.code : (decision?.kind ?? 'nothing');
}

describe('a creation', () => {
  it('a new creation is pending, with the frozen fee of the round', () => {
    expect(decide(facts())).toEqual([{ kind: 'created', attempt: { ...ATTEMPT, status: 'pending' } }]);
  });

  it('a creation is not found for an unknown round, or another tenant', () => {
    expect(codeOf({ round: null })).toBe('not_found');
    expect(codeOf({ round: { ...ROUND, tenant: OTHER_TENANT } })).toBe('not_found');
  });

  it('a creation is refused while the round takes no entries', () => {
    expect(codeOf({}, after(-1, ROUND.opensAt))).toBe('entries_closed');
    expect(codeOf({}, ROUND.opensAt)).toBe('created');
    expect(codeOf({}, after(-1, ROUND.entriesCloseAt))).toBe('created');
    expect(codeOf({}, ROUND.entriesCloseAt)).toBe('entries_closed');
    for (const status of ['settling', 'settled', 'cancelling', 'cancelled'] as const) {
      expect(codeOf({ round: { ...ROUND, status } })).toBe('entries_closed');
    }
  });

  it('a creation is refused once the account has bought as many attempts as the cap', () => {
    expect([2, 3, 4].map((bought) => codeOf({ bought }))).toEqual([
      'created',
      'attempt_cap_reached',
      'attempt_cap_reached',
    ]);
  });

  it('a creation is refused for lack of funds if the ref has no account', () => {
    expect(codeOf({ accountId: null })).toBe('insufficient_funds');
  });

  it('a creation to which several refusals apply gets the first one', () => {
    const closed = { ...ROUND, status: 'settled' as const };
    expect(codeOf({ round: { ...closed, tenant: OTHER_TENANT }, bought: 9, accountId: null })).toBe('not_found');
    expect(codeOf({ round: closed, bought: 9, accountId: null })).toBe('entries_closed');
    expect(codeOf({ bought: 9, accountId: null })).toBe('attempt_cap_reached');
  });

  it('a repeated creation returns the first result', () => {
    const settled = { ...ATTEMPT, status: 'settled' as const };
    const closed = { ...ROUND, status: 'settled' as const };
    expect(decide(facts({ known: settled, round: closed, bought: 99 }))).toEqual([{ kind: 'known', attempt: settled }]);
    expect(codeOf({ known: settled, round: null })).toBe('not_found');
    expect(codeOf({ known: settled, round: { ...ROUND, id: 'another' } })).toBe('not_found');
    expect(codeOf({ known: settled, round: { ...ROUND, tenant: OTHER_TENANT } })).toBe('not_found');
  });

  it('a creation restarts an abandoned attempt, under the next fee id and the current rules', () => {
    const known = { ...ATTEMPT, status: 'refused' as const, closedReason: ABANDONED_CODE, feeGeneration: 3 };
    expect(decide(facts({ known }))).toMatchObject([
      { kind: 'created', attempt: { status: 'pending', feeGeneration: 4, closedReason: null } },
    ]);
    expect(codeOf({ known, bought: 3 })).toBe('attempt_cap_reached');
    expect(codeOf({ known }, ROUND.entriesCloseAt)).toBe('entries_closed');
    expect(decide(facts({ known }), facts({ known })).map(({ kind }) => kind)).toEqual(['created', 'known']);
  });

  it('a creation relies on a cached account only if the wallet will check the account', () => {
    expect(codeOf({ isFresh: false })).toBe('created');
    expect(codeOf({ isFresh: false, bought: 3 })).toBe('ask_wallet');
    expect(codeOf({ isFresh: false, accountId: null })).toBe('ask_wallet');
    expect(codeOf({ isFresh: false, round: null })).toBe('not_found');
    expect(codeOf({ isFresh: false }, ROUND.entriesCloseAt)).toBe('entries_closed');
  });
});

describe('a batch of creations', () => {
  it('a batch with the same creation twice makes one attempt', () => {
    expect(decide(facts(), facts()).map(({ kind }) => kind)).toEqual(['created', 'known']);
  });

  it('a batch of creations never exceeds a player’s cap in a round', () => {
    const another = { ...ROUND, id: '0193c000-0000-7000-8000-000000000002' };
    const item = fc.record({ accountId: fc.constantFrom('one', 'two'), round: fc.constantFrom(ROUND, another) });
    fc.assert(
      fc.property(fc.nat(4), fc.array(item, { maxLength: 16 }), (bought, items) => {
        const decisions = decide(
          ...items.map(({ accountId, round }, index) => {
            const one = facts({ attemptId: `${index}`, accountId, round, bought });
            return { ...one, creation: { ...one.creation, roundId: round.id } };
          }),
        );
        for (const accountId of ['one', 'two']) {
          for (const { id } of [ROUND, another]) {
            const asked = items.filter((of) => of.accountId === accountId && of.round.id === id).length;
            const made = decisions.filter(
              (of) => of.kind === 'created' && of.attempt.accountId === accountId && of.attempt.roundId === id,
            ).length;
            expect(made).toBe(Math.min(asked, Math.max(0, ROUND.terms.attemptCap - bought)));
          }
        }
      }),
    );
  });
});

describe('a creation on a cached round', () => {
  const decideCached = (...batch: readonly CreationFacts[]) =>
    decideCachedEntries(batch, NOW).map((decision) => decision?.kind ?? null);

  it('a cached round and its row give the same decision on a creation', () => {
    expect(decideCachedEntries([facts({ isFresh: false })], NOW)).toEqual(decide(facts()));
  });

  it('a creation that might be refused is not decided on the cached round', () => {
    const closed = { ...ROUND, status: 'settling' as const };
    const another = { ...ROUND, tenant: OTHER_TENANT };
    const left = [{ round: null }, { round: closed }, { round: another }, { accountId: null }];
    expect(decideCached(...left.map((changes, index) => facts({ ...changes, attemptId: `${index}` })))).toEqual(
      left.map(() => null),
    );
  });

  it('a cached round decides at most one creation per account and per id in a batch', () => {
    const batch = [
      facts({ attemptId: 'a', accountId: 'one' }),
      facts({ attemptId: 'b', accountId: 'two' }),
      facts({ attemptId: 'c', accountId: 'one' }),
      facts({ attemptId: 'a', accountId: 'three' }),
    ];
    expect(decideCached(...batch)).toEqual(['created', 'created', null, null]);
  });
});

describe('an entry', () => {
  it('all refs of an account share one entry in a round', () => {
    const [one, other] = decide(facts({ attemptId: 'a' }), facts({ attemptId: 'b' }));
    expect([one, other]).toMatchObject([
      { attempt: { entryId: entryIdOf(ROUND_ID, 'account') } },
      { attempt: { entryId: entryIdOf(ROUND_ID, 'account') } },
    ]);
    expect(entryIdOf(ROUND_ID, 'other')).not.toBe(entryIdOf(ROUND_ID, 'account'));
  });

  it('the cap also applies to a purchase outside a batch', () => {
    const asked = { tenant: TENANT, round: ROUND, bought: 2, now: NOW };
    expect(decideAdmission(asked)).toEqual({ kind: 'admitted', round: ROUND });
    expect(decideAdmission({ ...asked, bought: 3 })).toMatchObject({ code: 'attempt_cap_reached' });
  });
});
