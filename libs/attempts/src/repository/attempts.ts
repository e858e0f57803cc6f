/**
 * The tables that both services have alike, with the columns that this library reads and writes; any other columns are the service's own.
 *
 * - attempts: id uuid primary key, account_id uuid, status text (libs/attempts), fee_cents bigint, created_at timestamptz(3),
 *   fee_generation integer default 0, closed_reason text (see OwnedAttempt). An index on created_at for the
 *   sweepers; none that holds the status, so that every change of it stays heap-only.
 * - refunds_due: attempt_id uuid primary key, since timestamptz(3). An owner whose refund reasons do not follow from the status alone has a
 *   column for them, which must default to 'expired' (see RefundQueue).
 * - sweep_marks: sweep text primary key ('resolve_pending', 'expire_attempts', 'low_watermark'), swept_until timestamptz(3). Every
 *   attempt that the owner writes as `pending` has a created_at after the low watermark (see `isAfterLowWatermark`).
 * - key_uses: key_id uuid primary key, operation_id uuid, fingerprint bytea of 32 bytes, used_at timestamptz(3); see key-uses.ts.
 * - signing_keys: id integer generated always as identity, public_key bytea unique, created_at timestamptz(3) default now(), valid_until
 *   timestamptz(3), open for one of them.
 *
 * It also has the outbox of libs/events, into which the commits of refunds and prizes write the owner's events.
 *
 * Attempts are locked in id order, by a query of their own in the statement that changes them (docs/lock-order.md).
 */

import type { BoundStatement, Database, Transaction } from '@laurel/postgres';
import type { AttemptStatus } from '../domain/attempt.ts';

/** Identifies one fee of an attempt. */
export type FeeOf = { readonly attemptId: string; readonly feeGeneration: number };

/**
 * The owner's own work on attempts that become `open`: one statement, which is sent with `open` and runs behind it, in the same transaction
 * and under the locks of those that it moved. It is given every attempt that the call is for, also those that `open` left unchanged, so it
 * selects by their state, and changes nothing where it runs again.
 */
export type WhenOpened = (attemptIds: readonly string[]) => BoundStatement;

/** The owner's own work where open attempts end without an outcome, in the transaction that ends them. */
export interface WhenEnding {
  /** Called before any attempt is locked: takes the locks that come first in the owner's lock order. */
  lock(tx: Transaction, attemptIds: readonly string[]): Promise<void>;
  /** Called once these attempts have ended. */
  ended(tx: Transaction, attemptIds: readonly string[]): Promise<void>;
}

/** What decides how an attempt ends. */
export type EndingAttempt = { readonly status: AttemptStatus; readonly isPaid: boolean; readonly createdAt: Date };

// The result of an older generation's fee must not change an attempt with a newer one.
const OPEN = {
  name: 'attempts_open',
  text: `
with held as materialized (
  select w.id
  from (select * from unnest($1::uuid[], $2::int[]) as w (id, fee_generation) order by id) w
  cross join lateral (
    select from attempts a where a.id = w.id and a.status = 'pending' and a.fee_generation = w.fee_generation for no key update
  ) a
)
update attempts a set status = 'open' from held where a.id = held.id`,
};

const REFUSE = {
  name: 'attempts_refuse',
  text: `
with held as materialized (
  select w.id, w.code
  from (select * from unnest($1::uuid[], $2::int[], $3::text[]) as w (id, fee_generation, code) order by id) w
  cross join lateral (
    select from attempts a where a.id = w.id and a.status = 'pending' and a.fee_generation = w.fee_generation for no key update
  ) a
)
update attempts a set status = 'refused', closed_reason = held.code from held where a.id = held.id`,
};

const LOCK = {
  name: 'attempts_lock_to_end',
  text: 'select status, fee_cents, created_at from attempts where id = $1 for no key update',
};

const END = { text: 'update attempts set status = $2, closed_reason = $3 where id = $1' };

/**
 * `pending -> open`, with the owner's work: the wallet posted the fee. Not durable: the wallet can be asked again. The owner's statement is
 * not a step of the same one: it has a snapshot of its own, which sees what another transaction committed while `open` waited for it.
 */
export async function openAttempts(
  database: Database,
  fees: readonly FeeOf[],
  whenOpened: WhenOpened | null,
): Promise<void> {
  if (fees.length === 0) return;
  const ids = fees.map((fee) => fee.attemptId);
  const values = [ids, fees.map((fee) => fee.feeGeneration)];
  if (whenOpened === null) await database.write(OPEN, values, { durable: false });
  else await database.batch([{ statement: OPEN, values }, whenOpened(ids)], { durable: false });
}

/** `pending -> refused`: the wallet will never post the fee. Not durable: the wallet can be asked again. */
export async function refuseAttempts(
  database: Database,
  refusals: readonly (FeeOf & { readonly code: string })[],
): Promise<void> {
  if (refusals.length === 0) return;
  const values = [
    refusals.map((refusal) => refusal.attemptId),
    refusals.map((refusal) => refusal.feeGeneration),
    refusals.map((refusal) => refusal.code),
  ];
  await database.write(REFUSE, values, { durable: false });
}

/** Null for an unknown attempt. */
export async function lockToEnd(tx: Transaction, id: string): Promise<EndingAttempt | null> {
  const [row] = await tx.query<{ status: AttemptStatus; fee_cents: bigint; created_at: Date }>(LOCK, [id]);
  return row === undefined ? null : { status: row.status, isPaid: row.fee_cents > 0n, createdAt: row.created_at };
}

/** The caller holds the lock; the attempt is open and ends without an outcome. */
export async function endAttempt(
  tx: Transaction,
  id: string,
  status: AttemptStatus,
  reason: string | null,
): Promise<void> {
  await tx.query(END, [id, status, reason]);
}
