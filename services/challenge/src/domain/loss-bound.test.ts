import { cents } from '@laurel/values/money';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Challenge } from './challenge.ts';
import { CEILINGS, LIVE_CHALLENGE, NOW, TENANT, TERMS } from './example.ts';
import { lossBoundOf, mostCountedWins, mostWinsUntilConfirmed } from './loss-bound.ts';
import { type DriftMonitor, decideMonitoring } from './monitor-decision.ts';
import { decideAvailability } from './player-availability.ts';
import { attemptOfferOf } from './prize-offer.ts';
import { MAX_UNCONFIRMED_ATTEMPTS } from './ramp.ts';

/**
 * A challenge of tier 3 whose bar comes from reported scores. The ramp offers 500.00 of its prize
 * of 2,500.00.
 */
const challengeWith = (targetPassRate: number): Challenge => ({
  ...LIVE_CHALLENGE,
  terms: { ...TERMS, prizeCents: cents(250_000n), integrityTier: 3, targetPassRate },
  calibrationSource: 'partner_seeded',
  hasRamp: true,
  unconfirmedAttempts: 0,
});

type Step =
  | { readonly kind: 'open' | 'expire' | 'count'; readonly times: number }
  | { readonly kind: 'report'; readonly times: number; readonly isWin: boolean };

/**
 * Returns what a challenge pays until its bar is confirmed (over all steps, if it never is), and
 * the most attempts that were open or waiting for the monitor at one time. Applies the rules of
 * creations, of the monitor and of held awards.
 */
function paidBy(steps: readonly Step[], targetPassRate: number): { readonly cents: bigint; readonly most: number } {
  let challenge = challengeWith(targetPassRate);
  let monitor: DriftMonitor = {
    challengeId: challenge.id,
    startedAt: NOW,
    countsAfter: 0n,
    state: { attempts: 0, passes: 0 },
  };
  let [open, paid, most] = [0, 0n, 0];
  let waiting: readonly boolean[] = [];
  const player = { claimed: false, parentClaimed: true, paidInWindow: 0 };
  const act = (step: Step): void => {
    const now = { ...challenge, unconfirmedAttempts: open + waiting.length };
    if (step.kind === 'open') {
      if (decideAvailability({ tenant: TENANT, challenge: now, player, ceilings: CEILINGS }).kind === 'available')
        open += 1;
    } else if (step.kind === 'expire') {
      open = Math.max(0, open - 1);
    } else if (step.kind === 'report' && open > 0) {
      open -= 1;
      waiting = [...waiting, step.isWin];
      // An award won on a challenge that drift has suspended is held.
      if (step.isWin && challenge.status === 'live') paid += attemptOfferOf(challenge, CEILINGS).prizeCents;
    } else if (step.kind === 'count' && waiting.length > 0) {
      const counted = Math.min(waiting.length, step.times);
      const decision = decideMonitoring(monitor, challenge, waiting.slice(0, counted), {
        ceilings: CEILINGS,
        now: NOW,
      });
      waiting = waiting.slice(counted);
      if (decision === null) return;
      monitor = decision.monitor;
      const { change } = decision;
      if (change?.cause === 'drift') challenge = { ...challenge, status: 'suspended' };
      if (change?.cause === 'ramp') challenge = { ...challenge, rampCompletedAt: NOW };
    }
    most = Math.max(most, open + waiting.length);
  };
  for (const step of steps) {
    for (let time = 0; time < (step.kind === 'count' ? 1 : step.times); time += 1) {
      if (challenge.rampCompletedAt !== null) return { cents: paid, most };
      act(step);
    }
  }
  return { cents: paid, most };
}

const times = fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 40, max: 260 }));
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constantFrom('open' as const, 'expire' as const, 'count' as const), times }),
  fc.record({ kind: fc.constant('open' as const), times }),
  fc.record({ kind: fc.constant('report' as const), times, isWin: fc.boolean() }),
  fc.record({ kind: fc.constant('report' as const), times, isWin: fc.constant(true) }),
);
const targets = fc.oneof(
  fc.constantFrom(0.05, 0.2, 0.25, 0.5, 0.7),
  fc.double({ min: 0.001, max: 0.999, noNaN: true }),
);

describe('what a challenge may lose before its bar is confirmed', () => {
  it('no order of calls makes an unconfirmed challenge pay more than its bound', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), targets, (steps, targetPassRate) => {
        const { cents: paid, most } = paidBy(steps, targetPassRate);
        expect(most).toBeLessThanOrEqual(MAX_UNCONFIRMED_ATTEMPTS);
        expect(paid <= lossBoundOf(challengeWith(targetPassRate), CEILINGS)).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  it('the loss bound is reached by 49 counted wins and 100 uncounted wins', () => {
    const winning = (count: number): readonly Step[] => [
      { kind: 'open', times: 250 },
      { kind: 'report', times: count, isWin: true },
    ];
    const steps: readonly Step[] = [
      ...winning(49),
      { kind: 'count', times: 49 },
      ...winning(250),
      { kind: 'count', times: 250 },
      ...winning(250),
    ];
    expect(paidBy(steps, 0.2).cents).toBe(149n * 50_000n);
    expect(lossBoundOf(challengeWith(0.2), CEILINGS)).toBe(149n * 50_000n);
  });

  it('the monitor accepts at most 49 wins below a target of 0.25', () => {
    expect([0.05, 0.2, 0.25, 0.5, 0.6, 0.9].map(mostCountedWins)).toEqual([49, 49, 57, 90, 99, 99]);
    expect(mostWinsUntilConfirmed(0.2)).toBe(149);
  });
});
