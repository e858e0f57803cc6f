/**
 * Stores attempts. Rows are locked in id order (docs/lock-order.md).
 *
 * Most ids are found in `attempts`. If a read does not find an id there, a second statement reads
 * `archived_attempts`. So the read also finds an attempt that is archived between the two
 * statements.
 */

import {
  idempotencyUseColumns,
  insertingIdempotencyUses,
  isAfterLowWatermarkSql,
  type KeyedAttempt,
} from '@laurel/attempts';
import type { AttemptStatus, Environment } from '@laurel/attempts/domain';
import type { Queryable } from '@laurel/postgres';
import { cents } from '@laurel/values/money';
import type { Attempt, AttemptTerms, PrizeStructure, ThresholdDirection } from '../domain/challenge.ts';

type AttemptRow = {
  id: string;
  challenge_id: string;
  account_id: string | null;
  player_ref: string;
  status: AttemptStatus;
  fee_cents: bigint;
  prize_cents: bigint;
  threshold: number | null;
  metadata: string;
  created_at: Date;
  disqualified_at: Date | null;
  fee_generation: number;
  closed_reason: string | null;
};

type AttemptWithTermsRow = AttemptRow & {
  program_id: string;
  environment: Environment;
  threshold_direction: ThresholdDirection;
  prize_structure: PrizeStructure;
  score_min: number | null;
  score_max: number | null;
};

/** An attempt, and the terms that it takes from its challenge. */
export type AttemptWithTerms = { readonly attempt: Attempt; readonly terms: AttemptTerms };

const WITH_TERMS = `
select a.*, c.program_id, c.environment, c.threshold_direction, c.prize_structure, c.score_min, c.score_max
from attempts a join challenges c on c.id = a.challenge_id`;

/** SQL for the idempotency uses of the attempts that the step `made` inserted. */
export const USES_OF_MADE_ATTEMPTS = `
    select k.id as operation_id, k.key_id, k.fingerprint, k.used_at
    from unnest($1::uuid[], $11::uuid[], $12::bytea[], $13::timestamptz[]) as k (id, key_id, fingerprint, used_at)
    where k.id = any(array(select made.id from made))`;

const INSERT = {
  name: 'attempts_insert',
  text: `
with made as (
  insert into attempts
    (id, challenge_id, account_id, player_ref, status, fee_cents, prize_cents, threshold, metadata, created_at)
  select w.*, $10::timestamptz
  from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::float8[], $9::text[])
    as w (id, challenge_id, account_id, player_ref, status, fee_cents, prize_cents, threshold, metadata)
  where ${isAfterLowWatermarkSql('$10')}
  order by w.id
  on conflict (id) do nothing
  returning id
), used as (${insertingIdempotencyUses(USES_OF_MADE_ATTEMPTS)}
)
select id from made`,
};

const SELECT_BY_IDS = { name: 'attempts_by_ids', text: 'select * from attempts where id = any($1::uuid[])' };

const SELECT_WITH_TERMS = { name: 'attempts_with_terms', text: `${WITH_TERMS} where a.id = any($1::uuid[])` };

// Only the archive contains the metadata of these attempts, and whether a score disqualified an
// attempt. Disqualification matters only while an attempt is open.
const ARCHIVED = `
select a.id, a.challenge_id, a.account_id, a.player_ref, a.status, a.fee_cents, a.prize_cents, a.threshold, '{}' as metadata,
  a.created_at, null::timestamptz as disqualified_at, a.fee_generation, a.closed_reason, c.program_id, c.environment,
  c.threshold_direction, c.prize_structure, c.score_min, c.score_max
from archived_attempts a join challenges c on c.id = a.challenge_id`;

const SELECT_ARCHIVED = { name: 'archived_attempts_by_ids', text: `${ARCHIVED} where a.id = any($1::uuid[])` };

// The statement joins only columns that never change. After it has waited for a lock, PostgreSQL
// reads the attempt again, but keeps the joined rows that it read before the wait.
const LOCK_WITH_TERMS = {
  name: 'attempts_lock_with_terms',
  text: `${WITH_TERMS} where a.id = any($1::uuid[]) order by a.id for no key update of a`,
};

const SETTLE = { name: 'attempts_settle', text: `update attempts set status = 'settled' where id = any($1::uuid[])` };

const DISQUALIFY = {
  name: 'attempts_disqualify',
  text: `update attempts set status = 'open', disqualified_at = $2 where id = any($1::uuid[])`,
};

const RESTART = {
  text: `
update attempts set account_id = $2, status = $3, fee_cents = $4, prize_cents = $5, threshold = $6, created_at = $7,
  fee_generation = $8, closed_reason = null
where id = $1 and status = 'refused' and closed_reason = 'abandoned' and fee_generation = $8 - 1
  and ${isAfterLowWatermarkSql('$7')}
returning id`,
};

const MOVE = { text: 'update attempts set account_id = $2 where id = $1' };

