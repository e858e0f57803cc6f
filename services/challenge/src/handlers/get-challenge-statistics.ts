/**
 * GetChallengeStatistics, for the program's developer and for operators: the distribution of a
 * challenge's scores, its pass rate, ramp and drift monitor, and the history of its status. It
 * reads from one snapshot, in time that does not grow with the number of attempts.
 */
import { refused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database, Queryable } from '@laurel/postgres';
import {
  type ChallengeServiceService,
  type GetChallengeStatisticsResponse,
  type PassRate,
  ScoreSource,
} from '@laurel/proto/challenge';
import type { Clock } from '@laurel/service';
import { MAX_HISTOGRAM_BINS, MIN_HISTOGRAM_BINS } from '@laurel/values/limits';
import { rankOfBar } from '../domain/calibration.ts';
import type { Challenge } from '../domain/challenge.ts';
import { statusOf } from '../domain/current-bar.ts';
import { passRateConfidenceInterval } from '../domain/pass-rate.ts';
import { rampSoFar } from '../domain/ramp.ts';
import { rankOfKthBest } from '../domain/rank-anchor.ts';
import { histogramOf } from '../domain/sample-distribution.ts';
import type { TierCeilings } from '../domain/tier-ceiling.ts';
import { findChallenge, findChallengeOfProgram } from '../repository/challenges.ts';
import { loadPaidScores, loadSampledScores, type Scores } from '../repository/scores.ts';
import { presentRamp } from './present.ts';
import { readDrift } from './read-drift.ts';

type Deps = { readonly database: Database; readonly ceilings: TierCeilings; readonly clock: Clock };

export function getChallengeStatistics({
  database,
  ...deps
}: Deps): Handlers<ChallengeServiceService>['getChallengeStatistics'] {
  return async (request) => {
    const id = parseId(request.challengeId);
    const programId = request.anyProgram ? null : parseId(request.programId);
    const { bins } = request;
    if (bins < MIN_HISTOGRAM_BINS || bins > MAX_HISTOGRAM_BINS)
      throw new Error(`a histogram of ${bins} bins is out of bounds`);
    return await database.transaction(
      async (tx) => {
        const challenge =
          programId === null ? await findChallenge(tx, id) : await findChallengeOfProgram(tx, programId, id);
        return challenge === null ? refused('not_found') : await readStatistics(tx, challenge, bins, deps);
      },
      { isSnapshot: true },
    );
  };
}

async function readStatistics(
  on: Queryable,
  challenge: Challenge,
  bins: number,
  deps: Omit<Deps, 'database'>,
): Promise<GetChallengeStatisticsResponse> {
  const drift = await readDrift(on, challenge, deps);
  const { source, scores, isComplete } = await readScores(on, challenge);
  const ascending = scores.toSorted((one, other) => one - other);
  return {
    drift,
    scores: {
      source,
      count: BigInt(ascending.length),
      isComplete,
      bins: histogramOf(ascending, bins).map(({ from, to, count }) => ({ from, to, samples: BigInt(count) })),
    },
    passRate: passRateOf(drift.now ?? { attempts: 0n, passes: 0n, readAt: deps.clock() }),
    passRates: drift.readings.map(passRateOf),
    barSoFar: barSoFar(challenge, ascending),
    ramp: presentRamp(rampSoFar(challenge, deps.ceilings)),
    rampCompletedAt: challenge.rampCompletedAt ?? undefined,
  };
}

/**
 * Reads the scores of paid attempts, or the samples while no paid attempt has a score. For a top_n
 * challenge always reads the samples, because every score is a sample.
 */
async function readScores(
  on: Queryable,
  { id, terms, threshold }: Challenge,
): Promise<Scores & { readonly source: ScoreSource }> {
  const isFixed = terms.prizeStructure === 'threshold' && threshold !== null;
  const paid = isFixed ? await loadPaidScores(on, id) : null;
  if (paid !== null && paid.scores.length > 0) return { source: ScoreSource.PAID_ATTEMPTS, ...paid };
  return { source: ScoreSource.BAR_SAMPLES, ...(await loadSampledScores(on, id)) };
}

function passRateOf(counted: {
  readonly attempts: bigint;
  readonly passes: bigint;
  readonly readAt: Date | undefined;
}): PassRate {
  const { attempts, passes, readAt } = counted;
  const interval = passRateConfidenceInterval({ attempts: Number(attempts), passes: Number(passes) });
  return { attempts, passes, low: interval?.low, high: interval?.high, at: readAt };
}

/**
 * Returns the bar that the samples so far would set; undefined if samples do not set the bar or
 * there are none.
 */
function barSoFar(challenge: Challenge, ascending: readonly number[]): number | undefined {
  const { prizeStructure, targetPassRate, direction } = challenge.terms;
  if (prizeStructure === 'top_n' || statusOf(challenge) !== 'calibrating') return undefined;
  const best = rankOfBar(ascending.length, targetPassRate);
  return ascending[rankOfKthBest(best, ascending.length, direction) - 1];
}
