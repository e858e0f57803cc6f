/**
 * Calibrations: their samples, their progress, and the scores of given ranks among the samples. A sample of a calibrating challenge and its
 * progress are written under the lock of the challenge's row; those of a top_n challenge need no progress and no lock.
 */

import assert from 'node:assert/strict';
import type { Queryable } from '@laurel/postgres';
import type { ThresholdDirection } from '../domain/challenge.ts';
import type { BarSample } from '../domain/counted-samples.ts';
import { distanceTo, nearestAnchor, type RankAnchor, rankOfKthBest } from '../domain/rank-anchor.ts';

/** What a player has given to a calibration, and the most that it counts. */
export type CalibrationPlayer = {
  readonly challengeId: string;
  readonly player: string;
  readonly samples: number;
  readonly fairShare: number;
};

export type CalibrationCounts = {
  readonly challengeId: string;
  readonly collected: number;
  readonly playersCollected: number;
  /** Null while there are few samples. */
  readonly anchor: RankAnchor | null;
};

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

const SELECT_PLAYERS = {
  name: 'calibration_players_by_player',
  text: `
select p.challenge_id, p.player, p.samples
from unnest($1::uuid[], $2::text[]) as w (challenge_id, player)
join calibration_players p on p.challenge_id = w.challenge_id and p.player = w.player`,
};

const PUT_PLAYERS = {
  name: 'calibration_players_put',
  text: `
insert into calibration_players (challenge_id, player, samples, fair_share)
select * from unnest($1::uuid[], $2::text[], $3::int[], $4::int[]) as p (challenge_id, player, samples, fair_share)
order by challenge_id, player
on conflict (challenge_id, player) do update set samples = excluded.samples`,
};

const SELECT_ANCHORS = {
  name: 'calibrations_anchors',
  text: `
select challenge_id, anchor_score, anchor_below, anchor_at_or_below
from calibrations where challenge_id = any($1::uuid[]) and anchor_score is not null`,
};

const PUT_COUNTS = {
  name: 'calibrations_put',
  text: `
insert into calibrations (challenge_id, collected, players, anchor_score, anchor_below, anchor_at_or_below)
select * from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::float8[], $5::bigint[], $6::bigint[])
  as c (challenge_id, collected, players, anchor_score, anchor_below, anchor_at_or_below)
order by challenge_id
on conflict (challenge_id) do update set collected = excluded.collected, players = excluded.players,
  anchor_score = excluded.anchor_score, anchor_below = excluded.anchor_below, anchor_at_or_below = excluded.anchor_at_or_below`,
};

const PUT_ANCHOR = {
  text: `
update calibrations set anchor_score = $2, anchor_below = $3, anchor_at_or_below = $4 where challenge_id = $1`,
};

// bar_samples_by_score has both columns: the rows that are passed over are not visited where a vacuum has seen their pages.
const SELECT_ABOVE = {
  name: 'bar_samples_above',
  text: 'select score from bar_samples where challenge_id = $1 and score > $2 order by score offset $3::bigint limit 1',
};
const SELECT_BELOW = {
  name: 'bar_samples_below',
  text: 'select score from bar_samples where challenge_id = $1 and score < $2 order by score desc offset $3::bigint limit 1',
};

const COUNT_BETWEEN = {
  name: 'bar_samples_between',
  text: 'select count(*) as samples from bar_samples where challenge_id = $1 and score > $2 and score < $3',
};
const COUNT_AT = {
  name: 'bar_samples_at',
  text: 'select count(*) as samples from bar_samples where challenge_id = $1 and score = $2',
};

const COUNT_SAMPLES = {
  text: 'select count(*) as samples, count(distinct player) as players from bar_samples where challenge_id = $1',
};

// A range of the index for each bin: all of them together read it once.
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

/** The ids of those samples that are recorded. */
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

