/**
 * GetDrift: the drift monitor of a challenge, its readings since it started, and the history of the
 * challenge's status.
 */
import { refused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database, Queryable } from '@laurel/postgres';
import type {
  ChallengeServiceService,
  DriftReading as DriftReadingMessage,
  StatusChange as StatusChangeMessage,
} from '@laurel/proto/challenge';
import { CHALLENGE_STATUSES } from '@laurel/proto/enum-names';
import type { Clock } from '@laurel/service';
import { claimOf, JUDGES_FROM, LOG_LIMIT, logRatiosOf } from '../domain/drift-monitor.ts';
import type { DriftReading } from '../domain/monitor-decision.ts';
import type { StatusChange } from '../domain/status-change.ts';
import type { TierCeilings } from '../domain/tier-ceiling.ts';
import { findChallenge } from '../repository/challenges.ts';
import { findMonitor, loadReadings } from '../repository/drift-monitors.ts';
import { loadStatusChanges } from '../repository/status-changes.ts';
import { presentChallenge } from './present.ts';

export function getDrift({
  database,
  ceilings,
  clock,
}: {
  database: Database;
  ceilings: TierCeilings;
  clock: Clock;
}): Handlers<ChallengeServiceService>['getDrift'] {
  return async (request) => {
    const id = parseId(request.challengeId);
    const { challenge, monitor, readings, changes } = await database.transaction((tx) => read(tx, id), {
      isSnapshot: true,
    });
    if (challenge === null) return refused('not_found');
    const { targetPassRate } = challenge.terms;
    const claim = claimOf(targetPassRate);
    const now = monitor === null ? null : { ...monitor.state, ...logRatiosOf(monitor.state, targetPassRate) };
    return {
      challenge: presentChallenge(challenge, ceilings),
      startedAt: monitor?.startedAt,
      now: now === null ? undefined : presentReading(now, clock()),
      claimedLow: claim.low,
      claimedHigh: claim.high,
      logLimit: LOG_LIMIT,
      attemptsBeforeJudging: BigInt(JUDGES_FROM),
      readings: readings.map((reading) => presentReading(reading, reading.readAt)),
      changes: changes.map(presentStatusChange),
    };
  };
}

async function read(on: Queryable, challengeId: string) {
  const [challenge, monitor, changes] = await Promise.all([
    findChallenge(on, challengeId),
    findMonitor(on, challengeId),
    loadStatusChanges(on, challengeId),
  ]);
  return { challenge, monitor, changes, readings: monitor === null ? [] : await loadReadings(on, monitor) };
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

function presentStatusChange({ changedAt, from, to, cause, note, evidence }: StatusChange): StatusChangeMessage {
  return {
    changedAt,
    from: CHALLENGE_STATUSES[from],
    to: CHALLENGE_STATUSES[to],
    cause,
    note: note ?? '',
    evidence: evidence === null ? undefined : presentReading(evidence, changedAt),
  };
}
