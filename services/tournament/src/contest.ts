/**
 * Rounds as contests, for the attempt lifecycle (libs/attempts/src/contest.ts). A round has no bar,
 * and pays by rank.
 */
import type { Contest, NamedContest } from '@laurel/attempts';
import type { Requirement } from '@laurel/attempts/domain';
import { createAttemptReservationBatches, moveReservation } from './commits/reserve-attempts.ts';
import { createOutcomeSettlementBatches, type OutcomeCommitDeps, settleOutcome } from './commits/settle-outcomes.ts';
import { attemptEndedBy } from './domain/outcome-decision.ts';
import { acceptsScores } from './domain/round-status.ts';
import type { Attempt, Outcome, Round, Tournament } from './domain/tournament.ts';
import { AWARDS, refundEvents } from './events.ts';
import { findAttempt } from './repository/attempts.ts';
import { addEntrantsStatement, lockEntrants, removeEntrants } from './repository/entries.ts';
import { loadOpenCandidates } from './repository/open-attempts.ts';
import { loadOutcome, loadOutcomes, loadReceipt } from './repository/outcomes.ts';
import { findAwardOfEntrant } from './repository/payouts.ts';
import { refundQueue } from './repository/refunds.ts';
import { findRound, loadRoundEnds } from './repository/rounds.ts';
import { findTournament } from './repository/tournaments.ts';

/**
 * Insiders of a program may not compete for its purses. Beyond that, only the rules that always
 * apply are required.
 */
const REQUIREMENT: Requirement = { verificationLevel: 0, jurisdictions: [], refuseInsiders: true };

export function roundContest(deps: OutcomeCommitDeps): Contest {
  const { database, attemptTtlMs: ttlMs, clock } = deps;
  const reservations = createAttemptReservationBatches(deps);
  const settlements = createOutcomeSettlementBatches(deps);
  return {
    async reserve({ contestId: roundId, ...creation }, account) {
      const decision = await reservations.submit({ creation: { ...creation, roundId }, account });
      if (decision.kind === 'refused' || decision.kind === 'ask_wallet') return decision;
      return { kind: 'written', attempt: decision.attempt, requirement: REQUIREMENT };
    },
    moveTo: (attempt: Attempt, accountId, tenant) => moveReservation(attempt, accountId, tenant, deps),
    async settle(report) {
      const settlement = await settleOutcome(report, { ...deps, settlements });
      if (settlement.kind === 'round_over') {
        const ended = await findAttempt(database, report.attemptId);
        return { kind: 'over', reason: ended?.endReason ?? 'round_closed' };
      }
      if (settlement.kind !== 'recorded') return settlement;
      return { kind: 'recorded', outcome: withoutBar(settlement.outcome), won: null };
    },

    async findAttempt(id) {
      const found = await findAttempt(database, id);
      if (found === null) return null;
      const { attempt, round, endReason } = found;
      const { roundId: contestId, metadata } = attempt;
      const endedBy = attemptEndedBy(attempt, round, { ttlMs, now: clock() }) === 'round' ? endReason : null;
      return { attempt, tenant: round.tenant, contestId, metadata, endedBy };
    },
    loadOutcome: async (attemptId) => withoutBar(await loadOutcome(database, attemptId)),
    loadReceipt: (receiptId) => loadReceipt(database, receiptId),
    findAwardOf: async () => null,
    findRankAwardOf: (attemptId) => findAwardOfEntrant(database, attemptId),
    async findNamed(id) {
      const [tournament, round] = await Promise.all([findTournament(database, id), findRound(database, id)]);
      return [
        ...(tournament === null ? [] : [namedTournament(tournament.tournament)]),
        ...(round === null ? [] : [namedRound(round.round)]),
      ];
    },
    async loadResults(attemptIds) {
      const outcomes = await loadOutcomes(database, attemptIds);
      return new Map(outcomes.map((outcome) => [outcome.attemptId, { outcome: withoutBar(outcome), award: null }]));
    },
    async loadStates(ids) {
      const rounds = await loadRoundEnds(database, ids);
      const now = clock();
      return new Map(
        [...rounds].map(([id, round]) => [
          id,
          { tenant: round.tenant, takesScores: acceptsScores(round, now), isCalibrating: false },
        ]),
      );
    },
    loadOpenCandidates: (players, after) => loadOpenCandidates(database, players, after),

    whenOpened: (attemptIds) => addEntrantsStatement(attemptIds, clock()),
    whenEnding: { lock: lockEntrants, ended: removeEntrants },
    refunds: refundQueue,
    refundEvents,
    awards: AWARDS,

    async drain() {
      await reservations.drain();
      await settlements.drain();
    },
  };
}

function namedTournament({ tenant, terms }: Tournament): NamedContest {
  return { kind: 'tournament', tenant, summary: terms.name };
}

function namedRound({ tenant, number, tournamentName }: Round): NamedContest {
  return { kind: 'round', tenant, summary: `round ${number} of ${tournamentName}` };
}

function withoutBar(outcome: Outcome) {
  return { ...outcome, metThreshold: false, thresholdApplied: null };
}
