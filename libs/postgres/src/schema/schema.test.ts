import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { expect, test } from 'vitest';
import { migrate } from '../migrate.ts';
import { createScratchDatabase } from '../scratch-database.fixture.ts';

const services = fileURLToPath(new URL('../../../../services/', import.meta.url));

// `npm run schema` uses another build of PostgreSQL than production, and shortens its output: this
// test checks both.
test.for(globSync('*/migrations', { cwd: services }).sort())(
  'the schema.sql beside %s creates the same schema as the migrations',
  async (folder) => {
    const directory = join(services, folder);
    const migrated = await catalogAfter(async (client, url) => {
      await migrate({ url, directory });
      await client.query('drop table migrations, migrations_lock, migration_checksums');
    });
    const schema = await readFile(join(dirname(directory), 'schema.sql'), 'utf8');
    const written = await catalogAfter((client) => client.query(schema));
    expect(written).toEqual(migrated);
    expect(migrated.some((line) => line.startsWith('column '))).toBe(true);
  },
);

async function catalogAfter(work: (client: pg.Client, url: string) => Promise<unknown>): Promise<readonly string[]> {
  await using scratch = await createScratchDatabase();
  const client = new pg.Client({ connectionString: scratch.url });
  await client.connect();
  try {
    await work(client, scratch.url);
    return (await client.query<{ line: string }>(CATALOG)).rows.map(({ line }) => line).sort();
  } finally {
    await client.end();
  }
}

/**
 * A description of every object that a user created. Differences without a meaning are left out:
 * numbers in the names of internal objects; the names of an index's columns, which do not follow a
 * rename, so that the covered expressions stand for them; and parentheses, because PostgreSQL
 * prints more of them for a `between` than it keeps when it reads that text again.
 */
const CATALOG = `
  select translate(definition, '()', '') as line
  from (
    select concat_ws(' ', 'object', type, regexp_replace(identity, '_\\d{5,}', ''))
    from (select distinct classid, objid, objsubid from pg_depend where objid >= 16384)
    cross join lateral pg_identify_object(classid, objid, objsubid)
    where schema is distinct from 'pg_toast'
    union all
    select concat_ws(' ', 'relation', oid::regclass, relkind, relpersistence, reloptions)
    from pg_class where relnamespace = 'public'::regnamespace
    union all
    select concat_ws(' ', 'column', row_number() over (partition by attrelid order by attnum), attrelid::regclass,
      case relkind when 'i' then pg_get_indexdef(attrelid, attnum, false) else attname end,
      format_type(atttypid, atttypmod), attnotnull, attidentity, attgenerated, pg_get_expr(adbin, adrelid),
      attcollation::regcollation, attstorage, attcompression, attoptions)
    from pg_attribute join pg_class on pg_class.oid = attrelid left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where attrelid >= 16384 and attnum > 0 and not attisdropped
      and attrelid in (select oid from pg_class where relnamespace = 'public'::regnamespace)
    union all
    select concat_ws(' ', 'constraint', conrelid::regclass, conname, pg_get_constraintdef(oid))
    from pg_constraint where connamespace = 'public'::regnamespace
    union all
    select pg_get_indexdef(indexrelid) from pg_index where indexrelid >= 16384
      and indexrelid in (select oid from pg_class where relnamespace = 'public'::regnamespace)
    union all
    select concat_ws(' ', pg_get_triggerdef(oid), tgenabled) from pg_trigger where not tgisinternal
    union all
    select pg_get_functiondef(oid) from pg_proc where pronamespace = 'public'::regnamespace
    union all
    select concat_ws(' ', 'sequence', to_jsonb(pg_sequences) - 'last_value') from pg_sequences
    union all
    select concat_ws(' ', 'view', to_jsonb(pg_views)) from pg_views where schemaname = 'public'
    union all
    select concat_ws(' ', 'comment', type, identity, description)
    from pg_description cross join lateral pg_identify_object(classoid, objoid, objsubid) where objoid >= 16384
  ) as everything (definition)`;
