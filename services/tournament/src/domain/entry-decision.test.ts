import { ABANDONED } from '@laurel/attempts/domain';
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
  it('a creation is pending, with the fee of the round frozen on it and assigned to the entry of its account', () => {
    expect(decide(facts())).toEqual([{ kind: 'created', attempt: { ...ATTEMPT, status: 'pending' } }]);
  });

  it('a creation is not found for an unknown round, or another tenant', () => {
    expect(codeOf({ round: null })).toBe('not_found');
    expect(codeOf({ round: { ...ROUND, tenant: OTHER_TENANT } })).toBe('not_found');
  });

  it('a creation is refused as too early or too late by a round that takes no entries', () => {
    expect(codeOf({}, after(-1, ROUND.opensAt))).toBe('entries_closed');
    expect(codeOf({}, ROUND.opensAt)).toBe('created');
    expect(codeOf({}, after(-1, ROUND.entriesCloseAt))).toBe('created');
    expect(codeOf({}, ROUND.entriesCloseAt)).toBe('entries_closed');
    for (const status of ['settling', 'settled', 'cancelling', 'cancelled'] as const) {
      expect(codeOf({ round: { ...ROUND, status } })).toBe('entries_closed');
    }
  });

  it('a creation buys no more attempts than the cap', () => {
    expect([2, 3, 4].map((bought) => codeOf({ bought }))).toEqual([
      'created',
      'attempt_cap_reached',
      'attempt_cap_reached',
    ]);
  });

  it('a creation is refused for lack of funds if the ref has no account', () => {
    expect(codeOf({ accountId: null })).toBe('insufficient_funds');
  });

  it('a creation is refused for the first of several reasons', () => {
    const closed = { ...ROUND, status: 'settled' as const };
    expect(codeOf({ round: { ...closed, tenant: OTHER_TENANT }, bought: 9, accountId: null })).toBe('not_found');
    expect(codeOf({ round: closed, bought: 9, accountId: null })).toBe('entries_closed');
    expect(codeOf({ bought: 9, accountId: null })).toBe('attempt_cap_reached');
  });

  it('a creation whose id is known gets the first result, in its own round and for its own tenant', () => {
    const settled = { ...ATTEMPT, status: 'settled' as const };
    const closed = { ...ROUND, status: 'settled' as const };
    expect(decide(facts({ known: settled, round: closed, bought: 99 }))).toEqual([{ kind: 'known', attempt: settled }]);
    expect(codeOf({ known: settled, round: null })).toBe('not_found');
    expect(codeOf({ known: settled, round: { ...ROUND, id: 'another' } })).toBe('not_found');
    expect(codeOf({ known: settled, round: { ...ROUND, tenant: OTHER_TENANT } })).toBe('not_found');
  });

  it('a creation restarts an abandoned attempt, under the next fee id and the current rules', () => {
    const known = { ...ATTEMPT, status: 'refused' as const, closedReason: ABANDONED, feeGeneration: 3 };
    expect(decide(facts({ known }))).toMatchObject([
      { kind: 'created', attempt: { status: 'pending', feeGeneration: 4, closedReason: null } },
    ]);
    expect(codeOf({ known, bought: 3 })).toBe('attempt_cap_reached');
    expect(codeOf({ known }, ROUND.entriesCloseAt)).toBe('entries_closed');
    expect(decide(facts({ known }), facts({ known })).map(({ kind }) => kind)).toEqual(['created', 'known']);
  });

  it('a creation relies on a cached account only if the wallet will check it', () => {
    expect(codeOf({ isFresh: false })).toBe('created');
    expect(codeOf({ isFresh: false, bought: 3 })).toBe('ask_wallet');
    expect(codeOf({ isFresh: false, accountId: null })).toBe('ask_wallet');
    expect(codeOf({ isFresh: false, round: null })).toBe('not_found');
    expect(codeOf({ isFresh: false }, ROUND.entriesCloseAt)).toBe('entries_closed');
  });
});

describe('a batch of creations', () => {
  it('a batch of creations that has one id twice makes one attempt', () => {
    expect(decide(facts(), facts()).map(({ kind }) => kind)).toEqual(['created', 'known']);
  });

  it('a batch of creations never exceeds the cap of a player in a round, for any earlier attempts and any mix of creations', () => {
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

  it('a creation on a cached round is created like one on a round read then, even if its account is cached', () => {
    expect(decideCachedEntries([facts({ isFresh: false })], NOW)).toEqual(decide(facts()));
  });

  it('a creation is decided under lock if it would be refused, the round is not cached, or the ref has no account', () => {
    const closed = { ...ROUND, status: 'settling' as const };
    const another = { ...ROUND, tenant: OTHER_TENANT };
    const left = [{ round: null }, { round: closed }, { round: another }, { accountId: null }];
    expect(decideCached(...left.map((changes, index) => facts({ ...changes, attemptId: `${index}` })))).toEqual(
      left.map(() => null),
    );
  });

  it('a creation on a cached round is the only one of its account, and the only one of its id, in a batch', () => {
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
  it('an entry is one per account and round, whichever ref plays', () => {
    const [one, other] = decide(facts({ attemptId: 'a' }), facts({ attemptId: 'b' }));
    expect([one, other]).toMatchObject([
      { attempt: { entryId: entryIdOf(ROUND_ID, 'account') } },
      { attempt: { entryId: entryIdOf(ROUND_ID, 'account') } },
    ]);
    expect(entryIdOf(ROUND_ID, 'other')).not.toBe(entryIdOf(ROUND_ID, 'account'));
  });

  it('an entry may be bought outside a batch, as when a ref moves to another account', () => {
    const asked = { tenant: TENANT, round: ROUND, bought: 2, now: NOW };
    expect(decideAdmission(asked)).toEqual({ kind: 'admitted', round: ROUND });
    expect(decideAdmission({ ...asked, bought: 3 })).toMatchObject({ code: 'attempt_cap_reached' });
  });
});
