/** Migration 0007: the periods that it gives to signing keys that were replaced before it. */
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createDatabase } from '@laurel/postgres';
import { migrate } from '@laurel/postgres/migrate';
import { createTestDatabase } from '@laurel/testing';
import { expect, it } from 'vitest';

const MIGRATIONS = new URL('../migrations/', import.meta.url);

it('periods of replaced signing keys end a minute after the last receipt they signed or the next key, whichever is later', async () => {
  await using stack = new AsyncDisposableStack();
  const before = mkdtempSync(join(tmpdir(), 'laurel-migrations-'));
  stack.defer(() => rmSync(before, { recursive: true }));
  for (const file of readdirSync(MIGRATIONS).filter((name) => name < '0007')) {
    cpSync(new URL(file, MIGRATIONS), join(before, file));
  }
  const { url } = stack.use(await createTestDatabase({ migrations: pathToFileURL(`${before}/`) }));
  const database = stack.use(createDatabase({ url, maxConnections: 1, applicationName: 'tournament-test' }));
  const run = (text: string) => database.query<{ until: string | null }>({ text });

  await run(`
insert into signing_keys (public_key, created_at) values
  ('\\x01', '2026-01-01T00:00:00Z'), ('\\x02', '2026-02-01T00:00:00Z'), ('\\x03', '2026-03-01T00:00:00Z')`);
  // Without the foreign keys, which would need attempts and rounds.
  await run(`set session_replication_role = replica`);
  await run(`
insert into outcomes (attempt_id, receipt_id, score,  recorded_at, receipt, signature, signing_key_id)
select gen_random_uuid(), gen_random_uuid(), 1,  at::timestamptz, '{}', decode(repeat('00', 64), 'hex'), key
from (values ('2026-01-05T00:00:00Z', 1), ('2026-02-01T00:00:07Z', 1), ('2026-02-09T00:00:00Z', 2), ('2026-03-05T00:00:00Z', 3)) o (at, key)`);
  await run(`
insert into seals (round_id, leaves, root, statement, signature, signing_key_id, created_at)
values (gen_random_uuid(), 0, decode(repeat('00', 32), 'hex'), '{}', decode(repeat('00', 64), 'hex'), 2, '2026-03-01T00:00:09Z')`);
  await run(`set session_replication_role = origin`);

  await migrate({ url, directory: MIGRATIONS });
  expect(
    await run(
      `select to_char(valid_until at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as until from signing_keys order by id`,
    ),
  ).toEqual([{ until: '2026-02-01 00:01:07' }, { until: '2026-03-01 00:01:09' }, { until: null }]);
});
