/**
 * The drift monitor: whether a bar still has the pass rate that its challenge claims
 * (docs/contract/rules.md, "Drift").
 *
 * A challenge claims a band of pass rates, from `target_pass_rate` / 1.5 to 1.5 times it, because a
 * bar is an estimate. Each edge of the band has its own test, a likelihood ratio: how probable the
 * outcomes so far are under pass rates beyond the edge, averaged over a grid of such rates,
 * relative to the edge itself. While the true rate is within the band, the expectation of the ratio
 * never exceeds 1. So the ratio ever exceeds a limit L with a probability of at most 1 / L (Ville's
 * inequality), however often the ratio is checked. Each test gets half of an error of 0.001.
 */

export type DriftState = {
  /** The number of settled paid attempts since the monitor started. */
  readonly attempts: number;
  /** The number of attempts that cleared the bar. */
  readonly passes: number;
};

/**
 * Natural logarithms of the likelihood ratios: `above` if the bar is passed too often, `below` if
 * too seldom.
 */
export type LogRatios = { readonly above: number; readonly below: number };

export type CountedOutcomes = {
  /**
   * The state after the last counted attempt. Counting stops at the attempt that exceeds a limit.
   */
  readonly state: DriftState;
  readonly rejectedAt: (DriftState & LogRatios) | null;
};

const BAND_FACTOR = 1.5;
const ERROR = 0.001;
export const LOG_LIMIT = Math.log(2 / ERROR);
export const FIRST_JUDGED_ATTEMPT = 50;

const READING_GROWTH = 1.1;

/**
 * The grid: how far beyond the edge its rates are, in log odds. Steps of 0.1 also find a rate a
 * little outside the band. The last step, 2 (7.4 times the odds), soon finds any rate farther out.
 * Because the steps are in odds, each leads to a valid probability, whatever the target.
 */
const LOG_ODDS_BEYOND = Array.from({ length: 20 }, (_, index) => (index + 1) / 10);

/** What one rate of the grid contributes to its log ratio. */
type Alternative = { readonly perAttempt: number; readonly perPass: number };

type Tests = { readonly above: readonly Alternative[]; readonly below: readonly Alternative[] };

/** The pass rates between which the claim holds, both included. */
export function claimedBandOf(targetPassRate: number): { readonly low: number; readonly high: number } {
  return { low: targetPassRate / BAND_FACTOR, high: Math.min(1, targetPassRate * BAND_FACTOR) };
}

/**
 * The ratios depend on the number of attempts and of passes, not on their order. No rate is above
 * an upper edge of 1, so that ratio stays 1.
 */
export function logRatiosOf(state: DriftState, targetPassRate: number): LogRatios {
  return ratiosOf(state, testsOf(targetPassRate));
}

/**
 * Counts outcomes one after the other, up to the first attempt, from the 50th on, at which a ratio
 * exceeds its limit.
 */
export function countOutcomes(before: DriftState, passed: readonly boolean[], targetPassRate: number): CountedOutcomes {
  const tests = testsOf(targetPassRate);
  let { attempts, passes } = before;
  let ratios = ratiosOf(before, tests);
  for (let next = 0; next < passed.length; ) {
    const look = Math.max(FIRST_JUDGED_ATTEMPT, attempts + attemptsWithoutLook(ratios, tests));
    const end = Math.min(passed.length, next + look - attempts);
    for (; next < end; next += 1) {
      attempts += 1;
      if (passed[next]) passes += 1;
    }
    ratios = ratiosOf({ attempts, passes }, tests);
    if (attempts >= FIRST_JUDGED_ATTEMPT && (ratios.above > LOG_LIMIT || ratios.below > LOG_LIMIT)) {
      return { state: { attempts, passes }, rejectedAt: { attempts, passes, ...ratios } };
    }
  }
  return { state: { attempts, passes }, rejectedAt: null };
}

/**
 * Whether to keep the evidence as a reading: when the monitor first judges, and each time that the
 * number of attempts has grown by a tenth.
 */
export function isReadingDue(previousAttempts: number, attempts: number): boolean {
  return readingsOf(attempts) > readingsOf(previousAttempts);
}

function readingsOf(attempts: number): number {
  if (attempts < FIRST_JUDGED_ATTEMPT) return 0;
  return 1 + Math.floor(Math.log(attempts / FIRST_JUDGED_ATTEMPT) / Math.log(READING_GROWTH));
}

/**
 * The least number of further attempts, at least 1, after which a ratio can exceed its limit. One
 * attempt moves a ratio at most as far as it moves the farthest alternative.
 */
function attemptsWithoutLook(ratios: LogRatios, { above, below }: Tests): number {
  const perPass = Math.max(0, ...above.map((alternative) => alternative.perAttempt + alternative.perPass));
  const perMiss = Math.max(...below.map((alternative) => alternative.perAttempt));
  const untilAbove = Math.floor((LOG_LIMIT - ratios.above) / perPass);
  const untilBelow = Math.floor((LOG_LIMIT - ratios.below) / perMiss);
  return Math.max(1, Math.min(untilAbove, untilBelow));
}

function testsOf(targetPassRate: number): Tests {
  const { low, high } = claimedBandOf(targetPassRate);
  return {
    above: high === 1 ? [] : LOG_ODDS_BEYOND.map((beyond) => alternativeTo(high, beyond)),
    below: LOG_ODDS_BEYOND.map((beyond) => alternativeTo(low, -beyond)),
  };
}

/**
 * The rate whose log odds are the edge's plus `perPass`. `perAttempt` is the logarithm of the ratio
 * of the two rates of missing.
 */
function alternativeTo(edge: number, perPass: number): Alternative {
  return { perPass, perAttempt: -Math.log1p(edge * Math.expm1(perPass)) };
}

function ratiosOf(state: DriftState, { above, below }: Tests): LogRatios {
  return { above: logOfMean(state, above), below: logOfMean(state, below) };
}

/**
 * The logarithm of the mean of the ratios, computed relative to the greatest so that none
 * overflows; 0 without ratios.
 */
function logOfMean({ attempts, passes }: DriftState, alternatives: readonly Alternative[]): number {
  if (alternatives.length === 0) return 0;
  const logs = alternatives.map(({ perAttempt, perPass }) => attempts * perAttempt + passes * perPass);
  const greatest = Math.max(...logs);
  const sum = logs.reduce((total, log) => total + Math.exp(log - greatest), 0);
  return greatest + Math.log(sum / logs.length);
}
