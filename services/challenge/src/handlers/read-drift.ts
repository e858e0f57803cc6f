/**
 * Reads the drift monitor of a challenge, its readings since it started, and the history of the
 * challenge's status.
 */
import type { Queryable } from '@laurel/postgres';
import type {
  DriftReading as DriftReadingMessage,
  GetDriftResponse,
  StatusChange as StatusChangeMessage,
} from '@laurel/proto/challenge';
import { CHALLENGE_STATUSES } from '@laurel/proto/enum-names';
import type { Clock } from '@laurel/service';
import type { Challenge } from '../domain/challenge.ts';
import { claimedBandOf, FIRST_JUDGED_ATTEMPT, LOG_LIMIT, logRatiosOf } from '../domain/drift-monitor.ts';
import type { DriftReading } from '../domain/monitor-decision.ts';
import type { StatusChange } from '../domain/status-change.ts';
import type { TierCeilings } from '../domain/tier-ceiling.ts';
import { findMonitor, loadReadings } from '../repository/drift-monitors.ts';
import { loadStatusChanges } from '../repository/status-changes.ts';
import { presentChallenge } from './present.ts';

export async function readDrift(
  on: Queryable,
  challenge: Challenge,
  { ceilings, clock }: { readonly ceilings: TierCeilings; readonly clock: Clock },
): Promise<GetDriftResponse> {
  const [monitor, changes] = await Promise.all([findMonitor(on, challenge.id), loadStatusChanges(on, challenge.id)]);
  const readings = monitor === null ? [] : await loadReadings(on, monitor);
  const { targetPassRate } = challenge.terms;
  const claim = claimedBandOf(targetPassRate);
  const now = monitor === null ? null : { ...monitor.state, ...logRatiosOf(monitor.state, targetPassRate) };
  return {
    challenge: presentChallenge(challenge, ceilings),
    startedAt: monitor?.startedAt,
    now: now === null ? undefined : presentReading(now, clock()),
    claimedLow: claim.low,
    claimedHigh: claim.high,
    logLimit: LOG_LIMIT,
    attemptsBeforeJudging: BigInt(FIRST_JUDGED_ATTEMPT),
    readings: readings.map((reading) => presentReading(reading, reading.readAt)),
    changes: changes.map(presentStatusChange),
  };
}

function presentReading({ attempts, passes, above, below }: DriftReading, readAt: Date): DriftReadingMessage {
  return {
    attempts: BigInt(attempts),
    passes: BigInt(passes),
    logRatioAbove: above,
    logRatioBelow: below,
    readAt,
  };
}

export function presentStatusChange({ changedAt, from, to, cause, note, evidence }: StatusChange): StatusChangeMessage {
  return {
    changedAt,
    from: CHALLENGE_STATUSES[from],
    to: CHALLENGE_STATUSES[to],
    cause,
    note: note ?? '',
    evidence: evidence === null ? undefined : presentReading(evidence, changedAt),
  };
}