/** How many samples each of these players has, by challenge and player; one without samples is not in it. */
export async function loadSamplesOfPlayers(
  on: Queryable,
  players: readonly Pick<CalibrationPlayer, 'challengeId' | 'player'>[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, number>>> {
  const rows = await on.query<{ challenge_id: string; player: string; samples: number }>(SELECT_PLAYERS, [
    players.map((player) => player.challengeId),
    players.map((player) => player.player),
  ]);
  const ofChallenges = Map.groupBy(rows, (row) => row.challenge_id);
  return new Map([...ofChallenges].map(([id, of]) => [id, new Map(of.map((row) => [row.player, row.samples]))]));
}

export async function putCalibrationPlayers(on: Queryable, players: readonly CalibrationPlayer[]): Promise<void> {
  await on.query(PUT_PLAYERS, [
    players.map((player) => player.challengeId),
    players.map((player) => player.player),
    players.map((player) => player.samples),
    players.map((player) => player.fairShare),
  ]);
}

export async function putCalibrationCounts(on: Queryable, counts: readonly CalibrationCounts[]): Promise<void> {
  await on.query(PUT_COUNTS, [
    counts.map((count) => count.challengeId),
    counts.map((count) => count.collected),
    counts.map((count) => count.playersCollected),
    counts.map(({ anchor }) => anchor?.score ?? null),
    counts.map(({ anchor }) => anchor?.below ?? null),
    counts.map(({ anchor }) => anchor?.atOrBelow ?? null),
  ]);
}

/** The anchors of these calibrations, by challenge; one without an anchor is not in it. */
export async function loadAnchors(
  on: Queryable,
  challengeIds: readonly string[],
): Promise<ReadonlyMap<string, RankAnchor>> {
  const rows = await on.query<{
    challenge_id: string;
    anchor_score: number;
    anchor_below: bigint;
    anchor_at_or_below: bigint;
  }>(SELECT_ANCHORS, [challengeIds]);
  return new Map(
    rows.map((row) => {
      const [below, atOrBelow] = [Number(row.anchor_below), Number(row.anchor_at_or_below)];
      return [row.challenge_id, { score: row.anchor_score, below, atOrBelow }];
    }),
  );
}

/** Moves the calibration's anchor to this score of a sample, counting from the anchor before, or from the lowest sample. */
export async function moveAnchor(
  on: Queryable,
  challengeId: string,
  { from, to }: { readonly from: RankAnchor | null; readonly to: number },
): Promise<void> {
  const before = from ?? { score: Number.NEGATIVE_INFINITY, below: 0, atOrBelow: 0 };
  const [[between], [at]] = await Promise.all([
    on.query<{ samples: bigint }>(COUNT_BETWEEN, [challengeId, Math.min(before.score, to), Math.max(before.score, to)]),
    on.query<{ samples: bigint }>(COUNT_AT, [challengeId, to]),
  ]);
  const [passed, equal] = [Number(between?.samples ?? 0n), Number(at?.samples ?? 0n)];
  const below = to > before.score ? before.atOrBelow + passed : before.below - passed - equal;
  await on.query(PUT_ANCHOR, [challengeId, to, below, below + equal]);
}

/** The k-th best of the challenge's samples, from 1, as the direction has it. */
export function loadKthBest(
  on: Queryable,
  challengeId: string,
  { k, direction, ...known }: KnownRanks & { readonly k: number; readonly direction: ThresholdDirection },
): Promise<number> {
  return loadScoreOfRank(on, challengeId, { ...known, rank: rankOfKthBest(k, known.samples, direction) });
}

/** What is known about the ranks of a challenge's samples. */
type KnownRanks = { readonly samples: number; readonly anchors?: readonly RankAnchor[] };

/** The score of a rank, from 1 for the lowest: by stepping through the index from the nearest score whose rank is known. */
export async function loadScoreOfRank(
  on: Queryable,
  challengeId: string,
  { samples, anchors = [], rank }: KnownRanks & { readonly rank: number },
): Promise<number> {
  const anchor = nearestAnchor(anchors, rank, samples);
  const distance = distanceTo(anchor, rank);
  if (distance === 0) return anchor.score;
  const statement = rank > anchor.below ? SELECT_ABOVE : SELECT_BELOW;
  const [row] = await on.query<{ score: number }>(statement, [challengeId, anchor.score, distance - 1]);
  assert(row !== undefined, `challenge ${challengeId} has ${samples} samples`);
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

/** How many samples are in each bin, and how many of them at its start: no score is below the first edge, and the last bin has no end. */
export async function countInBins(
  on: Queryable,
  challengeId: string,
  edges: readonly number[],
): Promise<readonly { readonly samples: number; readonly atStart: number }[]> {
  const ends = [...edges.slice(1), Number.POSITIVE_INFINITY];
  const rows = await on.query<{ samples: bigint; at_start: bigint }>(COUNT_IN_BINS, [challengeId, edges, ends]);
  return rows.map((row) => ({ samples: Number(row.samples), atStart: Number(row.at_start) }));
}
