import { type AttemptStatus, shownStatus } from '@laurel/attempts/domain';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ENTRANT_STATUSES, entrantsAtClose } from './entrants.ts';

const STATUSES: readonly AttemptStatus[] = [
  'pending',
  'open',
  'settled',
  'expiring',
  'expired',
  'voiding',
  'voided',
  'refused',
];

/** The accounts that these attempts of a running round make entrants. */
function entrantsOf(attempts: readonly { accountId: number; status: AttemptStatus }[]): ReadonlySet<number> {
  return new Set(
    attempts.filter(({ status }) => ENTRANT_STATUSES.some((kept) => kept === status)).map(({ accountId }) => accountId),
  );
}

describe('an entrant', () => {
  it('an account is an entrant exactly if one of its attempts is shown as open or settled', () => {
    const made = STATUSES.filter((status) => entrantsOf([{ accountId: 1, status }]).size === 1);
    expect(made).toEqual(STATUSES.filter((status) => ['open', 'settled'].includes(shownStatus(status) ?? '')));
  });

  it('at the close, exactly the players who scored are entrants', () => {
    const attempt = fc.record({ accountId: fc.nat(5), status: fc.constantFrom(...STATUSES) });
    fc.assert(
      fc.property(fc.array(attempt), (attempts) => {
        const resolved = attempts.filter(({ status }) => status !== 'pending');
        const atClose = resolved.map((one) => (one.status === 'open' ? { ...one, status: 'expiring' as const } : one));
        const scored = new Set(resolved.filter(({ status }) => status === 'settled').map(({ accountId }) => accountId));
        expect(entrantsOf(atClose)).toEqual(scored);
        expect(entrantsAtClose({ scoredPlayers: scored.size })).toBe(entrantsOf(atClose).size);
      }),
    );
  });
});
