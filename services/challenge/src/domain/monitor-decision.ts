/**
 * What the outcomes that a drift monitor counts do to its challenge (docs/contract/rules.md,
 * "Drift", "Ramp").
 *
 * - While the challenge is live, each settled paid attempt counts, one after the other. At the
 *   first attempt at which the monitor rejects the bar, the challenge is suspended. The attempts
 *   after that one do not count.
 * - If the monitor does not reject, 100 attempts complete the ramp.
 * - For a suspended or closed challenge no attempt counts. Its open attempts settle as before, and
 *   a reinstated challenge starts to count from zero.
 *
 * The outcomes may come in any order that does not depend on how they ended. Then, while a bar
 * keeps its claim, each outcome clears it with a probability within the band, whatever came before.
 */
import type { Attempt, AttemptTerms, Challenge, ChallengeTerms } from './challenge.ts';
import { countOutcomes, type DriftState, isReadingDue, type LogRatios, logRatiosOf } from './drift-monitor.ts';
import { RAMP_ATTEMPTS, rampOf } from './ramp.ts';
import type { StatusChange } from './status-change.ts';
import type { TierCeilings } from './tier-ceiling.ts';

export type DriftMonitor = {
  readonly challengeId: string;
  readonly startedAt: Date;
  /** Batches up to this id were settled before the monitor started. */
  readonly countsAfter: bigint;
  readonly state: DriftState;
};

/** The facts that decide what happens to a challenge, and those that its event states. */
export type MonitoredChallenge = Pick<Challenge, 'id' | 'tenant' | 'status' | 'hasRamp' | 'rampCompletedAt'> & {
  readonly terms: Pick<ChallengeTerms, 'name' | 'targetPassRate' | 'prizeCents' | 'integrityTier'>;
};

/** The evidence of the drift monitor at one moment. */
export type DriftReading = DriftState & LogRatios;

export type MonitorDecision = {
  /** The monitor's new state. */
  readonly monitor: DriftMonitor;
  /** The reading to keep; null for none. */
  readonly reading: DriftReading | null;
  /** The suspension, or the completion of the ramp; null for none. */
  readonly change: StatusChange | null;
};

/**
 * Whether the drift monitor counts an outcome. It counts outcomes of frozen bars only: the bar of a
 * top_n challenge moves.
 */
export function countsForMonitor({
  attempt,
  terms,
}: {
  readonly attempt: Pick<Attempt, 'threshold'>;
  readonly terms: Pick<AttemptTerms, 'prizeStructure'>;
}): boolean {
  return attempt.threshold !== null && terms.prizeStructure === 'threshold';
}

/** What the monitor makes of these outcomes; null if it counts no outcome. */
export function decideMonitoring(
  before: DriftMonitor,
  challenge: MonitoredChallenge,
  passed: readonly boolean[],
  { ceilings, now }: { readonly ceilings: TierCeilings; readonly now: Date },
): MonitorDecision | null {
  if (challenge.status !== 'live') return null;
  const { targetPassRate } = challenge.terms;
  const { state, rejectedAt } = countOutcomes(before.state, passed, targetPassRate);
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
