import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { expect, test } from 'vitest';
import { POSTGRES_URL_VARIABLE } from './postgres.ts';
import { createTestDatabase } from './test-database.ts';

test('test databases of the same migrations are equal and separate', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'laurel-testing-'));
  await using _ = { [Symbol.asyncDispose]: () => rm(directory, { recursive: true }) };
  await writeFile(join(directory, '0001_create_things.sql'), 'create table things (id int)');
  const migrations = pathToFileURL(`${directory}/`);

  const urls: string[] = [];
  {
    await using first = await createTestDatabase({ migrations });
    const [second, third] = await Promise.all([createTestDatabase({ migrations }), createTestDatabase({ migrations })]);
    await using _second = second;
    await using _third = third;
    urls.push(first.url, second.url, third.url);
    expect(await ask(first.url, 'insert into things values (1) returning id')).toEqual([{ id: 1 }]);
    expect(await ask(second.url, 'select id from things')).toEqual([]);

    // One more file leads to another template.
    await writeFile(join(directory, '0002_add_name.sql'), 'alter table things add column name text');
    await using fourth = await createTestDatabase({ migrations });
    expect(await ask(fourth.url, "insert into things values (1, 'a') returning name")).toEqual([{ name: 'a' }]);
    urls.push(fourth.url);
  }
  for (const url of urls) await expect(ask(url, 'select 1')).rejects.toMatchObject({ code: '3D000' });
});

test('a missing PostgreSQL server of the test run is reported as an error', async () => {
  const url = process.env[POSTGRES_URL_VARIABLE];
  try {
    delete process.env[POSTGRES_URL_VARIABLE];
    await expect(createTestDatabase({ migrations: new URL('file:///none/') })).rejects.toThrow(POSTGRES_URL_VARIABLE);
  } finally {
    process.env[POSTGRES_URL_VARIABLE] = url;
  }
});

async function ask(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}
