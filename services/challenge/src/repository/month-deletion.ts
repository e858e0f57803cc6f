/**
 * The calls by which a run deletes an archived month in this database, as the archive's role
 * (archive-grants.sql). The functions are in migrations/0029_delete_archived_months.sql.
 */
import type { MonthDeletion } from '@laurel/attempts/archive';
import type { Statement } from '@laurel/postgres';

const FIND_MONTH: Statement = { text: 'select from archived_months where month = $1' };

const SELECT_BATCHES: Statement = {
  text: `
select number, end_id, attempts, digest, deleted_at is not null as is_deleted
from archived_batches where month = $1 order by number`,
};

const BEGIN: Statement = { text: 'select begin_archived_month($1, $2, $3, $4, $5, $6) as is_new' };
const DELETE_BATCH: Statement = { text: 'select delete_archived_batch($1, $2) as attempts' };
const END: Statement = { text: 'select end_archived_month($1) as is_ended' };
const VACUUM: Statement = { text: 'vacuum (analyze) attempts, outcomes' };

type BatchRow = { number: number; end_id: string; attempts: number; digest: Buffer; is_deleted: boolean };

export const monthDeletion: MonthDeletion = {
  async findBatches(on, month) {
    const months = await on.query(FIND_MONTH, [month]);
    if (months.length === 0) return null;
    const rows = await on.query<BatchRow>(SELECT_BATCHES, [month]);
    return rows.map(({ number, end_id: endId, attempts, digest, is_deleted: isDeleted }) => ({
      number,
      endId,
      attempts,
      digest,
      isDeleted,
    }));
  },

  async begin(on, month, { manifestSha256, totals, batches }) {
    const [row] = await on.query<{ is_new: boolean }>(BEGIN, [
      month,
      manifestSha256,
      JSON.stringify(totals),
      batches.map(({ endId }) => endId),
      batches.map(({ attempts }) => attempts),
      batches.map(({ digest }) => digest),
    ]);
    return row?.is_new === true;
  },

  async deleteBatch(on, month, number) {
    const [row] = await on.query<{ attempts: number }>(DELETE_BATCH, [month, number]);
    return row?.attempts ?? 0;
  },

  async end(on, month) {
    const [row] = await on.query<{ is_ended: boolean }>(END, [month]);
    return row?.is_ended === true;
  },

  async vacuum(on) {
    await on.query(VACUUM);
  },
};
