/**
 * The tables that both contest services have in the same form, with the columns that this library
 * reads and writes. A service may have further columns for itself.
 *
 * - attempts: id uuid primary key, account_id uuid, status text (libs/attempts), fee_cents bigint,
 *   created_at timestamptz(3), fee_generation integer default 0, closed_reason text (see
 *   OwnedAttempt). An index on created_at for the sweepers. No index holds the status, so every
 *   change of it stays heap-only.
 * - refunds_due: attempt_id uuid primary key, since timestamptz(3). A service whose refund reasons
 *   do not follow from the status alone adds a column for the reason, which must default to
 *   'expired' (see RefundQueue).
 * - sweep_marks: sweep text primary key ('resolve_pending', 'expire_attempts', 'low_watermark'),
 *   swept_until timestamptz(3). Every attempt that the service writes as `pending` has a created_at
 *   after the low watermark (see `isAfterLowWatermarkSql`).
 * - key_uses: key_id uuid primary key, operation_id uuid, fingerprint bytea of 32 bytes, used_at
 *   timestamptz(3); see idempotency-uses.ts.
 * - signing_keys: id integer generated always as identity, public_key bytea unique, created_at
 *   timestamptz(3) default now(), valid_until timestamptz(3), null for the current key.
 *
 * The service also has the outbox of libs/events. The commits of refunds and prizes write its
 * events there.
 *
 * A statement that changes attempts locks them in id order, by a separate query within it
 * (docs/lock-order.md).
 */

import type { BoundStatement, Database, Transaction } from '@laurel/postgres';
import type { AttemptStatus } from '../domain/attempt.ts';

/** Identifies one fee of an attempt. */
export type FeeOf = { readonly attemptId: string; readonly feeGeneration: number };

/**
 * The contest service's own work on attempts that become `open`, as one statement. It runs after
 * the statement that writes `open`, in the same transaction, which holds the locks on the opened
 * attempts. It gets every attempt of the call, also attempts that did not become `open`, so it must
 * select by the attempts' state. A second run must change nothing.
 */
export type WhenOpened = (attemptIds: readonly string[]) => BoundStatement;

/**
 * The contest service's own work when open attempts end without an outcome, in the transaction that
 * ends them.
 */
export interface WhenEnding {
  /** Takes the locks that come first in the service's lock order, before any attempt is locked. */
  lock(tx: Transaction, attemptIds: readonly string[]): Promise<void>;
  /** Does the work, after these attempts have ended. */
  ended(tx: Transaction, attemptIds: readonly string[]): Promise<void>;
}

/** The facts that decide how an attempt ends. */
export type EndingAttempt = { readonly status: AttemptStatus; readonly isPaid: boolean; readonly createdAt: Date };

// The statement compares the generation, because a result for an older fee must not change an
// attempt that has a newer fee.
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
 * Writes `pending -> open` for fees that the wallet has posted, together with the contest service's
 * work. Does not wait for the disk, because the wallet can be asked again. The service's work is a
 * separate statement with its own snapshot, so it sees what another transaction committed while the
 * first statement waited for that transaction.
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

/**
 * Writes `pending -> refused` for fees that the wallet will never post. Does not wait for the disk,
 * because the wallet can be asked again.
 */
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

/**
 * Locks an attempt that is to be ended, and returns the facts that decide how it ends; null if
 * there is no such attempt.
 */
export async function lockAttemptToEnd(tx: Transaction, id: string): Promise<EndingAttempt | null> {
  const [row] = await tx.query<{ status: AttemptStatus; fee_cents: bigint; created_at: Date }>(LOCK, [id]);
  return row === undefined ? null : { status: row.status, isPaid: row.fee_cents > 0n, createdAt: row.created_at };
}

/** Ends an open attempt without an outcome. The caller holds its lock. */
export async function endAttempt(
  tx: Transaction,
  id: string,
  status: AttemptStatus,
  reason: string | null,
): Promise<void> {
  await tx.query(END, [id, status, reason]);
}
