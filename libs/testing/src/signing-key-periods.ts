/**
 * The periods that a migration gives to signing keys that were replaced before it ran. Both contest
 * services test theirs with this.
 */
import { createDatabaseBefore } from './older-database.ts';

/** Three keys, each replaced by the next. */
const KEYS = `
insert into signing_keys (public_key, created_at) values
  ('\\x01', '2026-01-01T00:00:00Z'), ('\\x02', '2026-02-01T00:00:00Z'), ('\\x03', '2026-03-01T00:00:00Z')`;

/** The receipts that the keys signed: rows (at, key) for a `from` clause. */
export const SIGNED_RECEIPTS = `
(values ('2026-01-05T00:00:00Z', 1), ('2026-02-01T00:00:07Z', 1), ('2026-02-09T00:00:00Z', 2), ('2026-03-05T00:00:00Z', 3)) o (at, key)`;

const PERIODS = `
select to_char(valid_until at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as until from signing_keys order by id`;

/**
 * Returns the ends of the three keys' periods after all migrations. The signed rows are written
 * before the named migration runs.
 */
export async function endsOfReplacedKeys(options: {
  readonly migrations: URL;
  /**
   * The number of the migration under test, such as `0006`. The rows are written before it runs.
   */
  readonly before: string;
  /** Statements that write the signed rows; no foreign key is enforced meanwhile. */
  readonly signed: readonly string[];
}): Promise<readonly (string | null)[]> {
  const { migrations, before, signed } = options;
  await using older = await createDatabaseBefore({ migrations, before });
  const run = (text: string) => older.database.query<{ until: string | null }>({ text });

  await run(KEYS);
  await run('set session_replication_role = replica');
  for (const text of signed) await run(text);
  await run('set session_replication_role = origin');

  await older.migrate();
  return (await run(PERIODS)).map(({ until }) => until);
}
