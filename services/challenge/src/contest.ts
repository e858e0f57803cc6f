/** Challenges, as the component of attempts reads them (libs/attempts/src/contest.ts). The end of a challenge ends no attempt. */
import type { Contest } from '@laurel/attempts';
import type { Database } from '@laurel/postgres';
import { findAttempt } from './repository/attempts.ts';
import { findAwardOfAttempt } from './repository/awards.ts';
import { loadOutcome } from './repository/outcomes.ts';

export function challengeContest({ database }: { readonly database: Database }): Contest {
  return {
    async findAttempt(id) {
      const found = await findAttempt(database, id);
      if (found === null) return null;
      const { attempt, terms } = found;
      const { challengeId: contestId, metadata } = attempt;
      return { attempt, tenant: terms.tenant, contestId, metadata, endedBy: null };
    },
    loadOutcome: (attemptId) => loadOutcome(database, attemptId),
    findAwardOf: (attemptId) => findAwardOfAttempt(database, attemptId),
  };
}
