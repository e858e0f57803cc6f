/**
 * Fills tables without their indexes and keys, and then builds all of them again from the
 * database's own definitions: building an index once is several times faster than updating it for
 * each row. Adding a foreign key checks every row. All is one transaction, which truncates empty
 * tables first: with `wal_level = minimal` their rows then need no WAL.
 */
import type pg from 'pg';

interface Definition {
  readonly relation: string;
  readonly name: string;
  readonly definition: string;
}

const CONSTRAINTS = `
  select conrelid::regclass::text as relation, quote_ident(conname) as name, pg_get_constraintdef(oid) as definition
  from pg_constraint
  where case when $2 then contype = 'f' and (conrelid = any($1::regclass[]) or confrelid = any($1::regclass[]))
    else contype in ('p', 'u') and conrelid = any($1::regclass[]) end
  order by contype, conname`;

const INDEXES = `
  select indrelid::regclass::text as relation, indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition
  from pg_index where indrelid = any($1::regclass[]) order by indexrelid`;

export async function withoutIndexes(
  client: pg.Client,
  tables: readonly string[],
  fill: () => Promise<void>,
): Promise<void> {
  await client.query('begin');
  const constraints = async (isForeign: boolean) =>
    (await client.query<Definition>(CONSTRAINTS, [tables, isForeign])).rows;
  const foreignKeys = await constraints(true);
  await drop(foreignKeys);
  const keys = await constraints(false);
  await drop(keys);
  const { rows: indexes } = await client.query<Definition>(INDEXES, [tables]);
  for (const { name } of indexes) await client.query(`drop index ${name}`);
  for (const table of tables) {
    const { rowCount } = await client.query(`select from ${table} limit 1`);
    if (rowCount === 0) await client.query(`truncate ${table}`);
  }
  await fill();
  for (const { definition } of indexes) await client.query(definition);
  await add(keys);
  await add(foreignKeys);
  await client.query('commit');

  async function drop(definitions: readonly Definition[]): Promise<void> {
    for (const { relation, name } of definitions) await client.query(`alter table ${relation} drop constraint ${name}`);
  }

  async function add(definitions: readonly Definition[]): Promise<void> {
    for (const { relation, name, definition } of definitions) {
      await client.query(`alter table ${relation} add constraint ${name} ${definition}`);
    }
  }
}
