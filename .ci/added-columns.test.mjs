import { describe, expect, test } from 'vitest';
import { problemsOf, returnedTables, tablesOfSource, widenedTables } from './added-columns.mjs';

const ADDED = 'services/wallet/migrations/0099_add_note.sql';
const READER = 'services/wallet/src/repository/accounts.ts';

describe('a migration that adds a column beside the previous release', () => {
  const problems = (sql, sources) =>
    problemsOf({ migrations: new Map([[ADDED, sql]]), sources: new Map(Object.entries(sources)) });
  const reader = "const SELECT = { name: 'load', text: 'select * from accounts where id = $1' };";

  test('a new column is refused if the previous release returns every column of its table', () => {
    expect(problems('alter table accounts add column note text;', { [READER]: reader })).toEqual([
      `${ADDED} adds a column to accounts, of which the previous release returns every column (${READER}): add a table, or the column a release later`,
    ]);
  });

  test('a new column is accepted if no statement of its service returns every column of its table', () => {
    expect(problems('alter table payouts add column note text;', { [READER]: reader })).toEqual([]);
    const other = { 'services/challenge/src/repository/accounts.ts': reader };
    expect(problems('alter table accounts add column note text;', other)).toEqual([]);
  });

  test('a new column is refused if a library’s statement returns every column of the table', () => {
    const library = { 'libs/attempts/src/repository/accounts.ts': reader };
    expect(problems('alter table accounts add column note text;', library)).toHaveLength(1);
  });
});

test.each([
  ['select * from accounts where id = $1', ['accounts']],
  ['select a.*, c.program_id from attempts a join challenges c on c.id = a.challenge_id', ['attempts']],
  ['select * from attempts a, challenges c where c.id = a.challenge_id', ['attempts', 'challenges']],
  ['insert into accounts (id, email) values ($1, lower($2)) returning *', ['accounts']],
  ['update accounts set email = $2 where id = $1 returning accounts.*', ['accounts']],
  ['with found as (select * from awards for update) select found.* from found', ['awards']],
  ['select w.* from (select * from awards order by id) as w', ['awards']],
  ['select *\n-- A page.\nfrom only public.accounts', ['accounts']],
])('a statement returns every column of a table: %s', (sql, tables) => {
  expect([...returnedTables(sql)]).toEqual(tables);
});

test.each([
  'select count(*) from accounts',
  'select a.id, a.email from accounts a',
  'select a.id from (select * from accounts limit 1) a',
  'with found as (select * from awards) select found.id from found',
  'insert into key_uses (key_id, at) select * from unnest($1::uuid[], $2::timestamptz[]) as w (key_id, at)',
  'update awards a set status = f.status from (select * from unnest($1::uuid[]) as f (id)) f where a.id = f.id returning f.*',
  "select '* from accounts' as text from programs",
  'select 2 * amount from payouts',
])('a statement names its columns: %s', (sql) => {
  expect([...returnedTables(sql)]).toEqual([]);
});

test('an alias in a fragment stands for the table that has this alias in another text of the file', () => {
  const source = `
    const COLUMNS = 'c.*, b.score';
    const BY_ID = \`select \${COLUMNS} from challenges c left join bars b on true\`;`;
  expect([...tablesOfSource('challenges.ts', source)]).toEqual(['challenges']);
});

test('the check lists only the tables to which a migration adds columns', () => {
  const sql = `
    alter table if exists only public.accounts add column note text, add column at timestamptz;
    alter table awards
      add constraint awards_note check (true) not valid,
      add note text;
    -- alter table rounds add column note text;
    alter table payouts add constraint payouts_note check (true) not valid;
    alter table entries validate constraint entries_note;`;
  expect([...widenedTables(sql)]).toEqual(['accounts', 'awards']);
});
