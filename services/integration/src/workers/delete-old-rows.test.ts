/** Which rows are deleted because of their age, and which stay. */
import { newId } from '@laurel/values/ids';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type IntegrationDatabase, startIntegrationDatabase } from '../database.fixture.ts';
import { createDeleteOldRows } from './delete-old-rows.ts';

const DAY_MS = 86_400_000;
const NOW = new Date('2026-11-22T10:00:00Z');

let database: IntegrationDatabase;
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  database = await startIntegrationDatabase(stack);
});
afterAll(() => stack.disposeAsync());

const INSERT = {
  text: `
insert into log_entries (id, integration_id, kind, at, body_excerpt, records)
select gen_random_uuid(), $1, 'push', $2, '', '[]' from generate_series(1, $3)`,
};

async function count(table: string): Promise<number> {
  const [row] = await database.superuser.query<{ rows: number }>({
    text: `select count(*)::int as rows from ${table}`,
  });
  return row?.rows ?? 0;
}

it('log entries are deleted after 7 days, but the pairs of reports and attempts are kept', async () => {
  const { id } = await database.newIntegration();
  const long = new Date(NOW.getTime() - 1_000 * DAY_MS);
  await database.superuser.query(
    {
      text: `insert into report_attempts (integration_id, report_hash, attempt_id, created_at)
        values ($1, sha256('x'), $2, $3)`,
    },
    [id, newId(), long],
  );
  const runOnce = createDeleteOldRows({ database: database.connect(), logRetentionDays: 7 });
  await database.superuser.query(INSERT, [id, NOW, 2_500]);
  await runOnce(new Date(NOW.getTime() + 7 * DAY_MS));
  expect(await count('log_entries')).toBe(2_500);
  await database.superuser.query(INSERT, [id, new Date(NOW.getTime() + 1), 3]);
  await runOnce(new Date(NOW.getTime() + 7 * DAY_MS + 1));
  expect(await count('log_entries')).toBe(3);
  expect(await count('report_attempts')).toBe(1);
});
