/**
 * Stores which operation an idempotency key names (domain/idempotency-use.ts). The statement that
 * writes an operation inserts its idempotency use, which never changes. When a key is used again
 * after 24 hours or after a failure, its row is deleted first.
 *
 * Rows are locked in key order, after the locks on players and attempts (docs/lock-order.md). If a
 * concurrent transaction inserts the same key, the second insert waits for that transaction and
 * then violates `key_uses_pkey`, so the second operation is not written either.
 */
import type { Database, Queryable, Transaction } from '@laurel/postgres';
import type { IdempotencyUse, RecordedIdempotencyUse } from '../domain/idempotency-use.ts';

/**
 * A step of the statement that writes operations: it inserts the idempotency uses of the
 * operations. `written` is a query with the columns key_id (null for an operation without an
 * idempotency key), operation_id, fingerprint and used_at.
 */
export const insertingIdempotencyUses = (written: string): string => `
  insert into key_uses (key_id, operation_id, fingerprint, used_at)
  select w.key_id, w.operation_id, w.fingerprint, w.used_at from (${written}) w where w.key_id is not null order by w.key_id`;

/**
 * Returns three array parameters, in the order of the operations: key ids (uuid[]), fingerprints
 * (bytea[]) and instants (timestamptz[]).
 */
export function idempotencyUseColumns(uses: readonly (IdempotencyUse | null)[]): unknown[][] {
  return [
    uses.map((use) => use?.idempotencyRecordId ?? null),
    uses.map((use) => use?.fingerprint ?? null),
    uses.map((use) => use?.usedAt ?? null),
  ];
}

type IdempotencyUseRow = { key_id: string; operation_id: string; fingerprint: Buffer; used_at: Date };

const INSERT = {
  name: 'key_uses_insert',
  text: `
insert into key_uses (key_id, operation_id, fingerprint, used_at)
select * from unnest($1::uuid[], $2::uuid[], $3::bytea[], $4::timestamptz[]) as w (key_id, operation_id, fingerprint, used_at)
order by w.key_id`,
};

const LOCK = {
  name: 'key_uses_lock',
  text: `
select u.key_id, u.operation_id, u.fingerprint, u.used_at from key_uses u
where u.key_id = any($1::uuid[]) order by u.key_id for update`,
};

const DELETE = {
  text: 'delete from key_uses where key_id = any($1::uuid[])',
};

const DELETE_OLD = {
  text: `
with gone as (
  delete from key_uses
  where ctid = any (array(select ctid from key_uses where used_at <= $1 limit $2 for update skip locked)) and used_at <= $1
  returning 1
)
select count(*)::int as count from gone`,
};

/**
 * Locks the recorded uses of these keys until the transaction ends. The map lacks keys without a
 * recorded use.
 */
export async function lockIdempotencyUses(
  tx: Transaction,
  idempotencyRecordIds: readonly string[],
): Promise<ReadonlyMap<string, RecordedIdempotencyUse>> {
  if (idempotencyRecordIds.length === 0) return new Map();
  const rows = await tx.query<IdempotencyUseRow>(LOCK, [idempotencyRecordIds]);
  return new Map(
    rows.map((row) => [
      row.key_id,
      {
        idempotencyRecordId: row.key_id,
        operationId: row.operation_id,
        fingerprint: row.fingerprint,
        usedAt: row.used_at,
      },
    ]),
  );
}

/**
 * Inserts idempotency uses. The caller writes the operations in the same transaction. A key that is
 * already recorded is a unique violation.
 */
export async function insertIdempotencyUses(
  on: Queryable,
  operations: readonly { readonly operationId: string; readonly idempotencyUse: IdempotencyUse }[],
): Promise<void> {
  if (operations.length === 0) return;
  await on.query(INSERT, [
    operations.map(({ idempotencyUse }) => idempotencyUse.idempotencyRecordId),
    operations.map(({ operationId }) => operationId),
    operations.map(({ idempotencyUse }) => idempotencyUse.fingerprint),
    operations.map(({ idempotencyUse }) => idempotencyUse.usedAt),
  ]);
}

/** Deletes recorded uses. The caller holds the locks on their rows. */
export async function deleteIdempotencyUses(on: Queryable, idempotencyRecordIds: readonly string[]): Promise<void> {
  if (idempotencyRecordIds.length > 0) await on.query(DELETE, [idempotencyRecordIds]);
}

/** Deletes at most `limit` uses from this instant or before; returns how many it deleted. */
export async function deleteOldIdempotencyUses(database: Database, before: Date, limit: number): Promise<number> {
  const [row] = await database.query<{ count: number }>(DELETE_OLD, [before, limit]);
  return row?.count ?? 0;
}
