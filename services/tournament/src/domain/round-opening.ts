/**
 * Which rounds open, and when (docs/contract/rules.md, "Tournaments").
 *
 * While a tournament is `active` and has a round length, its first round opens at creation, and the
 * next one when the last closes. A tournament that was paused meanwhile opens its next round when
 * it is active again. Without a round length the operator opens each round. A tournament has at
 * most one open round. A new round freezes what it reads from its tournament.
 */
import { type Refused, refused } from '@laurel/errors';
import { INSTANT_BOUNDS, isBefore, isInBounds, later } from '@laurel/values/instant';
import { isLongEnough, MIN_LENGTH_REASON, MIN_ROUND_MS } from './round-length.ts';
import { entriesCloseAt } from './round-status.ts';
import type { Round, RoundTerms, Tournament, TournamentTerms } from './tournament.ts';

/**
 * The round that opens automatically now; null if none does. The caller has checked that no other
 * is open.
 */
export function nextRound(facts: {
  readonly tournament: Tournament;
  readonly id: string;
  readonly number: number;
  readonly now: Date;
}): Round | null {
  const { tournament, now } = facts;
  const { roundLengthSeconds } = tournament.terms;
  if (tournament.status !== 'active' || roundLengthSeconds === null) return null;
  return openRound({ ...facts, opensAt: now, closesAt: later(now, roundLengthSeconds * 1000) });
}

/** The round that an operator opens. Refuses: conflict, invalid_request. */
export function decideRound(facts: {
  readonly tournament: Tournament;
  readonly hasOpenRound: boolean;
  readonly id: string;
  readonly number: number;
  /** Null means now. */
  readonly opensAt: Date | null;
  readonly closesAt: Date;
  readonly now: Date;
}): { readonly kind: 'opened'; readonly round: Round } | Refused {
  const { tournament, closesAt, now } = facts;
  const opensAt = facts.opensAt ?? now;
  if (!isInBounds(opensAt) || !isInBounds(closesAt)) {
    return refused('invalid_request', `opens_at and closes_at must lie ${INSTANT_BOUNDS}.`);
  }
  if (!isBefore(opensAt, closesAt)) return refused('invalid_request', 'closes_at must be after opens_at.');
  if (!isBefore(now, closesAt)) return refused('invalid_request', 'closes_at must lie in the future.');
  if (!isLongEnough({ opensAt, closesAt, now })) {
    return refused(
      'invalid_request',
      `A round must last at least ${MIN_ROUND_MS / 60_000} minutes: ${MIN_LENGTH_REASON}.`,
    );
  }
  if (tournament.status !== 'active') return refused('conflict', `The tournament is ${tournament.status}.`);
  if (facts.hasOpenRound) return refused('conflict', 'The tournament has an open round.');
  return { kind: 'opened', round: openRound({ ...facts, opensAt }) };
}

function openRound(facts: {
  readonly tournament: Tournament;
  readonly id: string;
  readonly number: number;
  readonly opensAt: Date;
  readonly closesAt: Date;
  readonly now: Date;
}): Round {
  const { tournament, id, number, opensAt, closesAt, now } = facts;
  return {
    id,
    tournamentId: tournament.id,
    tournamentName: tournament.terms.name,
    tenant: tournament.tenant,
    number,
    status: 'open',
    opensAt,
    entriesCloseAt: entriesCloseAt({ opensAt, closesAt }),
    closesAt,
    settledAt: null,
    cancellation: null,
    terms: roundTermsOf(tournament.terms),
    createdAt: now,
  };
}

function roundTermsOf(terms: TournamentTerms): RoundTerms {
  return {
    metricName: terms.metricName,
    metricUnit: terms.metricUnit,
    direction: terms.direction,
    tiebreak: terms.tiebreak,
    entryFeeCents: terms.entryFeeCents,
    attemptCap: terms.attemptCap,
    purse: terms.purse,
    minEntrants: terms.minEntrants,
    minScoredAttempts: terms.minScoredAttempts,
  };
}
