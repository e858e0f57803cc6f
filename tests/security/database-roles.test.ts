import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { SERVICES, type Service, type StackDatabase } from '@laurel/testing';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { joinWorld, type Player, type SharedWorld } from '../world.ts';
import { logIn, REFUSED, RESTRICTED, refusalBy } from './refusals.ts';

/**
 * What can an attacker do who has the database URL of one service? The tests log in as the running
 * role, and try.
 */

let world: SharedWorld;
let player: Player;

beforeAll(async () => {
  world = await joinWorld();
  // Rows to read, to change and to delete.
  const challenge = await world.newChallenge();
  player = await world.newPlayer();
  const attempt = await world.partner.createAttempt({ challenge_id: challenge.id, player_ref: player.ref });
  expect(attempt.status).toBe(201);
  const person = {
    email: 'ann@example.com',
    date_of_birth: '1990-01-01',
    jurisdiction: 'US-CA',
    verification_level: 1,
  };
  expect((await world.operator.createAccount(person)).status).toBe(201);
});
afterAll(() => world?.[Symbol.asyncDispose]());

const databaseOf = (service: Service): StackDatabase => world.stack.database(service);

/** The SQLSTATE with which a statement of the running role is refused; undefined if it succeeds. */
function refusal(service: Service, statement: string): Promise<string | undefined> {
  return refusalBy(databaseOf(service).runningUrl, statement);
}

async function only<Row extends pg.QueryResultRow>(service: Service, text: string): Promise<Row> {
  const [row] = await databaseOf(service).query<Row>(text);
  if (row === undefined) throw new Error(`no row: ${text}`);
  return row;
}

