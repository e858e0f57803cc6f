/** What the figures of a challenge mean, in words. */
import type {
  CalibrationSource,
  DriftState,
  OperatorChallenge,
  PassRateStatistics,
  ScoreHistogram,
  StatusChangeCause,
} from '../api/api-types.ts';
import { formatCount, formatScore, formatShare } from '../kit/format.ts';

/** The drift monitor judges from this attempt on: docs/contract/rules.md, "Drift". */
const FIRST_JUDGED_ATTEMPT = 50;
/** Greater odds are shown as "over" this, because their digits would mean nothing. */
const MAX_LOG_ODDS = Math.log(1_000_000);

type Terms = Pick<OperatorChallenge, 'threshold' | 'threshold_direction' | 'metric_unit' | 'prize_structure' | 'top_n'>;

export function barWords({ threshold, threshold_direction, metric_unit, prize_structure, top_n }: Terms): string {
  const way = threshold_direction === 'higher_is_better' ? 'or more' : 'or less';
  if (threshold !== null) return `${formatScore(threshold)} ${metric_unit} ${way}`;
  return prize_structure === 'top_n' && top_n !== null
    ? `One of the best ${formatCount(top_n)} scores`
    : 'Not yet placed';
}

export function statusWords({ status }: Pick<OperatorChallenge, 'status'>, cause?: StatusChangeCause): string {
  switch (status) {
    case 'calibrating':
      return 'The bar is not placed yet. Attempts are free and win nothing.';
    case 'live':
      return 'Players pay the fee, and a score that clears the bar wins the prize.';
    case 'suspended':
      return cause === 'drift'
        ? 'The drift monitor suspended it, because its pass rate does not confirm the bar. No attempt can be started, and awards that are won meanwhile are held, until an operator of this host reinstates it.'
        : 'An operator of this host suspended it. No attempt can be started until an operator reinstates it.';
    case 'closed':
      return 'It is closed for good. No attempt can be started.';
  }
}

export function barSourceWords(source: CalibrationSource): string {
  return {
    observed: 'Its own free attempts, or the operator',
    listened: 'Scores that an integration brought',
    partner_seeded: 'Percentiles that the partner’s server sent',
    rung_derived: 'Scores of the rung before',
  }[source];
}

export function causeWords(cause: StatusChangeCause): string {
  return {
    calibrated: 'Enough scores were in, and placed the bar',
    seeded: 'Percentiles from the partner’s server placed the bar',
    drift: 'The pass rate did not confirm the bar',
    ramp: 'Paid attempts confirmed the bar: the full prize is on offer',
    operator: 'An operator changed it',
  }[cause];
}

/** Says which scores a histogram shows, and whether it shows all of them. */
export function histogramNote({
  source,
  complete,
  count,
}: Pick<ScoreHistogram, 'source' | 'complete' | 'count'>): string {
  const all = formatCount(count);
  if (source === 'bar_samples') {
    return complete
      ? `All ${all} scores that place the bar.`
      : `The latest ${all} of the scores that place the bar. Older ones are not counted here.`;
  }
  return complete
    ? `The scores of all ${all} settled paid attempts.`
    : `The scores of ${all} settled paid attempts: those of the players with the newest accounts, which says nothing about their scores. Others are not counted here.`;
}

export function passRateWords(
  { target, attempts, observed, low, high }: PassRateStatistics,
  { status, prize_structure }: Pick<OperatorChallenge, 'status' | 'prize_structure'>,
): string {
  if (prize_structure === 'top_n') {
    return 'Every win makes this challenge harder, so no drift monitor counts how often its bar is cleared.';
  }
  if (status === 'calibrating') return 'There is no bar yet that a score could clear.';
  if (observed === null || low === null || high === null) {
    return 'No paid attempt has settled since the drift monitor started, so there is no pass rate yet.';
  }
  const seen = `${formatShare(observed)} of ${formatCount(attempts)} settled paid attempts cleared the bar. With 95 % confidence the real rate is between ${formatShare(low)} and ${formatShare(high)}`;
  const goal = formatShare(target);
  if (low > target) return `${seen}: above the target of ${goal}.`;
  if (high < target) return `${seen}: below the target of ${goal}.`;
  return `${seen}, which includes the target of ${goal}.`;
}

export function driftWords({ attempts, evidence_above, evidence_below, limit }: DriftState): string {
  const edge = formatOdds(limit);
  if (attempts < FIRST_JUDGED_ATTEMPT) {
    return `The monitor judges from the ${FIRST_JUDGED_ATTEMPT}th settled paid attempt on; so far there are ${formatCount(attempts)}. At ${edge} it suspends the challenge.`;
  }
  const [strongest, what] =
    evidence_above >= evidence_below ? [evidence_above, 'too easy'] : [evidence_below, 'too hard'];
  const verdict =
    strongest > limit
      ? `The evidence that the bar is ${what} is ${formatOdds(strongest)}, above the limit of ${edge}.`
      : strongest > 0
        ? `The strongest evidence is ${formatOdds(strongest)} that the bar is ${what}. At ${edge} the challenge is suspended.`
        : `Nothing suggests that the bar is too easy or too hard. At ${edge} the challenge is suspended.`;
  return `${verdict} The monitor allows pass rates up to 1.5 times off the target.`;
}

/** The odds of a natural logarithm: "2,000 : 1", "1 : 12". */
export function formatOdds(log: number): string {
  const odds = formatCount(Math.round(Math.exp(Math.min(Math.abs(log), MAX_LOG_ODDS))));
  const more = Math.abs(log) > MAX_LOG_ODDS ? 'over ' : '';
  return log >= 0 ? `${more}${odds} : 1` : `1 : ${more}${odds}`;
}
