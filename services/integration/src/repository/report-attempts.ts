/**
 * The attempt of each report that names a player, by the report's hash. Written before the attempt
 * is settled, and never changed.
 */
import type { Database } from '@laurel/postgres';

/** The hash is the SHA-256 of the value of the descriptor's `dedupe`. */
export type ReportKey = { readonly integrationId: string; readonly reportHash: Buffer };

export type ReportAttempt = ReportKey & { readonly attemptId: string; readonly createdAt: Date };

/** What is known about a report. */
export type KnownReport = { readonly kind: 'attempt'; readonly attemptId: string } | { readonly kind: 'listened' };

const WANTED = 'unnest($1::uuid[], $2::bytea[]) with ordinality as w (integration_id, report_hash, place)';

const FIND = {
  name: 'report_attempts_find',
  text: `
select r.attempt_id, s.integration_id is not null as is_listened
from ${WANTED}
left join report_attempts r on r.integration_id = w.integration_id and r.report_hash = w.report_hash
left join listened_samples s on s.integration_id = w.integration_id and s.report_hash = w.report_hash
order by w.place`,
};

const INSERT = {
  name: 'report_attempts_insert',
  text: `
insert into report_attempts (integration_id, report_hash, attempt_id, created_at)
select * from unnest($1::uuid[], $2::bytea[], $3::uuid[], $4::timestamptz[])
  as w (integration_id, report_hash, attempt_id, created_at)
order by w.integration_id, w.report_hash
on conflict (integration_id, report_hash) do nothing`,
};

const SELECT = {
  name: 'report_attempts_select',
  text: `
select r.attempt_id
from ${WANTED} join report_attempts r on r.integration_id = w.integration_id and r.report_hash = w.report_hash
order by w.place`,
};

/**
 * Returns what is known about each report, in the order of the keys; null for an unknown report.
 */
export async function findReports(
  database: Database,
  keys: readonly ReportKey[],
): Promise<readonly (KnownReport | null)[]> {
  const rows = await database.query<{ attempt_id: string | null; is_listened: boolean }>(FIND, keyColumns(keys));
  return rows.map(({ attempt_id: attemptId, is_listened: isListened }): KnownReport | null => {
    if (attemptId !== null) return { kind: 'attempt', attemptId };
    return isListened ? { kind: 'listened' } : null;
  });
}

/**
 * Commits the pairs durably. Returns the attempt of each report, in order. If a report was bound
 * before, that is the attempt of its earlier pair.
 */
export async function bindReports(
  database: Database,
  pairs: readonly ReportAttempt[],
  beforeCommit: () => void | Promise<void>,
): Promise<readonly string[]> {
  const columns = keyColumns(pairs);
  const insert = [...columns, pairs.map(({ attemptId }) => attemptId), pairs.map(({ createdAt }) => createdAt)];
  // The second statement has its own snapshot, so it sees the pair for which the first one waited.
  const [, bound] = await database.batch<[never, { attempt_id: string }]>(
    [
      { statement: INSERT, values: insert },
      { statement: SELECT, values: columns },
    ],
    { beforeCommit },
  );
  return bound.map(({ attempt_id: attemptId }) => attemptId);
}

function keyColumns(keys: readonly ReportKey[]): unknown[][] {
  return [keys.map(({ integrationId }) => integrationId), keys.map(({ reportHash }) => reportHash)];
}
