/**
 * The samples from which bars follow, and the scores of given ranks among them. A sample of a
 * calibrating challenge is written under the lock of the challenge's row, with the progress of the
 * calibration (calibrations.ts). A sample of a top_n challenge needs neither.
 */

import assert from 'node:assert/strict';
import type { Queryable } from '@laurel/postgres';
import type { ThresholdDirection } from '../domain/challenge.ts';
import type { BarSample } from '../domain/counted-samples.ts';
import { distanceTo, nearestAnchor, type RankAnchor, rankOfKthBest } from '../domain/rank-anchor.ts';

const INSERT_SAMPLES = {
  name: 'bar_samples_insert',
  text: `
insert into bar_samples (challenge_id, sample_id, player, score)
select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::float8[]) as s (challenge_id, sample_id, player, score)
order by challenge_id, sample_id`,
};

const SELECT_RECORDED = {
  name: 'bar_samples_recorded',
  text: `
select s.sample_id
from unnest($1::uuid[], $2::uuid[]) as w (challenge_id, sample_id)
join bar_samples s on s.challenge_id = w.challenge_id and s.sample_id = w.sample_id`,
};

// bar_samples_by_score contains both columns, so the statement does not visit skipped rows whose
// pages a vacuum has seen.
const SELECT_ABOVE = {
  name: 'bar_samples_above',
  text: 'select score from bar_samples where challenge_id = $1 and score > $2 order by score offset $3::bigint limit 1',
};
const SELECT_BELOW = {
  name: 'bar_samples_below',
  text: 'select score from bar_samples where challenge_id = $1 and score < $2 order by score desc offset $3::bigint limit 1',
};

const COUNT_SAMPLES = {
  text: 'select count(*) as samples, count(distinct player) as players from bar_samples where challenge_id = $1',
};

// A bin is one range of the index, so all bins together read the index once.
const COUNT_IN_BINS = {
  text: `
select counted.samples, counted.at_start
from unnest($2::float8[], $3::float8[]) with ordinality as b (starts, ends, position)
cross join lateral (
  select count(*) as samples, count(*) filter (where s.score = b.starts) as at_start
  from bar_samples s where s.challenge_id = $1 and s.score >= b.starts and s.score < b.ends
) counted
order by b.position`,
};

export async function insertBarSamples(on: Queryable, samples: readonly BarSample[]): Promise<void> {
  if (samples.length === 0) return;
  await on.query(INSERT_SAMPLES, [
    samples.map((sample) => sample.challengeId),
    samples.map((sample) => sample.sampleId),
    samples.map((sample) => sample.player),
    samples.map((sample) => sample.score),
  ]);
}

/** Returns the ids of the given samples that are recorded. */
export async function loadRecordedSamples(
  on: Queryable,
  samples: readonly Pick<BarSample, 'challengeId' | 'sampleId'>[],
): Promise<ReadonlySet<string>> {
  const rows = await on.query<{ sample_id: string }>(SELECT_RECORDED, [
    samples.map((sample) => sample.challengeId),
    samples.map((sample) => sample.sampleId),
  ]);
  return new Set(rows.map((row) => row.sample_id));
}

/** Loads the k-th best of the challenge's samples, from 1, in the challenge's direction. */
export function loadKthBest(
  on: Queryable,
  challengeId: string,
  { k, direction, ...known }: KnownRanks & { readonly k: number; readonly direction: ThresholdDirection },
): Promise<number> {
  return loadScoreOfRank(on, challengeId, { ...known, rank: rankOfKthBest(k, known.sampleCount, direction) });
}

/**
 * The number of a challenge's samples, and scores whose rank is already known. The search for
 * another rank starts at the nearest of these scores.
 */
export type KnownRanks = { readonly sampleCount: number; readonly anchors?: readonly RankAnchor[] };

/**
 * Finds the score of a rank, from 1 for the lowest, by stepping through the index from the nearest
 * score of known rank.
 */
export async function loadScoreOfRank(
  on: Queryable,
  challengeId: string,
  { sampleCount, anchors = [], rank }: KnownRanks & { readonly rank: number },
): Promise<number> {
  const anchor = nearestAnchor(anchors, rank, sampleCount);
  const distance = distanceTo(anchor, rank);
  if (distance === 0) return anchor.score;
  const statement = rank > anchor.below ? SELECT_ABOVE : SELECT_BELOW;
  const [row] = await on.query<{ score: number }>(statement, [challengeId, anchor.score, distance - 1]);
  assert(row !== undefined, `challenge ${challengeId} has ${sampleCount} samples`);
  return row.score;
}

/** Counts the challenge's samples and their players one by one. */
export async function countBarSamples(
  on: Queryable,
  challengeId: string,
): Promise<{ readonly samples: number; readonly players: number }> {
  const [row] = await on.query<{ samples: bigint; players: bigint }>(COUNT_SAMPLES, [challengeId]);
  return { samples: Number(row?.samples ?? 0n), players: Number(row?.players ?? 0n) };
}

/**
 * Counts, for each bin, its samples and the samples at its start. No score is below the first edge;
 * the last bin is unbounded.
 */
export async function countInBins(
  on: Queryable,
  challengeId: string,
  edges: readonly number[],
): Promise<readonly { readonly samples: number; readonly atStart: number }[]> {
  const ends = [...edges.slice(1), Number.POSITIVE_INFINITY];
  const rows = await on.query<{ samples: bigint; at_start: bigint }>(COUNT_IN_BINS, [challengeId, edges, ends]);
  return rows.map((row) => ({ samples: Number(row.samples), atStart: Number(row.at_start) }));
}
