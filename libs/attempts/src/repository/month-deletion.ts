/**
 * The calls by which a run deletes an archived month in a contest service's database, as the
 * archive's role (archive-grants.sql of the service). The functions are in the migration
 * `delete_archived_months` of each service.
 */
import type { Queryable, Statement } from '@laurel/postgres';
import type { ContestServiceName } from '@laurel/values/ids';
import type { MonthDeletion } from '../archive/delete-month.ts';

const FIND_MONTH: Statement = { text: 'select from archived_months where month = $1' };

const SELECT_BATCHES_OF_IDS: Statement = {
  text: `
select number, end_id::text as end_key, attempts, digest, deleted_at is not null as is_deleted
from archived_batches where month = $1 order by number`,
};
const SELECT_BATCHES_OF_ENTRIES: Statement = {
  text: `
select number, concat_ws(' ', end_round_id, end_account_id) as end_key, attempts, digest, deleted_at is not null as is_deleted
from archived_batches where month = $1 order by number`,
};
const SELECT_BATCHES = { challenge: SELECT_BATCHES_OF_IDS, tournament: SELECT_BATCHES_OF_ENTRIES };

const BEGIN: Statement = { text: 'select begin_archived_month($1, $2, $3, $4, $5, $6) as is_new' };
const DELETE_BATCH: Statement = { text: 'select delete_archived_batch($1, $2) as attempts' };
const END: Statement = { text: 'select end_archived_month($1) as is_ended' };
const VACUUM: Statement = { text: 'vacuum (analyze) attempts, outcomes' };

type BatchRow = { number: number; end_key: string; attempts: number; digest: Buffer; is_deleted: boolean };

export function monthDeletionOf(owner: ContestServiceName): MonthDeletion {
  return { findBatches: (on, month) => findBatches(on, month, SELECT_BATCHES[owner]), begin, deleteBatch, end, vacuum };
}

async function findBatches(on: Queryable, month: string, select: Statement): ReturnType<MonthDeletion['findBatches']> {
  const months = await on.query(FIND_MONTH, [month]);
  if (months.length === 0) return null;
  const rows = await on.query<BatchRow>(select, [month]);
  return rows.map(({ number, end_key: endKey, attempts, digest, is_deleted: isDeleted }) => ({
    number,
    endKey,
    attempts,
    digest,
    isDeleted,
  }));
}

const begin: MonthDeletion['begin'] = async (on, month, { manifestSha256, totals, batches }) => {
  const [row] = await on.query<{ is_new: boolean }>(BEGIN, [
    month,
    manifestSha256,
    JSON.stringify(totals),
    batches.map(({ endKey }) => endKey),
    batches.map(({ attempts }) => attempts),
    batches.map(({ digest }) => digest),
  ]);
  return row?.is_new === true;
};

const deleteBatch: MonthDeletion['deleteBatch'] = async (on, month, number) => {
  const [row] = await on.query<{ attempts: number }>(DELETE_BATCH, [month, number]);
  return row?.attempts ?? 0;
};

const end: MonthDeletion['end'] = async (on, month) => {
  const [row] = await on.query<{ is_ended: boolean }>(END, [month]);
  return row?.is_ended === true;
};

const vacuum: MonthDeletion['vacuum'] = async (on) => {
  await on.query(VACUUM);
};
