/**
 * A challenge's drift monitor as an operator sees it (docs/contract/portal-api.md, "Challenges").
 */
import type { DriftReading, GetDriftResponse, StatusChange } from '@laurel/proto/challenge';
import { CHALLENGE_STATUSES, nameOf } from '@laurel/proto/enum-names';
import { timestamp } from './timestamp.ts';

/** For a challenge without a monitor, or whose monitor has counted nothing. */
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

function presentChange(change: StatusChange) {
  return {
    changed_at: timestamp(change.changedAt),
    from: nameOf(CHALLENGE_STATUSES, change.from),
    to: nameOf(CHALLENGE_STATUSES, change.to),
    cause: change.cause,
    note: change.note === '' ? null : change.note,
    evidence: change.evidence === undefined ? null : presentEvidence(change.evidence),
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
