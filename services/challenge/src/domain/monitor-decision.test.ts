import { cents } from '@laurel/values/money';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Challenge } from './challenge.ts';
import { FIRST_JUDGED_ATTEMPT } from './drift-monitor.ts';
import { ATTEMPT, ATTEMPT_TERMS, CEILINGS, LIVE_CHALLENGE, NOW, TERMS } from './example.ts';
import { countsForMonitor, type DriftMonitor, decideMonitoring, type MonitorDecision } from './monitor-decision.ts';

const FRESH: DriftMonitor = {
  challengeId: LIVE_CHALLENGE.id,
  countsAfter: 0n,
  startedAt: NOW,
  state: { attempts: 0, passes: 0 },
};
const SEEDED: Challenge = { ...LIVE_CHALLENGE, calibrationSource: 'partner_seeded', hasRamp: true };
const decide = (passed: readonly boolean[], challenge: Challenge = LIVE_CHALLENGE, monitor: DriftMonitor = FRESH) =>
  decideMonitoring(monitor, challenge, passed, { ceilings: CEILINGS, now: NOW });
const all = (passed: boolean, count: number) => Array<boolean>(count).fill(passed);
const atTarget = (count: number) => Array.from({ length: count }, (_, index) => index % 5 === 4);

/** Decides the outcomes in parts, one after the other, until the challenge is suspended. */
function decideInParts(passed: readonly boolean[], cuts: readonly number[]): MonitorDecision | null {
  const ends = [...new Set([...cuts.map((cut) => cut % passed.length), passed.length])].filter((end) => end > 0);
  let decision: MonitorDecision | null = null;
  let start = 0;
  for (const end of ends.sort((one, other) => one - other)) {
    decision = decide(passed.slice(start, end), LIVE_CHALLENGE, decision?.monitor ?? FRESH);
    if (decision?.change != null) return decision;
    start = end;
  }
  return decision;
}

describe('what a drift monitor counts', () => {
  it('the monitor counts only outcomes against a frozen bar', () => {
    expect(countsForMonitor({ attempt: ATTEMPT, terms: ATTEMPT_TERMS })).toBe(true);
    expect(countsForMonitor({ attempt: { threshold: null }, terms: ATTEMPT_TERMS })).toBe(false);
    expect(countsForMonitor({ attempt: ATTEMPT, terms: { prizeStructure: 'top_n' } })).toBe(false);
  });

  it('nothing is counted while the challenge is suspended or closed', () => {
    for (const status of ['suspended', 'closed', 'calibrating'] as const) {
      expect(decide(all(true, 100), { ...LIVE_CHALLENGE, status })).toBeNull();
    }
  });

  it('counting in several batches suspends the challenge at the same attempt as in one batch', () => {
    fc.assert(
      fc.property(
        fc.array(fc.boolean(), { minLength: 1, maxLength: 300 }),
        fc.array(fc.nat({ max: 300 }), { maxLength: 8 }),
        (passed, cuts) => {
          const whole = decide(passed);
          const inParts = decideInParts(passed, cuts);
          expect(inParts?.monitor).toEqual(whole?.monitor);
          expect(inParts?.change).toEqual(whole?.change);
        },
      ),
    );
  });
});

describe('the result of a count', () => {
  it('a challenge whose bar drifts is suspended with the evidence at the attempt that shows the drift', () => {
    const decision = decide(all(true, 80));
    const evidence = { attempts: FIRST_JUDGED_ATTEMPT, passes: FIRST_JUDGED_ATTEMPT };
    expect(decision?.monitor).toEqual({ ...FRESH, state: evidence });
    expect(decision?.change).toMatchObject({ from: 'live', to: 'suspended', cause: 'drift', changedAt: NOW, evidence });
    expect(decision?.reading).toEqual(decision?.change?.evidence);
  });

  it('only the 100th attempt completes a ramp', () => {
    expect(decide(atTarget(99), SEEDED)?.change).toBeNull();
    const evidence = { attempts: 100, passes: 20 };
    expect(decide(atTarget(100), SEEDED)?.change).toMatchObject({ from: 'live', to: 'live', cause: 'ramp', evidence });
    expect(decide(atTarget(100), LIVE_CHALLENGE)?.change).toBeNull();
    expect(decide(atTarget(100), { ...SEEDED, rampCompletedAt: NOW })?.change).toBeNull();
    const withinCap = { ...SEEDED, terms: { ...TERMS, prizeCents: cents(500n) } };
    expect(decide(atTarget(100), withinCap)?.change).toBeNull();
  });

  it('a challenge whose bar drifts does not complete its ramp', () => {
    expect(decide(all(false, 200), SEEDED)?.change).toMatchObject({ cause: 'drift' });
  });
});