/**
 * Inserts attempts, and returns the ids of the inserted ones. It does not insert an attempt that
 * another process has inserted, or that is too late. All attempts were decided at one instant.
 */
export async function insertAttempts(
  on: Queryable,
  keyed: readonly KeyedAttempt<Attempt>[],
): Promise<ReadonlySet<string>> {
  const attempts = keyed.map(({ attempt }) => attempt);
  const rows = await on.query<{ id: string }>(INSERT, [
    attempts.map((attempt) => attempt.id),
    attempts.map((attempt) => attempt.challengeId),
    attempts.map((attempt) => attempt.accountId),
    attempts.map((attempt) => attempt.playerRef),
    attempts.map((attempt) => attempt.status),
    attempts.map((attempt) => attempt.feeCents),
    attempts.map((attempt) => attempt.prizeCents),
    attempts.map((attempt) => attempt.threshold),
    attempts.map((attempt) => attempt.metadata),
    attempts[0]?.createdAt,
    ...idempotencyUseColumns(keyed.map(({ idempotencyUse }) => idempotencyUse)),
  ]);
  return new Set(rows.map((row) => row.id));
}

export async function loadAttempts(on: Queryable, ids: readonly string[]): Promise<Map<string, Attempt>> {
  const rows = await on.query<AttemptRow>(SELECT_BY_IDS, [ids]);
  return new Map(rows.map((row) => [row.id, toAttempt(row)]));
}

export async function loadAttemptsWithTerms(
  on: Queryable,
  ids: readonly string[],
): Promise<Map<string, AttemptWithTerms>> {
  const rows = await on.query<AttemptWithTermsRow>(SELECT_WITH_TERMS, [ids]);
  return new Map(rows.map((row) => [row.id, toAttemptWithTerms(row)]));
}

/** Finds an attempt, archived or not. */
export async function findAttempt(on: Queryable, id: string): Promise<AttemptWithTerms | null> {
  return (await loadAttemptsWithTerms(on, [id])).get(id) ?? (await findArchivedAttempt(on, id));
}

/** Finds an attempt whose month was deleted; null for any other attempt. */
export async function findArchivedAttempt(on: Queryable, id: string): Promise<AttemptWithTerms | null> {
  return (await loadArchivedAttempts(on, [id])).get(id) ?? null;
}

export async function loadArchivedAttempts(
  on: Queryable,
  ids: readonly string[],
): Promise<Map<string, AttemptWithTerms>> {
  const rows = await on.query<AttemptWithTermsRow>(SELECT_ARCHIVED, [ids]);
  return new Map(rows.map((row) => [row.id, toAttemptWithTerms(row)]));
}

export async function lockAttempts(on: Queryable, ids: readonly string[]): Promise<Map<string, AttemptWithTerms>> {
  const rows = await on.query<AttemptWithTermsRow>(LOCK_WITH_TERMS, [ids]);
  return new Map(rows.map((row) => [row.id, toAttemptWithTerms(row)]));
}

/**
 * Replaces an abandoned attempt by this restarted one. False if another process restarted the
 * attempt first, or if this attempt is too late.
 */
export async function restartAttempt(on: Queryable, attempt: Attempt): Promise<boolean> {
  const rows = await on.query(RESTART, [
    attempt.id,
    attempt.accountId,
    attempt.status,
    attempt.feeCents,
    attempt.prizeCents,
    attempt.threshold,
    attempt.createdAt,
    attempt.feeGeneration,
  ]);
  return rows.length === 1;
}

/** The caller holds the locks on the attempts and has decided their outcomes. */
export async function settleAttempts(on: Queryable, ids: readonly string[]): Promise<void> {
  await on.query(SETTLE, [ids]);
}

/** The caller holds the locks on the attempts and has decided their outcomes. */
export async function disqualifyAttempts(on: Queryable, ids: readonly string[], now: Date): Promise<void> {
  await on.query(DISQUALIFY, [ids, now]);
}

/** The caller holds the lock, and the attempt is pending. */
export async function moveAttempt(on: Queryable, id: string, accountId: string): Promise<void> {
  await on.query(MOVE, [id, accountId]);
}

function toAttempt(row: AttemptRow): Attempt {
  return {
    id: row.id,
    challengeId: row.challenge_id,
    accountId: row.account_id,
    playerRef: row.player_ref,
    status: row.status,
    feeCents: cents(row.fee_cents),
    prizeCents: cents(row.prize_cents),
    threshold: row.threshold,
    metadata: row.metadata,
    createdAt: row.created_at,
    disqualifiedAt: row.disqualified_at,
    feeGeneration: row.fee_generation,
    closedReason: row.closed_reason,
  };
}

function toAttemptWithTerms(row: AttemptWithTermsRow): AttemptWithTerms {
  return {
    attempt: toAttempt(row),
    terms: {
      tenant: { programId: row.program_id, environment: row.environment },
      direction: row.threshold_direction,
      prizeStructure: row.prize_structure,
      scoreMin: row.score_min,
      scoreMax: row.score_max,
    },
  };
}
