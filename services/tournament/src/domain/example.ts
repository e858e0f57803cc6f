/** Example values for the tests of the rules. */
import { cents } from '@laurel/values/money';
import { entryIdOf } from './entry-decision.ts';
import type { Attempt, Round, RoundTerms, Standing, Tenant, Tournament, TournamentTerms } from './tournament.ts';

export const TENANT: Tenant = { programId: 'program', environment: 'live' };
export const OTHER_TENANT: Tenant = { programId: 'program', environment: 'test' };
export const NOW = new Date('2026-11-21T12:00:00.000Z');
export const HOUR_MS = 3_600_000;
export const ROUND_ID = '0193c000-0000-7000-8000-000000000001';

export const ROUND_TERMS: RoundTerms = {
  metricName: 'distance',
  metricUnit: 'm',
  direction: 'higher_is_better',
  tiebreak: null,
  entryFeeCents: cents(500n),
  attemptCap: 3,
  purse: [cents(10_000n), cents(5_000n), cents(5_000n)],
  minEntrants: 2,
  minScoredAttempts: 3,
};

export const WITH_TIEBREAK: RoundTerms = {
  ...ROUND_TERMS,
  tiebreak: { metricName: 'seconds', direction: 'lower_is_better' },
};

export const TERMS: TournamentTerms = {
  ...ROUND_TERMS,
  name: 'Weekend cup',
  description: null,
  roundLengthSeconds: 7_200,
};

export const TOURNAMENT: Tournament = {
  id: 'tournament',
  tenant: TENANT,
  status: 'active',
  terms: TERMS,
  createdAt: NOW,
};

/** A round that began an hour ago and ends in an hour. */
export const ROUND: Round = {
  id: ROUND_ID,
  tournamentId: TOURNAMENT.id,
  tournamentName: TERMS.name,
  tenant: TENANT,
  number: 4,
  status: 'open',
  opensAt: new Date(NOW.getTime() - HOUR_MS),
  entriesCloseAt: new Date(NOW.getTime() + HOUR_MS - 600_000),
  closesAt: new Date(NOW.getTime() + HOUR_MS),
  settledAt: null,
  cancellation: null,
  terms: ROUND_TERMS,
  createdAt: new Date(NOW.getTime() - HOUR_MS),
};

export const ATTEMPT: Attempt = {
  id: 'attempt',
  roundId: ROUND_ID,
  entryId: entryIdOf(ROUND_ID, 'account'),
  accountId: 'account',
  playerRef: 'player',
  status: 'open',
  feeCents: cents(500n),
  metadata: '{}',
  createdAt: NOW,
  feeGeneration: 0,
  closedReason: null,
};

/** An entry on the board of a running round. */
export function standingOf(name: string, changes: Partial<Standing> = {}): Standing {
  return {
    entryId: entryIdOf(ROUND_ID, name),
    accountId: name,
    best: { score: 10, tiebreak: null, at: NOW, attemptId: `attempt of ${name}`, playerRef: name },
    paidAttempts: 1,
    finalRank: null,
    payoutCents: null,
    awardStatus: null,
    ...changes,
  };
}

export function after(milliseconds: number, instant = NOW): Date {
  return new Date(instant.getTime() + milliseconds);
}
