import { cents } from '@laurel/values/money';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Challenge } from './challenge.ts';
import { CALIBRATING_CHALLENGE, CEILINGS, LIVE_CHALLENGE, TENANT, TERMS } from './example.ts';
import { decideAvailability, factsWithoutAccount, type PlayerFacts } from './player-availability.ts';

const FRESH: PlayerFacts = { claimed: false, parentClaimed: true, paidInWindow: 0 };

function decide(challenge: Challenge | null, player: PlayerFacts = FRESH) {
  const decision = decideAvailability({ tenant: TENANT, challenge, player, ceilings: CEILINGS });
  return decision.kind === 'refused' ? decision.code : decision.offer;
}

describe('a challenge', () => {
  it('an available challenge returns its current offer', () => {
    expect(decide(LIVE_CHALLENGE)).toEqual({ feeCents: 100n, prizeCents: 2_000n, threshold: 100 });
    expect(decide(CALIBRATING_CHALLENGE)).toEqual({ feeCents: 0n, prizeCents: 0n, threshold: null });
  });

  it('a challenge of another tenant or environment is not found', () => {
    expect(decide(null)).toBe('not_found');
    expect(decide({ ...LIVE_CHALLENGE, tenant: { ...TENANT, programId: 'other' } })).toBe('not_found');
    expect(decide({ ...LIVE_CHALLENGE, tenant: { ...TENANT, environment: 'test' } })).toBe('not_found');
  });

  it('each rule refuses a challenge with its own code', () => {
    expect(decide({ ...LIVE_CHALLENGE, status: 'suspended' })).toBe('challenge_not_available');
    expect(decide({ ...LIVE_CHALLENGE, status: 'closed' })).toBe('challenge_not_available');
    expect(decide({ ...LIVE_CHALLENGE, terms: { ...TERMS, prizeCents: cents(2_501n) } })).toBe(
      'challenge_not_available',
    );
    expect(decide(LIVE_CHALLENGE, { ...FRESH, claimed: true })).toBe('challenge_already_claimed');
    expect(decide(LIVE_CHALLENGE, { ...FRESH, parentClaimed: false })).toBe('rung_locked');
    expect(decide(LIVE_CHALLENGE, { ...FRESH, paidInWindow: 2 })).toBe('attempt_cap_reached');
  });

  it('a free challenge has no cap', () => {
    expect(decide(CALIBRATING_CHALLENGE, { ...FRESH, paidInWindow: 99 })).toEqual(decide(CALIBRATING_CHALLENGE));
  });

  it('a rung is locked for a ref without an account', () => {
    const rung = { ...LIVE_CHALLENGE, terms: { ...TERMS, parentChallengeId: 'parent' } };
    expect(decide(rung, factsWithoutAccount(rung))).toBe('rung_locked');
    expect(decide(LIVE_CHALLENGE, factsWithoutAccount(LIVE_CHALLENGE))).toEqual(decide(LIVE_CHALLENGE));
  });

  it('a challenge to which several refusals apply is refused with the first documented one', () => {
    fc.assert(
      fc.property(
        fc.record({
          foreign: fc.boolean(),
          pulled: fc.boolean(),
          claimed: fc.boolean(),
          locked: fc.boolean(),
          capped: fc.boolean(),
        }),
        (against) => {
          const challenge: Challenge = {
            ...LIVE_CHALLENGE,
            tenant: against.foreign ? { ...TENANT, programId: 'other' } : TENANT,
            status: against.pulled ? 'suspended' : 'live',
          };
          const player = {
            claimed: against.claimed,
            parentClaimed: !against.locked,
            paidInWindow: against.capped ? 2 : 0,
          };
          const expected = against.foreign
            ? 'not_found'
            : against.pulled
              ? 'challenge_not_available'
              : against.claimed
                ? 'challenge_already_claimed'
                : against.locked
                  ? 'rung_locked'
                  : against.capped
                    ? 'attempt_cap_reached'
                    : decide(LIVE_CHALLENGE);
          expect(decide(challenge, player)).toEqual(expected);
        },
      ),
    );
  });
});
