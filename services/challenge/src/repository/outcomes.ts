/** Stores outcomes and their receipts. */

import { idempotencyUseColumns, insertingIdempotencyUses } from '@laurel/attempts';
import type { IdempotencyUse } from '@laurel/attempts/domain';
import type { OutboxRow } from '@laurel/events';
import type { Database, Queryable, Statement } from '@laurel/postgres';
import type { Outcome } from '../domain/challenge.ts';
import type { AttemptInPlay } from '../domain/outcome-decision.ts';
import { type NewAwardStatus, newAwardStatusSql } from './awards.ts';

/** An outcome with its signed receipt. */
export type SignedOutcome = {
  readonly outcome: Outcome;
  readonly receipt: string;
  readonly signature: Buffer;
};

/** An outcome to record only if the row of its attempt still equals the cache. */
export type OptimisticOutcome = SignedOutcome & {
  readonly attempt: AttemptInPlay;
  /** The award that the outcome wins; null for none. */
  readonly awardId: string | null;
  /** The idempotency use to record with the outcome; null for none. */
  readonly idempotencyUse: IdempotencyUse | null;
  /** The event that this commit emits; null for none. */
  readonly event: OutboxRow | null;
  /** Whether the challenge's drift monitor counts the outcome. */
  readonly isMonitored: boolean;
};

export type Receipt = { readonly receipt: string; readonly signature: Buffer; readonly publicKey: Buffer };

type OutcomeRow = {
  attempt_id: string;
  receipt_id: string;
  score: number;
  met_threshold: boolean;
  recorded_at: Date;
  threshold: number | null;
};

const INSERT = {
  name: 'outcomes_insert',
  text: `
insert into outcomes (attempt_id, receipt_id, score, met_threshold, recorded_at, receipt, signature, signing_key_id)
select o.*, $8::int
from unnest($1::uuid[], $2::uuid[], $3::float8[], $4::bool[], $5::timestamptz[], $6::text[], $7::bytea[]) as o`,
};

// Frozen fields are not compared, because the fee generation implies them: a restart freezes other
// values and gets another generation. The account is compared, because it may change until the
// attempt opens. After a wait for a lock PostgreSQL checks the conditions against the new version
// of the row. A win locks the row of its challenge, as awards_claim does.
const settleOptimisticallyText = ({ wins }: { wins: boolean }) => `
with held as materialized (
  select r.*${wins ? ', a.challenge_id, a.prize_cents' : ''}
  from (
    select * from unnest($3::uuid[], $4::uuid[], $5::int[], $6::uuid[], $7::float8[], $8::bool[], $9::text[], $10::bytea[],
      $11::uuid[], $12::bytea[], $13::uuid[], $14::uuid[], $15::bytea[], $16::timestamptz[], $17::text[]${wins ? ', $18::uuid[]' : ''})
    as r (id, account_id, fee_generation, receipt_id, score, met_threshold, receipt, signature,
      event_id, payload, monitored_challenge_id, key_id, fingerprint, used_at, environment${wins ? ', award_id' : ''})
    order by id
  ) r
  cross join lateral (
    select a.challenge_id, a.prize_cents from attempts a
    where a.id = r.id and a.status in ('open', 'pending') and a.disqualified_at is null
      and a.account_id = r.account_id and a.fee_generation = r.fee_generation${
        wins
          ? `
      and (r.award_id is null
        or not exists (select from awards w where w.challenge_id = a.challenge_id and w.account_id = a.account_id))`
          : ''
      }
    for no key update
  ) a
),
settled as (
  update attempts a set status = 'settled' from held where a.id = held.id returning held.*
),
emitted as (
  insert into outbox (event_id, payload, environment)
  select event_id, payload, environment from settled where event_id is not null
  on conflict (event_id) do nothing
),${
  wins
    ? `
