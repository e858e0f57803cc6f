/**
 * The progress of calibrations. It is written together with the samples (bar-samples.ts), under the
 * lock of the challenge's row.
 */

import type { Queryable } from '@laurel/postgres';
import type { RankAnchor } from '../domain/rank-anchor.ts';

/**
 * How many samples of a player a calibration has counted, and the most samples of the player that
 * may count.
 */
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
  /** Null while the calibration has few samples. */
  readonly anchor: RankAnchor | null;
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

const COUNT_BETWEEN = {
  name: 'bar_samples_between',
  text: 'select count(*) as samples from bar_samples where challenge_id = $1 and score > $2 and score < $3',
};
const COUNT_AT = {
  name: 'bar_samples_at',
  text: 'select count(*) as samples from bar_samples where challenge_id = $1 and score = $2',
};

/**
 * Loads how many samples each of these players has, by challenge and player. The map lacks players
 * without samples.
 */
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

/**
 * Loads the anchors of these calibrations, by challenge. The map lacks calibrations without an
 * anchor.
 */
export async function loadRankAnchors(
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

/**
 * Moves the calibration's anchor to this sample's score. Counts the score's rank from the previous
 * anchor, or from the lowest sample.
 */
export async function moveRankAnchor(
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
