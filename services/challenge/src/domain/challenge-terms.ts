/**
 * What an operator may open (docs/contract/portal-api.md, "The terms of a challenge";
 * docs/contract/rules.md, "Challenges"): the validation issues of a new challenge, each as a
 * sentence; an empty list is valid.
 *
 * - `calibrating`: the challenge starts without a bar.
 * - `live`: the challenge brings its own threshold. It counts as `observed` and has no ramp.
 * - A `top_n` challenge never brings a bar: its bar follows from its scores.
 * - A rung shares its parent's tenant and direction. A rung that is `live` without a threshold
 *   takes its bar from the scores of its ladder, at a lower pass rate than its parent. The source
 *   of such a bar is `rung_derived`, and it has a ramp.
 */

import type { Tenant } from '@laurel/attempts/domain';
import { isSameTenant } from '@laurel/attempts/domain';
import { isStorable } from '@laurel/json';
import {
  MAX_CALIBRATION_N,
  MAX_COUNT_OF_TERMS,
  MAX_DESCRIPTION_CHARACTERS,
  MAX_JURISDICTIONS,
  MAX_NAME_CHARACTERS,
  MAX_VERIFICATION_LEVEL,
} from '@laurel/values/limits';
import type { Challenge, ChallengeTerms } from './challenge.ts';
import { isPlausible } from './plausibility.ts';

export type NewChallenge = {
  readonly tenant: Tenant;
  readonly terms: ChallengeTerms;
  readonly status: 'calibrating' | 'live';
  readonly threshold: number | null;
  /** The challenge that `terms.parentChallengeId` identifies; null if there is none. */
  readonly parent: Challenge | null;
};

const AS_NAME = `must have 1 to ${MAX_NAME_CHARACTERS} characters`;
const AS_COUNT = `must be 1 to ${MAX_COUNT_OF_TERMS}`;

export function issuesOfNewChallenge({ tenant, terms, status, threshold, parent }: NewChallenge): readonly string[] {
  const isTopN = terms.prizeStructure === 'top_n';
  const isFiniteOrNull = (value: number | null) => value === null || Number.isFinite(value);
  const isCount = (value: number, most = MAX_COUNT_OF_TERMS) => Number.isInteger(value) && value >= 1 && value <= most;
  const rules: readonly (readonly [boolean, string])[] = [
    [isText(terms.name, MAX_NAME_CHARACTERS), `name ${AS_NAME}`],
    [
      terms.description === null || isStorable(terms.description, MAX_DESCRIPTION_CHARACTERS),
      'description is too long',
    ],
    [terms.feeCents > 0n, 'fee must be above 0.00'],
    [terms.prizeCents > 0n, 'prize must be above 0.00'],
    [isText(terms.metricName, MAX_NAME_CHARACTERS), `metric_name ${AS_NAME}`],
    [isText(terms.metricUnit, MAX_NAME_CHARACTERS), `metric_unit ${AS_NAME}`],
    [
      isTopN ? terms.topN !== null && isCount(terms.topN) : terms.topN === null,
      `top_n ${AS_COUNT}, for prize_structure top_n only`,
    ],
    [isFiniteOrNull(terms.scoreMin) && isFiniteOrNull(terms.scoreMax), 'score_min and score_max must be finite'],
    [
      terms.scoreMin === null || terms.scoreMax === null || terms.scoreMin <= terms.scoreMax,
      'score_min must not be above score_max',
    ],
    [terms.targetPassRate > 0 && terms.targetPassRate < 1, 'target_pass_rate must be between 0 and 1, both excluded'],
    [[1, 2, 3].includes(terms.integrityTier), 'integrity_tier must be 1, 2 or 3'],
    [isCount(terms.minCalibrationN, MAX_CALIBRATION_N), `min_calibration_n must be 1 to ${MAX_CALIBRATION_N}`],
    [isCount(terms.minCalibrationPlayers), `min_calibration_players ${AS_COUNT}`],
    [isCount(terms.dailyAttemptCap), `daily_attempt_cap ${AS_COUNT}`],
    [
      Number.isInteger(terms.requiredVerificationLevel) &&
        terms.requiredVerificationLevel >= 0 &&
        terms.requiredVerificationLevel <= MAX_VERIFICATION_LEVEL,
      `required_verification_level must be 0 to ${MAX_VERIFICATION_LEVEL}`,
    ],
    [terms.jurisdictions.length <= MAX_JURISDICTIONS, `jurisdictions may be at most ${MAX_JURISDICTIONS}`],
    [terms.jurisdictions.every((name) => isText(name, MAX_NAME_CHARACTERS)), 'jurisdictions must be texts like US-CA'],
    [threshold === null || Number.isFinite(threshold), 'threshold must be finite'],
    [!isTopN || threshold === null, 'a top_n challenge takes its bar from its scores: leave threshold out'],
    [status === 'live' || threshold === null, 'threshold is for a live challenge only'],
    [
      isTopN || status === 'calibrating' || threshold !== null || terms.parentChallengeId !== null,
      'threshold is required when live without a parent',
    ],
    [
      terms.parentChallengeId === null || (parent !== null && isSameTenant(parent.tenant, tenant)),
      'parent_challenge_id must name a challenge of this program and environment',
    ],
    [parent === null || parent.terms.direction === terms.direction, "threshold_direction must be the parent's"],
    ...rulesOfDerivedRung(terms, parentOfDerivedRung({ terms, status, threshold, parent })),
  ];
  return rules.filter(([holds]) => !holds).map(([, issue]) => issue);
}

/**
 * The parent of a rung that takes its bar from its ladder's scores; null for any other challenge.
 */
export function parentOfDerivedRung({
  terms,
  status,
  threshold,
  parent,
}: Pick<NewChallenge, 'terms' | 'status' | 'threshold' | 'parent'>): Challenge | null {
  return status === 'live' && threshold === null && terms.prizeStructure === 'threshold' ? parent : null;
}

function rulesOfDerivedRung(terms: ChallengeTerms, parent: Challenge | null): readonly (readonly [boolean, string])[] {
  if (parent === null) return [];
  const { metricName, metricUnit, targetPassRate } = parent.terms;
  return [
    [
      terms.metricName === metricName && terms.metricUnit === metricUnit,
      "metric_name and metric_unit of a rung without a threshold must be the parent's",
    ],
    [
      terms.targetPassRate < targetPassRate,
      "target_pass_rate of a rung without a threshold must be below the parent's",
    ],
  ];
}

/**
 * Why the derived bar cannot be the bar of the rung, as a sentence; null if it can. `bar` is null
 * if the ladder has no scores.
 */
export function issueOfDerivedBar(bar: number | null, terms: ChallengeTerms): string | null {
  if (bar === null) return 'threshold is required: the parent has no scores or percentiles to derive it from';
  return isPlausible(bar, terms) ? null : 'score_min and score_max exclude the bar that was derived';
}

/** A challenge without a parent is rung 1; any other is one above its parent. */
export function rungOf(parent: Challenge | null): number {
  return parent === null ? 1 : parent.rung + 1;
}

function isText(text: string, maxCharacters: number): boolean {
  return text !== '' && isStorable(text, maxCharacters);
}
