/** Stores challenges. A read includes the bar and the progress that follow from bar_samples. */

import assert from 'node:assert/strict';
import type { Environment, Tenant } from '@laurel/attempts/domain';
import type { Queryable } from '@laurel/postgres';
import type { Position } from '@laurel/values/cursor';
import { cents } from '@laurel/values/money';
import type {
  CalibrationSource,
  Challenge,
  ChallengeStatus,
  PrizeStructure,
  ThresholdDirection,
} from '../domain/challenge.ts';
import { isUnconfirmedSql, slotsInUseSql } from './ramp-slots.ts';

/**
 * A challenge, and the version of the row from which it was read. The database raises the version
 * at every update of the row.
 */
export type VersionedChallenge = { readonly challenge: Challenge; readonly version: bigint };

type ChallengeRow = {
  id: string;
  program_id: string;
  environment: Environment;
  status: ChallengeStatus;
  name: string;
  description: string | null;
  fee_cents: bigint;
  prize_cents: bigint;
  prize_structure: PrizeStructure;
  top_n: number | null;
  metric_name: string;
  metric_unit: string;
  threshold_direction: ThresholdDirection;
  threshold: number | null;
  calibration_source: CalibrationSource;
  score_min: number | null;
  score_max: number | null;
  target_pass_rate: number;
  integrity_tier: number;
  min_calibration_n: number;
  min_calibration_players: number;
  daily_attempt_cap: number;
  required_verification_level: number;
  jurisdictions: string[];
  parent_challenge_id: string | null;
  rung: number;
  created_at: Date;
  ramped_from: Date | null;
  ramp_completed_at: Date | null;
  attempts_seen: bigint | null;
  unconfirmed_attempts: number | null;
  nth_best_score: number | null;
  collected: bigint | null;
  players_collected: bigint | null;
  version: bigint;
};

// Reading the n-th best sample costs n steps in bar_samples_by_score; the samples of a top_n
// challenge are counted only while there are fewer than n. Outcomes that wait for the drift monitor
// are counted only during a ramp, because partners read its progress, and only in the oldest rows
// of a backlog.
const CHALLENGE = `
select c.*, bar.nth_best_score, case when ${isUnconfirmedSql('c')} then ${slotsInUseSql('c.id')} end as unconfirmed_attempts,
  m.attempts + coalesce(waiting.attempts, 0) as attempts_seen,
  coalesce(k.collected, counted.collected) as collected, coalesce(k.players, counted.players) as players_collected
from challenges c
left join lateral (
  (select s.score as nth_best_score from bar_samples s
   where c.prize_structure = 'top_n' and c.threshold_direction = 'higher_is_better' and s.challenge_id = c.id
   order by s.score desc offset c.top_n - 1 limit 1)
  union all
  (select s.score from bar_samples s
   where c.prize_structure = 'top_n' and c.threshold_direction = 'lower_is_better' and s.challenge_id = c.id
   order by s.score asc offset c.top_n - 1 limit 1)
) bar on true
left join calibrations k on k.challenge_id = c.id
left join drift_monitors m on m.challenge_id = c.id
left join lateral (
  select count(*) as attempts
  from (select id, challenge_ids from unmonitored_outcomes order by id limit 1000) o cross join unnest(o.challenge_ids) as w (challenge_id)
  where c.status = 'live' and c.ramped_from is not null and c.ramp_completed_at is null
    and w.challenge_id = c.id and o.id > m.counts_after
) waiting on true
left join lateral (
  select count(*) as collected, count(distinct s.player) as players from bar_samples s
  where c.prize_structure = 'top_n' and bar.nth_best_score is null and s.challenge_id = c.id
) counted on true`;

const SELECT_BY_IDS = { name: 'challenges_by_ids', text: `${CHALLENGE} where c.id = any($1::uuid[])` };

const SELECT_OF_TENANT = {
  name: 'challenges_of_tenant',
  text: `${CHALLENGE} where c.program_id = $1 and c.environment = $2 order by c.created_at, c.id`,
};

// Compares the status that `statusOf` shows: a live top_n challenge counts as calibrating until it
// has n samples.
const SELECT_PAGE = {
  text: `
select c.id from challenges c
where c.program_id = $1 and c.environment = $2 and (c.created_at, c.id) < ($3, $4::uuid)
  and ($5::text is null or $5 = case
    when c.status = 'live' and c.prize_structure = 'top_n'
      and not exists (select from bar_samples s where s.challenge_id = c.id offset c.top_n - 1)
    then 'calibrating' else c.status end)
order by c.created_at desc, c.id desc limit $6`,
};

const LOCK = { text: 'select from challenges where id = $1 for no key update' };

const LOCK_SEVERAL = {
  name: 'challenges_lock',
  text: 'select from challenges where id = any($1::uuid[]) order by id for no key update',
};

const INSERT = {
  text: `
insert into challenges (id, program_id, environment, status, name, description, fee_cents, prize_cents, prize_structure, top_n,
  metric_name, metric_unit, threshold_direction, threshold, calibration_source, score_min, score_max, target_pass_rate,
  integrity_tier, min_calibration_n, min_calibration_players, daily_attempt_cap, required_verification_level, jurisdictions,
  parent_challenge_id, rung, created_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24::text[],
  $25, $26, $27)`,
};

// Updates only a calibrating challenge. Any other challenge has a bar, or was suspended or closed,
// and takes no new bar.
const SET_BAR = {
  text: `
update challenges set threshold = $2, calibration_source = $3, status = 'live'
where id = $1 and status = 'calibrating' and prize_structure = 'threshold' returning id`,
};

const COMPLETE_RAMP = {
  text: 'update challenges set ramp_completed_at = $2 where id = $1 and ramp_completed_at is null',
};