describe.each(SERVICES)('the database role that runs the %s service', (service) => {
  test('a service’s running role owns nothing and has no server privileges', async () => {
    expect(
      await only(
        service,
        `select rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls, rolcanlogin,
          (select count(*)::int from pg_auth_members where member = r.oid) as memberships,
          (select count(*)::int from pg_class where relowner = r.oid) as relations,
          (select count(*)::int from pg_proc where proowner = r.oid) as functions,
          (select count(*)::int from pg_database where datdba = r.oid) as databases
        from pg_roles r where rolname = '${roleIn(databaseOf(service).runningUrl)}'`,
      ),
    ).toEqual({
      rolsuper: false,
      rolcreatedb: false,
      rolcreaterole: false,
      rolreplication: false,
      rolbypassrls: false,
      rolcanlogin: true,
      memberships: 0,
      relations: 0,
      functions: 0,
      databases: 0,
    });
  });

  test.each(SERVICES.filter((other) => other !== service))('a running role cannot connect to %s', async (other) => {
    const url = new URL(databaseOf(service).runningUrl);
    url.pathname = new URL(databaseOf(other).runningUrl).pathname;
    await expect(logIn(url.href)).rejects.toMatchObject({ code: REFUSED });
  });

  const anyTable: Record<Service, string> = {
    wallet: 'transfers',
    challenge: 'attempts',
    tournament: 'rounds',
    webhook: 'endpoints',
    integration: 'integrations',
    gateway: 'api_keys',
  };
  const table = anyTable[service];
  test.each([
    'create table loot (id int)',
    'create temporary table loot (id int)',
    'create schema loot',
    'create view loot as select 1 as id',
    "create function loot() returns int language sql as 'select 1'",
    'create extension pg_stat_statements',
    'create role thief',
    'create database loot',
    `drop table ${table}`,
    `truncate ${table} cascade`,
    `alter table ${table} add column loot int`,
    `alter table ${table} disable trigger all`,
    `alter table ${table} disable trigger user`,
    `create trigger loot before insert on ${table} for each row execute function suppress_redundant_updates_trigger()`,
    `create index on ${table} ((1))`,
    'set session_replication_role = replica',
    'set session authorization postgres',
    'select rolpassword from pg_authid',
    'select * from migration_checksums',
    "copy (select 1) to program 'true'",
    "copy (select 1) to '/tmp/laurel-loot'",
    "select pg_read_file('postgresql.conf')",
    'select pg_terminate_backend(pid) from pg_stat_activity where usename <> current_user and usename is not null limit 1',
    "alter system set log_statement = 'all'",
  ])('a service’s running role is refused: %s', async (statement) => {
    expect(await refusal(service, statement)).toBe(REFUSED);
  });

  test('a service’s running role cannot become any other role', async () => {
    const superuser = await only<{ name: string }>(service, 'select current_user as name');
    const roles = SERVICES.flatMap((other) => {
      const { ownerUrl, runningUrl, archiveUrl } = databaseOf(other);
      return [ownerUrl, runningUrl, ...(archiveUrl === undefined ? [] : [archiveUrl])];
    })
      .map(roleIn)
      .filter((role) => role !== roleIn(databaseOf(service).runningUrl));
    for (const role of [...roles, superuser.name]) {
      expect(`${role} ${await refusal(service, `set role "${role}"`)}`).toBe(`${role} ${REFUSED}`);
    }
  });

  test('a service’s running role, and its archive’s, have exactly the privileges of their files', async () => {
    // Without the grant option this only gives a warning, and grants nothing.
    const client = await logIn(databaseOf(service).runningUrl);
    await client.query(`grant all on ${table} to public`);
    await client.end();
    const rows = await databaseOf(service).query<{ privilege: string }>(PRIVILEGES, [
      roleIn(databaseOf(service).ownerUrl),
    ]);
    const { runningUrl, archiveUrl } = databaseOf(service);
    const expected = [
      ...privilegesOf(roleIn(runningUrl), grantsOf(service)),
      ...(archiveUrl === undefined ? [] : privilegesOf(roleIn(archiveUrl), archiveGrantsOf(service))),
    ].sort();
    expect(rows.map(({ privilege }) => privilege).sort()).toEqual(expected);
  });

  test('grants.sql of the service names every table of its database', async () => {
    const rows = await databaseOf(service).query<{ name: string }>(
      `select relname as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'f')
        and not relispartition and relname not in ('migrations', 'migrations_lock', 'migration_checksums')`,
    );
    const onTables = grantsOf(service).filter((grant) => !/: (USAGE|EXECUTE)$/.test(grant));
    const named = new Set(onTables.map((grant) => grant.split(/[ (:]/)[0]));
    expect([...named].sort()).toEqual(rows.map(({ name }) => name).sort());
  });
});

describe('the wallet’s records under the role that runs it', () => {
  /** Only one player of this file: another file may play on the stack at the same time. */
  const totals = () => `select count(*) as transfers, sum(amount_cents) as cents, max(seq) as newest,
    (select sum(balance_cents) from ledger_accounts where account_id = '${player.accountId}') as balances,
    (select count(*) from accounts where id = '${player.accountId}') as accounts
    from transfers where player_ledger_id in (select id from ledger_accounts where account_id = '${player.accountId}')`;

  test.each([
    'update transfers set amount_cents = 1',
    "update transfers set state = 'tombstone'",
    'delete from transfers',
    'truncate transfers',
    'alter table transfers disable trigger transfers_append_only',
    'drop trigger transfers_append_only on transfers',
    'create or replace function transfers_refuse_change() returns trigger language plpgsql as $$ begin return new; end $$',
    'alter table ledger_accounts drop constraint ledger_accounts_never_overdrawn',
    'delete from ledger_accounts',
    'update ledger_accounts set may_overdraw = true',
    'update ledger_accounts set account_id = gen_random_uuid()',
    "insert into ledger_accounts (id, kind, environment, account_id, balance_cents) select gen_random_uuid(), 'player', 'live', id, 1 from accounts",
    'update accounts set id = gen_random_uuid()',
    'update accounts set house_id = gen_random_uuid()',
    'delete from accounts',
    'update payouts set amount_cents = 1, account_id = gen_random_uuid()',
    'delete from payouts',
    "update payout_decisions set reason = 'another'",
    'delete from payout_decisions',
    "select setval('transfers_seq_seq', 1)",
  ])('the role that runs the wallet cannot change posted money: %s', async (statement) => {
    const before = await only('wallet', totals());
    expect(before).toMatchObject({ transfers: 2n, accounts: 1n });
    expect(await refusal('wallet', statement)).toBe(REFUSED);
    expect(await only('wallet', totals())).toEqual(before);
  });

  test.each([
    "update accounts set email = 'thief@example.com' where house_id = '00000000-0000-8000-8000-000000000020'",
    "update accounts set date_of_birth = '1980-01-01' where house_id = '00000000-0000-8000-8000-000000000020'",
  ])('the role that runs the wallet cannot change people’s identities: %s', async (statement) => {
    const people = `select count(*) from accounts where house_id = '00000000-0000-8000-8000-000000000020'`;
    expect(await only('wallet', people)).not.toEqual({ count: 0n });
    expect(await refusal('wallet', statement)).toBe(RESTRICTED);
  });

  test.each([
    ['challenge', 'update outcomes set score = 1'],
    ['challenge', 'delete from outcomes'],
    ['challenge', 'update awards set amount_cents = 1'],
    ['challenge', 'delete from award_reviews'],
    ['challenge', 'update challenges set prize_cents = 1'],
    ['challenge', 'update attempts set player_ref = $$thief$$'],
    ['challenge', 'delete from attempts'],
    ['tournament', 'update seals set root = root'],
    ['tournament', 'delete from seals'],
    ['tournament', 'update outcomes set score = 1'],
    ['tournament', 'update rounds set purse_cents = null'],
    ['tournament', 'update round_payouts set amount_cents = 1'],
    ['tournament', 'update award_reviews set operator = $$another$$'],
    ['gateway', 'update api_keys set program_id = program_id'],
    ['gateway', 'update operator_actions set actor = $$changed$$'],
    ['gateway', 'delete from operator_action_results'],
    ['gateway', 'update developers set password_hash = $$none$$'],
    ['webhook', 'update deliveries set body = body'],
    ['integration', 'update integrations set program_id = program_id'],
    ['integration', 'update report_attempts set attempt_id = attempt_id'],
    ['integration', 'delete from report_attempts'],
  ] as const)('the role that runs %s is refused: %s', async (service, statement) => {
    expect(await refusal(service, statement)).toBe(REFUSED);
  });
});

test('the role that owns one database cannot connect to any other', async () => {
  for (const service of SERVICES) {
    for (const other of SERVICES.filter((it) => it !== service)) {
      const url = new URL(databaseOf(service).ownerUrl);
      url.pathname = new URL(databaseOf(other).ownerUrl).pathname;
      await expect(logIn(url.href)).rejects.toMatchObject({ code: REFUSED });
    }
  }
});

function roleIn(url: string): string {
  return decodeURIComponent(new URL(url).username);
}

function privilegesOf(role: string, grants: readonly string[]): readonly string[] {
  return [...grants.map((grant) => `${role} ${grant}`), `${role} database: CONNECT`, `${role} schema public: USAGE`];
}

/** The same of archive-grants.sql, whose lines have one privilege each. */
function archiveGrantsOf(service: Service): readonly string[] {
  return statementsOf(new URL(`../../services/${service}/archive-grants.sql`, import.meta.url)).map((statement) => {
    const [, routine] = /^grant execute on function (\w+\(.*\)) to :"archive_role"$/.exec(statement) ?? [];
    if (routine !== undefined) return `routine ${routine}: EXECUTE`;
    const [, privilege = '', table] = /^grant (select|maintain) on (\w+) to :"archive_role"$/.exec(statement) ?? [];
    if (table === undefined) throw new Error(`archive-grants.sql has a statement of another form: ${statement}`);
    return `${table}: ${privilege.toUpperCase()}`;
  });
}

function statementsOf(file: URL): readonly string[] {
  return readFileSync(file, 'utf8')
    .replaceAll(/--.*$/gm, '')
    .split(';')
    .map((statement) => statement.replaceAll(/\s+/g, ' ').trim())
    .filter((statement) => statement !== '');
}

/**
 * The privileges in grants.sql as texts: `transfers: SELECT` for a table, `payouts(status): UPDATE`
 * for a column, `request_positions: USAGE` for a sequence, and a function as the catalog names it.
 */
function grantsOf(service: Service): string[] {
  const file = new URL(`../../services/${service}/grants.sql`, import.meta.url);
  return statementsOf(file).flatMap((statement) => {
    const [, sequence] = /^grant usage on sequence (\w+) to :"running_role"$/.exec(statement) ?? [];
    if (sequence !== undefined) return [`${sequence}: USAGE`];
    const [, routine] = /^grant execute on function (\w+\(\)) to :"running_role"$/.exec(statement) ?? [];
    if (routine !== undefined) return [`routine ${routine}: EXECUTE`];
    const [, privileges, table] = /^grant (.+) on (\w+) to :"running_role"$/.exec(statement) ?? [];
    if (privileges === undefined)
      throw new Error(`${fileURLToPath(file)} has a statement of another form: ${statement}`);
    const granted = [...privileges.matchAll(/(select|insert|update|delete)(?: \(([^)]+)\))?(?:, |$)/g)];
    expect(granted.map(([text]) => text).join('')).toBe(privileges);
    return granted.flatMap(([, privilege = '', columns]) =>
      columns === undefined
        ? [`${table}: ${privilege.toUpperCase()}`]
        : columns.split(', ').map((column) => `${table}(${column}): ${privilege.toUpperCase()}`),
    );
  });
}

