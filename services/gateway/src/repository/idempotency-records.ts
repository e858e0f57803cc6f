/** Idempotency records, read and written for many requests in one statement. */
import type { Database, Statement } from '@laurel/postgres';
import type { IdempotencyRecord } from '../domain/idempotency-decision.ts';

/** A use of an idempotency key that is to run. */
export interface IdempotencyUse {
  /** The record's id. */
  readonly recordId: string;
  /** The id of the operation if this is the key's first use. */
  readonly operationId: string;
  /** SHA-256 of the request, hexadecimal. */
  readonly fingerprint: string;
}

/** The right to run an operation and to end it with its result. A takeover ends this right. */
export interface IdempotencyLock {
  readonly recordId: string;
  readonly operationId: string;
  readonly generation: number;
}

export interface StoredRecord extends IdempotencyRecord {
  readonly recordId: string;
  readonly generation: number;
}

export interface Takeover {
  readonly from: IdempotencyLock;
  readonly operationId: string;
  readonly fingerprint: string;
  /** Whether the record's retention starts again. */
  readonly isNewOperation: boolean;
}

/** An idempotency lock, and the 2xx response that ended its operation. */
export interface Completion {
  readonly idempotencyLock: IdempotencyLock;
  readonly status: number;
  /** The exact text that was sent. */
  readonly body: string;
}

// Every statement locks its records in the order of their ids (docs/lock-order.md), and inserts
// before it changes existing rows. An insert waits for a transaction that inserts or changes the
// same record; a change never waits for an insert. So batches wait for each other, but never in a
// cycle. `id = any (array[c.id])` is `id = c.id` with one possible plan, a look-up of each record.
// The plain form, planned while the table was nearly empty, keeps a plan that scans the whole
// table.

/**
 * The records whose idempotency locks `c` still hold. They are locked one after the other, in the
 * order in which `idempotencyLocks` returns them.
 */
const holding = (idempotencyLocks: string, strength: 'no key update' | 'update'): string => `
      select c.*
      from ${idempotencyLocks}
      cross join lateral (
        select from idempotency_records as r
        where r.id = c.id and r.operation_id = c.operation_id and r.generation = c.generation and r.state = 'locked'
        for ${strength}
      ) as r`;

/**
 * Completes records in two steps of a `with`, from the five arrays of `completionColumns`, in the
 * order of the records' ids. `first` is the number of the first of these parameters.
 */
export const completing = (first: number): string => `
    ending as materialized (${holding(
      `unnest($${first}::uuid[], $${first + 1}::uuid[], $${first + 2}::integer[], $${first + 3}::smallint[], $${first + 4}::text[])
        as c (id, operation_id, generation, status, body)`,
      'no key update',
    )}
    ),
    completed as (
      update idempotency_records as r
      set state = 'completed', status = c.status, body = c.body
      from ending as c
      where r.id = any (array[c.id])
    )`;

/** The idempotency locks of `idempotencyLockColumns`, in the order of their ids. */
const KEY_LOCKS = `
      (select * from unnest($1::uuid[], $2::uuid[], $3::integer[]) as c (id, operation_id, generation) order by id) as c`;

const INSERT: Statement = {
  name: 'insert_idempotency_records',
  text: `
    insert into idempotency_records (id, operation_id, fingerprint, state, generation, created_at, locked_at)
    select id, operation_id, decode(fingerprint, 'hex'), 'locked', 0, $4, $4
    from unnest($1::uuid[], $2::uuid[], $3::text[]) as use (id, operation_id, fingerprint)
    order by id
    on conflict (id) do nothing
    returning id`,
};

const LOAD: Statement = {
  name: 'load_idempotency_records',
  text: `
    select
      id as "recordId", operation_id as "operationId", encode(fingerprint, 'hex') as fingerprint, state, generation,
      created_at as "createdAt", locked_at as "lockedAt", status, body
    from idempotency_records
    where id = any ($1::uuid[])`,
};

const TAKE_OVER: Statement = {
  name: 'take_over_idempotency_records',
  text: `
    with held as materialized (
      select t.*
      from (
        select *
        from unnest($1::uuid[], $2::uuid[], $3::integer[], $4::uuid[], $5::text[], $6::boolean[])
          as t (id, from_operation_id, from_generation, operation_id, fingerprint, is_new_operation)
        order by id
      ) as t
      cross join lateral (
        select from idempotency_records as r
        where r.id = t.id and r.operation_id = t.from_operation_id and r.generation = t.from_generation
        for no key update
      ) as r
    )
    update idempotency_records as r
    set
      operation_id = t.operation_id,
      fingerprint = decode(t.fingerprint, 'hex'),
      state = 'locked',
      generation = r.generation + 1,
      status = null,
      body = null,
      locked_at = $7,
      created_at = case when t.is_new_operation then $7 else r.created_at end
    from held as t
    where r.id = any (array[t.id])
    returning r.id, r.generation`,
};

const COMPLETE: Statement = {
  name: 'complete_idempotency_records',
  text: `
    with ${completing(1)}
    select`,
};

const RELEASE: Statement = {
  name: 'release_idempotency_records',
  text: `
    with held as materialized (${holding(KEY_LOCKS, 'no key update')}
    )
    update idempotency_records as r set state = 'released' from held as c where r.id = any (array[c.id])`,
};

