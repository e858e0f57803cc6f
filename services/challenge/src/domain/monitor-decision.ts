/**
 * What becomes of a challenge by the outcomes that its drift monitor counts (docs/contract/rules.md, "Drift", "Ramp").
 *
 * - While the challenge is live each settled paid attempt counts, one after the other. At the first at which the monitor rejects, the
 *   challenge is suspended; the attempts behind it do not count.
 * - Where the monitor does not reject, 100 attempts complete the ramp.
 * - Of a suspended or closed challenge none count: its open attempts settle as before, and a reinstated one starts to count anew.
 *
 * Any order of the outcomes is a valid one, as long as it does not depend on how they ended: of a bar that keeps its claim, each clears it
 * with a probability within the band whatever went before.
 */
import type { Attempt, AttemptTerms, Challenge, ChallengeTerms } from './challenge.ts';
import { type DriftState, follow, isReadingDue, type LogRatios, logRatiosOf } from './drift-monitor.ts';
import { RAMP_ATTEMPTS, rampOf } from './ramp.ts';
import type { StatusChange } from './status-change.ts';
import type { TierCeilings } from './tier-ceiling.ts';

export type DriftMonitor = {
  readonly challengeId: string;
  readonly startedAt: Date;
  /** Batches of outcomes up to this one were settled before the monitor started. */
  readonly countsAfter: bigint;
  readonly state: DriftState;
};

/** What the decision on a challenge follows from, and what its event states. */
export type MonitoredChallenge = Pick<Challenge, 'id' | 'tenant' | 'status' | 'hasRamp' | 'rampCompletedAt'> & {
  readonly terms: Pick<ChallengeTerms, 'name' | 'targetPassRate' | 'prizeCents' | 'integrityTier'>;
};

/** The evidence at one moment. */
export type DriftReading = DriftState & LogRatios;

export type MonitorDecision = {
  /** As it is from now on. */
  readonly monitor: DriftMonitor;
  /** To be kept; null for none. */
  readonly reading: DriftReading | null;
  /** The suspension, or the completion of the ramp; null for none. */
  readonly change: StatusChange | null;
};

/** Whether the drift monitor counts an outcome: those of a frozen bar, other than the moving one of a top_n challenge. */
export function countsForMonitor({
  attempt,
  terms,
}: {
  readonly attempt: Pick<Attempt, 'threshold'>;
  readonly terms: Pick<AttemptTerms, 'prizeStructure'>;
}): boolean {
  return attempt.threshold !== null && terms.prizeStructure === 'threshold';
}

/** Null where none of the outcomes count. */
export function decideMonitoring(
  before: DriftMonitor,
  challenge: MonitoredChallenge,
  passed: readonly boolean[],
  { ceilings, now }: { readonly ceilings: TierCeilings; readonly now: Date },
): MonitorDecision | null {
  if (challenge.status !== 'live') return null;
  const { targetPassRate } = challenge.terms;
  const { state, rejectedAt } = follow(before.state, passed, targetPassRate);
  const monitor = { ...before, state };
  const change = { challengeId: challenge.id, changedAt: now, from: 'live', note: null } as const;
  if (rejectedAt !== null) {
    return {
      monitor,
      reading: rejectedAt,
      change: { ...change, to: 'suspended', cause: 'drift', evidence: rejectedAt },
    };
  }
  const isRampDone =
    state.attempts >= RAMP_ATTEMPTS && rampOf({ ...challenge, attemptsSeen: state.attempts }, ceilings) !== null;
  const isReading = isReadingDue(before.state.attempts, state.attempts);
  if (!isRampDone && !isReading) return { monitor, reading: null, change: null };
  const evidence = { ...state, ...logRatiosOf(state, targetPassRate) };
  return {
    monitor,
    reading: isReading ? evidence : null,
    change: isRampDone ? { ...change, to: 'live', cause: 'ramp', evidence } : null,
  };
}
