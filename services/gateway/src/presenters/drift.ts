/**
 * A challenge's drift monitor and the history of its status, as an operator and as the program's
 * developer see them (docs/contract/portal-api.md, "Challenges" and "Contests of a program").
 */
import type { DriftReading, GetDriftResponse, StatusChange } from '@laurel/proto/challenge';
import { CHALLENGE_STATUSES, nameOf } from '@laurel/proto/enum-names';
import { timestamp } from './timestamp.ts';

/** The evidence of a challenge without a monitor, or whose monitor has counted nothing. */
const NO_EVIDENCE = { attempts: 0n, passes: 0n, logRatioAbove: 0, logRatioBelow: 0 };

export function presentDrift(drift: GetDriftResponse) {
  const { challenge, startedAt } = drift;
  if (challenge === undefined) throw new Error('the challenge service sent a drift monitor without its challenge');
  return {
    challenge_id: challenge.id,
    status: nameOf(CHALLENGE_STATUSES, challenge.status),
    started_at: startedAt === undefined ? null : timestamp(startedAt),
    ...presentEvidence(drift.now ?? NO_EVIDENCE),
    claimed: { low: drift.claimedLow, high: drift.claimedHigh },
    log_limit: drift.logLimit,
    attempts_before_judging: Number(drift.attemptsBeforeJudging),
    readings: drift.readings.map((reading) => ({ ...presentEvidence(reading), read_at: timestamp(reading.readAt) })),
    changes: drift.changes.map(presentChange),
  };
}

/** The drift monitor of a challenge; null for a challenge without one. */
export function presentMonitor({ startedAt, now, logLimit, readings }: GetDriftResponse) {
  if (startedAt === undefined) return null;
  return {
    started_at: timestamp(startedAt),
    ...presentLogRatios(now ?? NO_EVIDENCE),
    limit: logLimit,
    readings: readings.map((reading) => ({ at: timestamp(reading.readAt), ...presentLogRatios(reading) })),
  };
}

/** The history as the program's developer sees it. */
export function presentStatusChanges({ changes }: GetDriftResponse) {
  return changes.map(presentStatusChange);
}

export function presentStatusChange(change: StatusChange) {
  return { at: timestamp(change.changedAt), ...presentStep(change) };
}

function presentChange(change: StatusChange) {
  return {
    changed_at: timestamp(change.changedAt),
    ...presentStep(change),
    evidence: change.evidence === undefined ? null : presentEvidence(change.evidence),
  };
}

function presentStep({ from, to, cause, note }: StatusChange) {
  return {
    from: nameOf(CHALLENGE_STATUSES, from),
    to: nameOf(CHALLENGE_STATUSES, to),
    cause,
    note: note === '' ? null : note,
  };
}

function presentLogRatios({ attempts, passes, logRatioAbove, logRatioBelow }: Omit<DriftReading, 'readAt'>) {
  return {
    attempts: Number(attempts),
    passes: Number(passes),
    evidence_above: logRatioAbove,
    evidence_below: logRatioBelow,
  };
}

function presentEvidence(reading: Omit<DriftReading, 'readAt'>) {
  const [attempts, passes] = [Number(reading.attempts), Number(reading.passes)];
  return {
    attempts,
    passes,
    pass_rate: attempts === 0 ? null : passes / attempts,
    log_ratio_above: reading.logRatioAbove,
    log_ratio_below: reading.logRatioBelow,
  };
}