const UPDATE_STATUS = { text: 'update challenges set status = $2 where id = $1' };

export async function loadChallenges(on: Queryable, ids: readonly string[]): Promise<Map<string, VersionedChallenge>> {
  const rows = await on.query<ChallengeRow>(SELECT_BY_IDS, [[...new Set(ids)]]);
  return new Map(rows.map((row) => [row.id, { challenge: toChallenge(row), version: row.version }]));
}

export async function findChallenge(on: Queryable, id: string): Promise<Challenge | null> {
  return (await loadChallenges(on, [id])).get(id)?.challenge ?? null;
}

/** Finds a challenge of the program; null if the program has no such challenge. */
export async function findChallengeOfProgram(on: Queryable, programId: string, id: string): Promise<Challenge | null> {
  const challenge = await findChallenge(on, id);
  return challenge?.tenant.programId === programId ? challenge : null;
}

/** Lists every challenge of the tenant, oldest first. */
export async function listChallengesOf(on: Queryable, tenant: Tenant): Promise<readonly Challenge[]> {
  return (await on.query<ChallengeRow>(SELECT_OF_TENANT, [tenant.programId, tenant.environment])).map(toChallenge);
}

/**
 * Loads the tenant's challenges after this position, newest first. A null status selects every
 * status.
 */
export async function loadPageOfChallenges(
  on: Queryable,
  tenant: Tenant,
  {
    after,
    status,
    limit,
  }: { readonly after: Position; readonly status: ChallengeStatus | null; readonly limit: number },
): Promise<readonly Challenge[]> {
  const values = [tenant.programId, tenant.environment, after.at, after.id, status, limit];
  const ids = (await on.query<{ id: string }>(SELECT_PAGE, values)).map(({ id }) => id);
  const found = await loadChallenges(on, ids);
  return ids.flatMap((id) => found.get(id)?.challenge ?? []);
}

/** Locks the challenge's status and bar against changes until the transaction ends. */
export async function lockChallenge(on: Queryable, id: string): Promise<void> {
  await on.query(LOCK, [id]);
}

/** Locks several challenges like `lockChallenge`, in id order. */
export async function lockChallenges(on: Queryable, ids: readonly string[]): Promise<void> {
  await on.query(LOCK_SEVERAL, [ids]);
}

export async function insertChallenge(on: Queryable, challenge: Challenge): Promise<void> {
  const { terms, tenant } = challenge;
  await on.query(INSERT, [
    challenge.id,
    tenant.programId,
    tenant.environment,
    challenge.status,
    terms.name,
    terms.description,
    terms.feeCents,
    terms.prizeCents,
    terms.prizeStructure,
    terms.topN,
    terms.metricName,
    terms.metricUnit,
    terms.direction,
    challenge.threshold,
    challenge.calibrationSource,
    terms.scoreMin,
    terms.scoreMax,
    terms.targetPassRate,
    terms.integrityTier,
    terms.minCalibrationN,
    terms.minCalibrationPlayers,
    terms.dailyAttemptCap,
    terms.requiredVerificationLevel,
    terms.jurisdictions,
    terms.parentChallengeId,
    challenge.rung,
    challenge.createdAt,
  ]);
}

/**
 * Sets the bar of a calibrating challenge, which goes live with the commit. The transaction has
 * locked the challenge.
 */
export async function setBar(
  on: Queryable,
  bar: { readonly challengeId: string; readonly threshold: number; readonly source: CalibrationSource },
): Promise<void> {
  const set = await on.query(SET_BAR, [bar.challengeId, bar.threshold, bar.source]);
  assert(set.length === 1, `challenge ${bar.challengeId} is calibrating, by prize_structure threshold`);
}

export async function updateChallengeStatus(on: Queryable, id: string, status: ChallengeStatus): Promise<void> {
  await on.query(UPDATE_STATUS, [id, status]);
}

/** Completes the ramp, which then no longer limits the prize. Leaves a completed ramp unchanged. */
export async function completeRamp(on: Queryable, id: string, now: Date): Promise<void> {
  await on.query(COMPLETE_RAMP, [id, now]);
}

function toChallenge(row: ChallengeRow): Challenge {
  return {
    id: row.id,
    tenant: { programId: row.program_id, environment: row.environment },
    terms: {
      name: row.name,
      description: row.description,
      feeCents: cents(row.fee_cents),
      prizeCents: cents(row.prize_cents),
      prizeStructure: row.prize_structure,
      topN: row.top_n,
      metricName: row.metric_name,
      metricUnit: row.metric_unit,
      direction: row.threshold_direction,
      scoreMin: row.score_min,
      scoreMax: row.score_max,
      targetPassRate: row.target_pass_rate,
      integrityTier: row.integrity_tier,
      minCalibrationN: row.min_calibration_n,
      minCalibrationPlayers: row.min_calibration_players,
      dailyAttemptCap: row.daily_attempt_cap,
      requiredVerificationLevel: row.required_verification_level,
      jurisdictions: row.jurisdictions,
      parentChallengeId: row.parent_challenge_id,
    },
    status: row.status,
    threshold: row.threshold,
    calibrationSource: row.calibration_source,
    rung: row.rung,
    createdAt: row.created_at,
    hasRamp: row.ramped_from !== null,
    rampCompletedAt: row.ramp_completed_at,
    attemptsSeen: Number(row.attempts_seen ?? 0n),
    unconfirmedAttempts: row.unconfirmed_attempts,
    nthBestScore: row.nth_best_score,
    collected: Number(row.collected ?? 0n),
    playersCollected: Number(row.players_collected ?? 0n),
  };
}
