/**
 * What an operator may set (docs/contract/portal-api.md, "The terms of a tournament";
 * docs/contract/rules.md, "Tournaments"). A proposed tournament becomes its terms, or validation
 * issues, each as a sentence.
 *
 * - Every attempt of a round is paid: the entry fee is above 0.00.
 * - The purse table names every rank from 1 on without a gap. Every amount is above 0.00 and at
 *   most the one before it.
 * - A tiebreak has a metric and a direction, or there is no tiebreak.
 * - A round takes entries for long enough (`round-length.ts`), and lasts a leap year at most.
 */
import { isStorable } from '@laurel/json';
import {
  MAX_COUNT_OF_TERMS,
  MAX_DESCRIPTION_CHARACTERS,
  MAX_NAME_CHARACTERS,
  MAX_PAID_RANKS,
  MAX_ROUND_SECONDS,
} from '@laurel/values/limits';
import { type Cents, cents, MAX_AMOUNT_CENTS } from '@laurel/values/money';
import { purseAmount } from './purse.ts';
import { MIN_LENGTH_REASON, MIN_ROUND_MS } from './round-length.ts';
import type { Direction, TournamentTerms } from './tournament.ts';

/** The terms before validation: any number, any order of ranks. */
export type ProposedTournament = {
  readonly name: string;
  readonly description: string | null;
  readonly metricName: string;
  readonly metricUnit: string;
  readonly direction: Direction;
  readonly tiebreakMetricName: string | null;
  readonly tiebreakDirection: Direction | null;
  readonly entryFeeCents: bigint;
  readonly attemptCap: number;
  readonly purseTable: readonly { readonly rank: number; readonly amountCents: bigint }[];
  readonly minEntrants: number;
  readonly minScoredAttempts: number;
  /** Null means that the operator opens each round. */
  readonly roundLengthSeconds: number | null;
};

export type TermsDecision =
  | { readonly kind: 'accepted'; readonly terms: TournamentTerms }
  | { readonly kind: 'invalid'; readonly issues: readonly string[] };

const AS_NAME = `must have 1 to ${MAX_NAME_CHARACTERS} characters`;
const MIN_ROUND_SECONDS = MIN_ROUND_MS / 1_000;

export function decideTerms(proposed: ProposedTournament): TermsDecision {
  const { tiebreakMetricName, tiebreakDirection, entryFeeCents, roundLengthSeconds } = proposed;
  const ranked = proposed.purseTable.toSorted((one, other) => one.rank - other.rank);
  const purse: readonly Cents[] = ranked.map(({ amountCents }) => cents(amountCents));
  const isCount = (value: number, least: number, most = MAX_COUNT_OF_TERMS) =>
    Number.isInteger(value) && value >= least && value <= most;
  const rules: readonly (readonly [boolean, string])[] = [
    [isText(proposed.name, MAX_NAME_CHARACTERS), `name ${AS_NAME}`],
    [
      proposed.description === null || isStorable(proposed.description, MAX_DESCRIPTION_CHARACTERS),
      'description is too long',
    ],
    [isText(proposed.metricName, MAX_NAME_CHARACTERS), `metric_name ${AS_NAME}`],
    [isText(proposed.metricUnit, MAX_NAME_CHARACTERS), `metric_unit ${AS_NAME}`],
    [
      (tiebreakMetricName === null) === (tiebreakDirection === null),
      'tiebreak_metric_name and tiebreak_direction are set both or neither',
    ],
    [tiebreakMetricName === null || isText(tiebreakMetricName, MAX_NAME_CHARACTERS), `tiebreak_metric_name ${AS_NAME}`],
    [entryFeeCents > 0n, 'entry_fee must be above 0.00'],
    [entryFeeCents <= MAX_AMOUNT_CENTS, 'entry_fee is too large'],
    [isCount(proposed.attemptCap, 1), `attempt_cap must be 1 to ${MAX_COUNT_OF_TERMS}`],
    [ranked.length >= 1 && ranked.length <= MAX_PAID_RANKS, `purse_table must have 1 to ${MAX_PAID_RANKS} ranks`],
    [ranked.every(({ rank }, index) => rank === index + 1), 'purse_table must name every rank from 1 on, each once'],
    [purse.every((amount) => amount > 0n), 'every amount of purse_table must be above 0.00'],
    [
      purse.every((amount, index) => index === 0 || amount <= (purse[index - 1] ?? 0n)),
      'no amount of purse_table may be above the one of the rank before it',
    ],
    [purseAmount(purse) <= MAX_AMOUNT_CENTS, 'the sum of purse_table is too large'],
    [isCount(proposed.minEntrants, 1), `min_entrants must be 1 to ${MAX_COUNT_OF_TERMS}`],
    [isCount(proposed.minScoredAttempts, 0), `min_scored_attempts must be 0 to ${MAX_COUNT_OF_TERMS}`],
    [
      roundLengthSeconds === null || isCount(roundLengthSeconds, MIN_ROUND_SECONDS, MAX_ROUND_SECONDS),
      `round_length_seconds must be ${MIN_ROUND_SECONDS} to ${MAX_ROUND_SECONDS}: ${MIN_LENGTH_REASON}`,
    ],
  ];
  const issues = rules.filter(([holds]) => !holds).map(([, issue]) => issue);
  if (issues.length > 0) return { kind: 'invalid', issues };

  const tiebreak =
    tiebreakMetricName === null || tiebreakDirection === null
      ? null
      : { metricName: tiebreakMetricName, direction: tiebreakDirection };
  return {
    kind: 'accepted',
    terms: {
      name: proposed.name,
      description: proposed.description,
      metricName: proposed.metricName,
      metricUnit: proposed.metricUnit,
      direction: proposed.direction,
      tiebreak,
      entryFeeCents: cents(entryFeeCents),
      attemptCap: proposed.attemptCap,
      purse,
      minEntrants: proposed.minEntrants,
      minScoredAttempts: proposed.minScoredAttempts,
      roundLengthSeconds,
    },
  };
}

function isText(text: string, maxCharacters: number): boolean {
  return text !== '' && isStorable(text, maxCharacters);
}