const FORGET: Statement = {
  name: 'forget_idempotency_records',
  text: `
    with held as materialized (${holding(KEY_LOCKS, 'update')}
    )
    delete from idempotency_records as r using held as c where r.id = any (array[c.id])`,
};

// The statement is unnamed, so that it is planned again for each instant and reads only the ranges
// that hold old rows. A row may be locked again meanwhile: a row that another transaction holds is
// left for the next run.
const DELETE_OLD: Statement = {
  text: `
    with gone as (
      delete from idempotency_records
      where
        ctid = any (array(select ctid from idempotency_records where created_at < $1 limit $2 for update skip locked))
        and created_at < $1
      returning 1
    )
    select count(*)::integer as count from gone`,
};

/**
 * Returns the ids of the records that were inserted; the others existed. No two uses may name one
 * record. Does not wait for the disk: the contest service knows the key of each operation (decision
 * 23).
 */
export async function insertRecords(
  database: Database,
  uses: readonly IdempotencyUse[],
  now: Date,
): Promise<Set<string>> {
  const values = [
    uses.map((use) => use.recordId),
    uses.map((use) => use.operationId),
    uses.map((use) => use.fingerprint),
    now,
  ];
  const rows = await database.write<{ id: string }>(INSERT, values, { durable: false });
  return new Set(rows.map((row) => row.id));
}

export async function loadRecords(database: Database, ids: readonly string[]): Promise<Map<string, StoredRecord>> {
  const rows = await database.query<StoredRecord & { status: number | null; body: string | null }>(LOAD, [ids]);
  return new Map(
    rows.map(({ status, body, ...record }) => [
      record.recordId,
      { ...record, stored: status === null || body === null ? null : { status, body } },
    ]),
  );
}

/**
 * Returns the new idempotency locks by record id, without those of records that another transaction
 * changed meanwhile. Like insertRecords, does not wait for the disk.
 */
export async function takeOverRecords(
  database: Database,
  takeovers: readonly Takeover[],
  now: Date,
): Promise<Map<string, IdempotencyLock>> {
  const values = [
    takeovers.map((takeover) => takeover.from.recordId),
    takeovers.map((takeover) => takeover.from.operationId),
    takeovers.map((takeover) => takeover.from.generation),
    takeovers.map((takeover) => takeover.operationId),
    takeovers.map((takeover) => takeover.fingerprint),
    takeovers.map((takeover) => takeover.isNewOperation),
    now,
  ];
  const rows = await database.write<{ id: string; generation: number }>(TAKE_OVER, values, { durable: false });
  const operationIds = new Map(takeovers.map((takeover) => [takeover.from.recordId, takeover.operationId]));
  return new Map(
    rows.map(({ id, generation }) => [id, { recordId: id, operationId: operationIds.get(id) ?? '', generation }]),
  );
}

/**
 * Stores the responses of finished operations. Does not wait for the disk: if the database crashes,
 * the operation is run again and gives the same response.
 */
export async function completeRecords(database: Database, completions: readonly Completion[]): Promise<void> {
  await database.write(COMPLETE, completionColumns(completions), { durable: false });
}

/**
 * Does not wait for the disk: if a crash brings a released idempotency lock back, the next request
 * takes it over.
 */
export async function releaseRecords(database: Database, idempotencyLocks: readonly IdempotencyLock[]): Promise<void> {
  await database.write(RELEASE, idempotencyLockColumns(idempotencyLocks), { durable: false });
}

/**
 * Does not wait for the disk: if a crash brings a deleted idempotency lock back, the next request
 * takes it over and is refused again.
 */
export async function forgetRecords(database: Database, idempotencyLocks: readonly IdempotencyLock[]): Promise<void> {
  await database.write(FORGET, idempotencyLockColumns(idempotencyLocks), { durable: false });
}

/** Deletes up to `limit` records created before the instant, and returns how many. */
export async function deleteOldRecords(database: Database, before: Date, limit: number): Promise<number> {
  const rows = await database.query<{ count: number }>(DELETE_OLD, [before, limit]);
  return rows[0]?.count ?? 0;
}

/** The columns of the completions, sorted by record id, so that the statement needs no sort. */
export function completionColumns(completions: readonly Completion[]): unknown[][] {
  const ordered = inOrderOf(completions, (completion) => completion.idempotencyLock.recordId);
  return [
    ...idempotencyLockColumns(ordered.map((completion) => completion.idempotencyLock)),
    ordered.map((completion) => completion.status),
    ordered.map((completion) => completion.body),
  ];
}

/** Sorts items as PostgreSQL sorts their uuids: by the lower-case text. */
export function inOrderOf<Item>(items: readonly Item[], idOf: (item: Item) => string): readonly Item[] {
  return items.length < 2 ? items : items.toSorted((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
}

function idempotencyLockColumns(idempotencyLocks: readonly IdempotencyLock[]): unknown[][] {
  return [
    idempotencyLocks.map((idempotencyLock) => idempotencyLock.recordId),
    idempotencyLocks.map((idempotencyLock) => idempotencyLock.operationId),
    idempotencyLocks.map((idempotencyLock) => idempotencyLock.generation),
  ];
}
