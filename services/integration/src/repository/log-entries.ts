/**
 * The log: one entry for each push with a valid signature and for each page of a poll, with the
 * results of its records.
 */

import { parseJson } from '@laurel/json';
import type { Database, Queryable } from '@laurel/postgres';
import type { Position } from '@laurel/values/cursor';
import type { RecordResult } from '../domain/record-result.ts';

export type LogKind = 'push' | 'poll';

export type LogEntry = {
  readonly id: string;
  readonly kind: LogKind;
  readonly at: Date;
  readonly bodyExcerpt: string;
  /** Why the whole body failed; null if it was read. */
  readonly error: string | null;
  readonly records: readonly RecordResult[];
};

export type NewLogEntry = LogEntry & { readonly integrationId: string };

/** A record in its stored form, which omits members that are null. */
type StoredRecord = Pick<RecordResult, 'index' | 'status'> & {
  readonly attempt_id?: string;
  readonly code?: RecordResult['code'];
  readonly message?: string;
};

type LogRow = {
  id: string;
  kind: LogKind;
  at: Date;
  body_excerpt: string;
  error: string | null;
  /** JSON as text. */
  records: string;
};

const INSERT = {
  name: 'log_entries_insert',
  text: `
insert into log_entries (id, integration_id, kind, at, body_excerpt, error, records)
select id, integration_id, kind, at, body_excerpt, error, records::json from unnest(
  $1::uuid[], $2::uuid[], $3::text[], $4::timestamptz[], $5::text[], $6::text[], $7::text[]
) as w (id, integration_id, kind, at, body_excerpt, error, records)
order by id`,
};

// No row means that the developer, or their program, has no such integration. A row without an id
// means that the page is empty.
const SELECT_PAGE = {
  name: 'log_entries_page',
  text: `
select e.id, e.kind, e.at, e.body_excerpt, e.error, e.records
from integrations i
join programs p on p.id = i.program_id
left join lateral (
  select * from log_entries
  where integration_id = i.id and (at, id) < ($3::timestamptz, $4::uuid)
  order by at desc, id desc limit $5
) e on true
where i.id = $1 and p.developer_id = $2 and ($6::uuid is null or p.id = $6)
order by e.at desc, e.id desc`,
};

// A row that another transaction has locked is skipped; a later run deletes it.
const DELETE_OLD = {
  text: `
with deleted as (
  delete from log_entries where id in (
    select id from log_entries where at < $1 order by at limit $2 for update skip locked
  ) returning id
)
select count(*)::int as deleted from deleted`,
};

/**
 * Writes entries of the log. Does not wait for the disk, because no decision depends on an entry.
 */
export async function insertLogEntries(database: Database, entries: readonly NewLogEntry[]): Promise<void> {
  await database.write(INSERT, logColumns(entries), { durable: false });
}

/**
 * Writes entries in the caller's transaction, so that a page's entry commits together with its
 * cursor.
 */
export async function insertLogEntriesWith(on: Queryable, entries: readonly NewLogEntry[]): Promise<void> {
  await on.query(INSERT, logColumns(entries));
}

/**
 * The entries below the cursor, newest first; null if the developer has no such integration, or not
 * in that program.
 */
export async function loadLogPage(
  on: Queryable,
  owner: { readonly developerId: string; readonly programId: string | null; readonly integrationId: string },
  { after, limit }: { readonly after: Position; readonly limit: number },
): Promise<readonly LogEntry[] | null> {
  const values = [owner.integrationId, owner.developerId, after.at, after.id, limit, owner.programId];
  const rows = await on.query<LogRow | { id: null }>(SELECT_PAGE, values);
  if (rows.length === 0) return null;
  return rows.flatMap((row) => (row.id === null ? [] : [toEntry(row)]));
}

/** Deletes entries older than `before`; returns their number. */
export async function deleteOldLogEntries(on: Queryable, before: Date, limit: number): Promise<number> {
  const [row] = await on.query<{ deleted: number }>(DELETE_OLD, [before, limit]);
  return row?.deleted ?? 0;
}

function logColumns(entries: readonly NewLogEntry[]): unknown[][] {
  return [
    entries.map(({ id }) => id),
    entries.map(({ integrationId }) => integrationId),
    entries.map(({ kind }) => kind),
    entries.map(({ at }) => at),
    entries.map(({ bodyExcerpt }) => bodyExcerpt),
    entries.map(({ error }) => error),
    entries.map(({ records }) => JSON.stringify(records.map(toStored))),
  ];
}

function toStored({ index, status, attemptId, code, message }: RecordResult): StoredRecord {
  return {
    index,
    ...(attemptId === null ? {} : { attempt_id: attemptId }),
    status,
    ...(code === null ? {} : { code }),
    ...(message === null ? {} : { message }),
  };
}

function toEntry(row: LogRow): LogEntry {
  return {
    id: row.id,
    kind: row.kind,
    at: row.at,
    bodyExcerpt: row.body_excerpt,
    error: row.error,
    records: (parseJson(row.records) as readonly StoredRecord[]).map(fromStored),
  };
}

function fromStored({ index, status, attempt_id: attemptId, code, message }: StoredRecord): RecordResult {
  return { index, status, attemptId: attemptId ?? null, code: code ?? null, message: message ?? null };
}