/**
 * The privileges in this database of every role except the owner ($1): on the database, its schema,
 * relations, columns, routines and types.
 */
const PRIVILEGES = `
  with given as (
    select datname::text as on_what, acl.* from pg_database, aclexplode(datacl) acl where datname = current_database()
    union all
    select 'schema ' || nspname, acl.* from pg_namespace, aclexplode(nspacl) acl where nspname = 'public'
    union all
    select relname::text, acl.* from pg_class, aclexplode(relacl) acl where relnamespace = 'public'::regnamespace
    union all
    select format('%s(%s)', relname, attname), acl.*
    from pg_attribute join pg_class c on c.oid = attrelid, aclexplode(attacl) acl where relnamespace = 'public'::regnamespace
    union all
    select format('routine %s', p.oid::regprocedure), acl.*
    from pg_proc p, aclexplode(coalesce(proacl, acldefault('f', proowner))) acl where pronamespace = 'public'::regnamespace
    union all
    select 'default privileges', acl.* from pg_default_acl, aclexplode(defaclacl) acl
  )
  select concat(coalesce(r.rolname, 'public'), ' ', case on_what when current_database() then 'database' else on_what end, ': ',
    privilege_type, case when is_grantable then ' and may give it' end) as privilege
  from given left join pg_roles r on r.oid = grantee
  where coalesce(r.rolname, 'public') not in ($1, 'pg_database_owner')`;
