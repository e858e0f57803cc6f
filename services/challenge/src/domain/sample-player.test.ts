import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { needsEligibility, samplePlayer } from './sample-player.ts';

const scored = (environment: 'live' | 'test', accountId: string | null, threshold: number | null) => ({
  attempt: { accountId, playerRef: 'ref', threshold },
  terms: { tenant: { programId: 'program', environment } },
});
const account = fc.option(fc.constantFrom('one', 'two'), { nil: null });
const code = fc.option(fc.constantFrom('blocked', 'insider_entry'), { nil: null });

describe('whose sample a score is', () => {
  it('a free score in live counts for the account that the player_ref names now', () => {
    fc.assert(
      fc.property(account, account, code, (opened, named, refusal) => {
        const attempt = scored('live', opened, null);
        expect(needsEligibility(attempt)).toBe(true);
        expect(samplePlayer(attempt, null)).toBeNull();
        expect(samplePlayer(attempt, { accountId: named, code: refusal })).toBe(
          named === null || refusal !== null ? null : `account:${named}`,
        );
      }),
    );
  });

  it('a score in test counts without asking the wallet', () => {
    expect(samplePlayer(scored('test', null, null), null)).toBe('ref:ref');
    expect(samplePlayer(scored('test', 'one', null), null)).toBe('account:one');
    expect(samplePlayer(scored('live', 'one', 100), null)).toBe('account:one');
    expect(needsEligibility(scored('live', 'one', 100))).toBe(false);
  });
});
