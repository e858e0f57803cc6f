/** Rounds, as the component of attempts reads them (libs/attempts/src/contest.ts). A round has no bar, and pays by rank. */
import type { Contest } from '@laurel/attempts';
import type { Database } from '@laurel/postgres';
import type { Clock } from '@laurel/service';
import { endOf } from './domain/outcome-decision.ts';
import { findAttempt } from './repository/attempts.ts';
import { loadOutcome } from './repository/outcomes.ts';

export function roundContest(deps: {
  readonly database: Database;
  readonly attemptTtlMs: number;
  readonly clock: Clock;
}): Contest {
  const { database, attemptTtlMs: ttlMs, clock } = deps;
  return {
    async findAttempt(id) {
      const found = await findAttempt(database, id);
      if (found === null) return null;
      const { attempt, round } = found;
      const { roundId: contestId, metadata } = attempt;
      const endedBy = endOf(attempt, round, { ttlMs, now: clock() }) === 'round' ? 'round_closed' : null;
      return { attempt, tenant: round.tenant, contestId, metadata, endedBy };
    },
    async loadOutcome(attemptId) {
      return { ...(await loadOutcome(database, attemptId)), metThreshold: false, thresholdApplied: null };
    },
    findAwardOf: async () => null,
  };
}
