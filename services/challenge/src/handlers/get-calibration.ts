/**
 * GetCalibration: the samples of a challenge and the bar that they set, for operators. It reads
 * from one snapshot: first the count of each bin of the histogram, then single scores by their
 * rank, from the nearest edge of a bin. So memory is bounded however many samples there are, and
 * the index is read once as a whole.
 */
import { refused } from '@laurel/errors';
import { type Handlers, parseId } from '@laurel/grpc';
import type { Database, Queryable } from '@laurel/postgres';
import type { ChallengeServiceService, GetCalibrationResponse } from '@laurel/proto/challenge';
import { fairShareOf, intervalRanksOfBar, rankOfBar } from '../domain/calibration.ts';
import type { Challenge } from '../domain/challenge.ts';
import { barOf } from '../domain/current-bar.ts';
import type { RankAnchor } from '../domain/rank-anchor.ts';
import { binsOfSamples, edgesOfBins, QUANTILE_PERCENTS, rankOfPercent } from '../domain/sample-distribution.ts';
import type { TierCeilings } from '../domain/tier-ceiling.ts';
import {
  countBarSamples,
  countInBins,
  type KnownRanks,
  loadKthBest,
  loadScoreOfRank,
} from '../repository/bar-samples.ts';
import { findChallenge } from '../repository/challenges.ts';
import { findSeededDistribution } from '../repository/seeded-distributions.ts';
import { presentChallenge } from './present.ts';

// Ten million samples take some seconds.
const STATEMENT_TIMEOUT_MS = 60_000;

type Deps = { readonly database: Database; readonly ceilings: TierCeilings };

export function getCalibration({ database, ceilings }: Deps): Handlers<ChallengeServiceService>['getCalibration'] {
  return async (request) => {
    const id = parseId(request.challengeId);
    const options = { statementTimeoutMs: STATEMENT_TIMEOUT_MS, isSnapshot: true };
    return await database.transaction(async (tx) => {
      const challenge = await findChallenge(tx, id);
      return challenge === null ? refused('not_found') : await readCalibration(tx, challenge, ceilings);
    }, options);
  };
}

async function readCalibration(
  on: Queryable,
  challenge: Challenge,
  ceilings: TierCeilings,
): Promise<GetCalibrationResponse> {
  const isTopN = challenge.terms.prizeStructure === 'top_n';
  const { samples, players } = isTopN
    ? await countBarSamples(on, challenge.id)
    : { samples: challenge.collected, players: challenge.playersCollected };
  const seeded = await findSeededDistribution(on, challenge.id);
  const bins = samples === 0 ? [] : await readBins(on, challenge.id, samples);
  const known = { sampleCount: samples, anchors: anchorsOf(bins) };
  const placed = isTopN ? undefined : await readPlacedBar(on, challenge, known);
  return {
    challenge: presentChallenge(challenge, ceilings),
    samples: BigInt(samples),
    players: BigInt(players),
    fairShare: isTopN ? 0n : BigInt(fairShareOf(challenge.terms)),
    quantiles: samples === 0 ? [] : await readQuantiles(on, challenge.id, known),
    histogram: bins.map(({ from, to, samples: inBin }) => ({ from, to, samples: BigInt(inBin) })),
    bar: barOf(challenge) ?? placed?.bar,
    barInterval: placed?.interval,
    seeded: seeded?.distribution,
    seededSampleSize: seeded?.sampleSize ?? 0n,
  };
}

type Bin = { readonly from: number; readonly to: number; readonly samples: number; readonly atStart: number };

async function readBins(on: Queryable, id: string, samples: number): Promise<readonly Bin[]> {
  const [lowest, highest] = await Promise.all([
    loadScoreOfRank(on, id, { rank: 1, sampleCount: samples }),
    loadScoreOfRank(on, id, { rank: samples, sampleCount: samples }),
  ]);
  const edges = edgesOfBins({ lowest, highest, bins: binsOfSamples(samples) });
  const counted = await countInBins(on, id, edges);
  return counted.map((counts, bin) => ({ from: edges[bin] ?? lowest, to: edges[bin + 1] ?? highest, ...counts }));
}

/**
 * Returns the start of each bin with its rank, which follows from the counts of the bins before.
 */
function anchorsOf(bins: readonly Bin[]): readonly RankAnchor[] {
  let below = 0;
  return bins.map(({ from, samples, atStart }) => {
    const anchor = { score: from, below, atOrBelow: below + atStart };
    below += samples;
    return anchor;
  });
}

function readQuantiles(on: Queryable, id: string, known: KnownRanks): Promise<GetCalibrationResponse['quantiles']> {
  return Promise.all(
    QUANTILE_PERCENTS.map(async (percent) => {
      const rank = rankOfPercent(known.sampleCount, percent);
      return { share: percent / 100, score: await loadScoreOfRank(on, id, { rank, ...known }) };
    }),
  );
}

/**
 * Reads the bar that the samples have set, or would set now, and the bar's interval; undefined if
 * the bar does not come from samples.
 */
async function readPlacedBar(on: Queryable, { id, terms, threshold, calibrationSource }: Challenge, known: KnownRanks) {
  const isOfSamples = threshold === null || calibrationSource === 'observed' || calibrationSource === 'listened';
  if (known.sampleCount === 0 || !isOfSamples) return undefined;
  const { direction, targetPassRate } = terms;
  const [best, worst] = intervalRanksOfBar(known.sampleCount, targetPassRate);
  const load = (k: number) => loadKthBest(on, id, { k, direction, ...known });
  const [bar, one, other] = await Promise.all([
    load(rankOfBar(known.sampleCount, targetPassRate)),
    load(best),
    load(worst),
  ]);
  return { bar, interval: { low: Math.min(one, other), high: Math.max(one, other) } };
}
