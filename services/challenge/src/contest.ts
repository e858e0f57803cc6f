/**
 * Challenges as a kind of contest (libs/attempts/src/contest.ts). The end of a challenge does not
 * end its attempts.
 */
import { type Contest, refundsByStatus, type Wallet } from '@laurel/attempts';
import type { OutcomeCommitDeps, WonAward } from './commits/outcome-draft.ts';
import { createAttemptReservationBatches, moveReservation } from './commits/reserve-attempts.ts';
import { createOutcomeSettlementBatches, settleOutcome } from './commits/settle-outcomes.ts';
import type { Attempt, Outcome } from './domain/challenge.ts';
import { statusOf } from './domain/current-bar.ts';
import { requirementOf } from './domain/requirement.ts';
import type { TierCeilings } from './domain/tier-ceiling.ts';
import { AWARDS, refundEvents, settledWithAward } from './events.ts';
import { findAttempt } from './repository/attempts.ts';
import { findAwardOfAttempt, loadAwardsOfAttempts } from './repository/awards.ts';
import { findChallenge, loadChallenges } from './repository/challenges.ts';
import { loadOpenCandidates } from './repository/open-attempts.ts';
import { loadOutcome, loadOutcomes, loadReceipt } from './repository/outcomes.ts';

type Deps = OutcomeCommitDeps & { readonly ceilings: TierCeilings; readonly wallet: Pick<Wallet, 'checkEligibility'> };

export function challengeContest(deps: Deps): Contest {
  const { database, attempts } = deps;
  const reservations = createAttemptReservationBatches(deps);
  const settlements = createOutcomeSettlementBatches(deps);
  return {
    async reserve({ contestId: challengeId, ...creation }, account) {
      const decision = await reservations.submit({ creation: { ...creation, challengeId }, account });
      if (decision.kind === 'refused' || decision.kind === 'ask_wallet') return decision;
      const { attempt, challenge } = decision;
      attempts.putTerms(challenge);
      return { kind: 'written', attempt, requirement: requirementOf(challenge.terms) };
    },
    moveTo: (attempt: Attempt, accountId) => moveReservation(attempt, accountId, deps),
    remember: (attempt: Attempt) => attempts.put(attempt),
    settle: (report) => settleOutcome(report, { ...deps, settlements }),
    settledWithAward: (won: WonAward, outcome: Outcome) => settledWithAward({ ...won, outcome }),

    async findAttempt(id) {
      const found = await findAttempt(database, id);
      if (found === null) return null;
      const { attempt, terms } = found;
      const { challengeId: contestId, metadata } = attempt;
      return { attempt, tenant: terms.tenant, contestId, metadata, endedBy: null };
    },
    loadOutcome: (attemptId) => loadOutcome(database, attemptId),
    loadReceipt: (receiptId) => loadReceipt(database, receiptId),
    findAwardOf: (attemptId) => findAwardOfAttempt(database, attemptId),
    async findNamed(id) {
      const found = await findChallenge(database, id);
      return found === null ? [] : [{ kind: 'challenge', tenant: found.tenant, summary: found.terms.name }];
    },
    async loadResults(attemptIds) {
      const [outcomes, won] = await Promise.all([
        loadOutcomes(database, attemptIds),
        loadAwardsOfAttempts(database, attemptIds),
      ]);
      const awards = new Map(won.map((award) => [award.attemptId, award]));
      return new Map(
        outcomes.map((outcome) => [outcome.attemptId, { outcome, award: awards.get(outcome.attemptId) ?? null }]),
      );
    },
    async loadStates(ids) {
      const challenges = await loadChallenges(database, ids);
      return new Map(
        [...challenges].map(([id, { challenge }]) => [
          id,
          // An open attempt accepts a score whatever the status of its challenge is.
          { tenant: challenge.tenant, takesScores: true, isCalibrating: statusOf(challenge) === 'calibrating' },
        ]),
      );
    },
    loadOpenCandidates: (players, after) => loadOpenCandidates(database, players, after),

    refunds: refundsByStatus,
    refundEvents,
    awards: AWARDS,

    async drain() {
      await reservations.drain();
      await settlements.drain();
    },
  };
}