won as materialized (
  select c.id, c.suspended_by_drift from challenges c
  where c.id = any(array(select challenge_id from settled where award_id is not null)) order by c.id for share
),
claimed as (
  insert into awards (id, attempt_id, challenge_id, account_id, amount_cents, status, created_at)
  select award_id, settled.id, challenge_id, account_id, prize_cents, ${newAwardStatusSql('won')}, $1
  from settled join won on won.id = settled.challenge_id where award_id is not null order by challenge_id, account_id
  returning attempt_id, status
),`
    : ''
}
unmonitored as (
  insert into unmonitored_outcomes (challenge_ids, passed)
  select array_agg(monitored_challenge_id order by id), array_agg(met_threshold order by id)
  from settled where monitored_challenge_id is not null having count(*) > 0
),
used as (${insertingIdempotencyUses('select receipt_id as operation_id, key_id, fingerprint, used_at from settled')}
),
recorded as (
  insert into outcomes (attempt_id, receipt_id, score, met_threshold, recorded_at, receipt, signature, signing_key_id)
  select id, receipt_id, score, met_threshold, $1, receipt, signature, $2 from settled
)
${wins ? 'select id, status from settled left join claimed on attempt_id = id' : 'select id, null as status from settled'}`;

// Two statements, because most batches win nothing, and even an insert of no rows into awards has a
// cost.
const SETTLE_LOSSES = { name: 'outcomes_settle_losses', text: settleOptimisticallyText({ wins: false }) };
const SETTLE_WITH_WINS = { name: 'outcomes_settle_with_wins', text: settleOptimisticallyText({ wins: true }) };

const SELECT_BY_ATTEMPT = {
  name: 'outcome_by_attempt',
  text: `
select o.attempt_id, o.receipt_id, o.score, o.met_threshold, o.recorded_at, a.threshold
from outcomes o join attempts a on a.id = o.attempt_id
where o.attempt_id = $1`,
};

const SELECT_BY_ATTEMPTS = {
  name: 'outcomes_by_attempts',
  text: `
select o.attempt_id, o.receipt_id, o.score, o.met_threshold, o.recorded_at, a.threshold
from outcomes o join attempts a on a.id = o.attempt_id
where o.attempt_id = any($1::uuid[])`,
};

const SELECT_ARCHIVED = {
  name: 'archived_outcomes_by_attempts',
  text: `
select id as attempt_id, receipt_id, score, met_threshold, recorded_at, threshold
from archived_attempts where id = any($1::uuid[]) and receipt_id is not null`,
};

const SELECT_ATTEMPTS_BY_RECEIPT = {
  name: 'outcome_attempts_by_receipt',
  text: 'select receipt_id, attempt_id from outcomes where receipt_id = any($1::uuid[])',
};

const SELECT_RECEIPT = {
  text: `
select o.receipt, o.signature, k.public_key from outcomes o join signing_keys k on k.id = o.signing_key_id where o.receipt_id = $1`,
};

const IS_ARCHIVED = {
  text: 'select exists (select from archived_attempts where receipt_id = $1) as is_archived',
};

export async function insertOutcomes(
  on: Queryable,
  signed: readonly SignedOutcome[],
  signingKeyId: number,
): Promise<void> {
  await on.query(INSERT, [
    signed.map(({ outcome }) => outcome.attemptId),
    signed.map(({ outcome }) => outcome.receiptId),
    signed.map(({ outcome }) => outcome.score),
    signed.map(({ outcome }) => outcome.metThreshold),
    signed.map(({ outcome }) => outcome.recordedAt),
    signed.map(({ receipt }) => receipt),
    signed.map(({ signature }) => signature),
    signingKeyId,
  ]);
}

/**
 * Settles the attempts that are still open, not disqualified and unchanged; for a win the prize
 * must not be claimed yet. The fees are known to be posted, so `pending` counts as open too. Writes
 * the outcome, award and event of the settled attempts only. Returns the ids of these attempts,
 * each with the status of the award that it won; null for none.
 *
 * A batch may name an attempt only once, and all outcomes are recorded at one instant. A unique
 * violation means that another transaction has claimed the prize, or that an idempotency key is
 * already recorded.
 */
export async function settleOptimistically(
  database: Database,
  outcomes: readonly OptimisticOutcome[],
  signingKeyId: number,
): Promise<ReadonlyMap<string, NewAwardStatus | null>> {
  const wins = outcomes.some(({ awardId }) => awardId !== null);
  const statement: Statement = wins ? SETTLE_WITH_WINS : SETTLE_LOSSES;
  const values: unknown[] = [
    outcomes[0]?.outcome.recordedAt,
    signingKeyId,
    outcomes.map(({ attempt }) => attempt.id),
    outcomes.map(({ attempt }) => attempt.accountId),
    outcomes.map(({ attempt }) => attempt.feeGeneration),
    outcomes.map(({ outcome }) => outcome.receiptId),
    outcomes.map(({ outcome }) => outcome.score),
    outcomes.map(({ outcome }) => outcome.metThreshold),
    outcomes.map(({ receipt }) => receipt),
    outcomes.map(({ signature }) => signature),
    outcomes.map(({ event }) => event?.id ?? null),
    outcomes.map(({ event }) => event?.payload ?? null),
    outcomes.map(({ attempt, isMonitored }) => (isMonitored ? attempt.challengeId : null)),
    ...idempotencyUseColumns(outcomes.map(({ idempotencyUse }) => idempotencyUse)),
    outcomes.map(({ event }) => event?.environment ?? null),
  ];
  if (wins) values.push(outcomes.map(({ awardId }) => awardId));
  const rows = await database.write<{ id: string; status: NewAwardStatus | null }>(statement, values, {
    durable: true,
  });
  return new Map(rows.map((row) => [row.id, row.status]));
}

/**
 * Loads the attempt ids of these receipts, by receipt id. The map lacks receipts that are not
 * recorded.
 */
export async function loadAttemptsByReceipt(
  on: Queryable,
  receiptIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await on.query<{ receipt_id: string; attempt_id: string }>(SELECT_ATTEMPTS_BY_RECEIPT, [receiptIds]);
  return new Map(rows.map((row) => [row.receipt_id, row.attempt_id]));
}

/** Loads the outcome of a settled attempt, archived or not. */
export async function loadOutcome(on: Queryable, attemptId: string): Promise<Outcome> {
  const [row] = await on.query<OutcomeRow>(SELECT_BY_ATTEMPT, [attemptId]);
  if (row !== undefined) return toOutcome(row);
  const [archived] = await on.query<OutcomeRow>(SELECT_ARCHIVED, [[attemptId]]);
  if (archived === undefined) throw new Error(`attempt ${attemptId} is settled without an outcome`);
  return toOutcome(archived);
}

/** Loads the outcomes of settled attempts, archived or not, in no particular order. */
export async function loadOutcomes(on: Queryable, attemptIds: readonly string[]): Promise<readonly Outcome[]> {
  const rows = await on.query<OutcomeRow>(SELECT_BY_ATTEMPTS, [attemptIds]);
  const found = new Set(rows.map((row) => row.attempt_id));
  const others = attemptIds.filter((id) => !found.has(id));
  const archived = others.length === 0 ? [] : await on.query<OutcomeRow>(SELECT_ARCHIVED, [others]);
  return [...rows, ...archived].map(toOutcome);
}

/** Loads the signed text of a recorded receipt; null if only the archive contains the text. */
export async function loadReceipt(on: Queryable, receiptId: string): Promise<string | null> {
  const found = await findReceipt(on, receiptId);
  if (found !== null) return found.receipt;
  if (await isReceiptArchived(on, receiptId)) return null;
  throw new Error(`receipt ${receiptId} is not recorded`);
}

/**
 * Whether the receipt belongs to an archived attempt, so that only the archive contains its text.
 */
export async function isReceiptArchived(on: Queryable, receiptId: string): Promise<boolean> {
  const [row] = await on.query<{ is_archived: boolean }>(IS_ARCHIVED, [receiptId]);
  return row?.is_archived === true;
}

export async function findReceipt(on: Queryable, receiptId: string): Promise<Receipt | null> {
  const [row] = await on.query<{ receipt: string; signature: Buffer; public_key: Buffer }>(SELECT_RECEIPT, [receiptId]);
  return row === undefined ? null : { receipt: row.receipt, signature: row.signature, publicKey: row.public_key };
}

function toOutcome(row: OutcomeRow): Outcome {
  return {
    attemptId: row.attempt_id,
    receiptId: row.receipt_id,
    score: row.score,
    metThreshold: row.met_threshold,
    thresholdApplied: row.threshold,
    recordedAt: row.recorded_at,
  };
}
