/** The measured databases: the plain ones of the services, and copies with partitions. */
import { createHash } from 'node:crypto';
import type { EmbeddedPostgres } from '@laurel/local-infrastructure/embedded-postgres';
import { migrate } from '@laurel/postgres/migrate';
import pg from 'pg';
import type { Contests } from '../scale/contests.ts';
import { fillChallenge } from '../scale/fill-challenge.ts';
import { fillWallet } from '../scale/fill-wallet.ts';
import { CHALLENGES_PER_PROGRAM, PROGRAMS, type Shape } from '../scale/shape.ts';

const YEAR_MS = 366 * 86_400_000;

/** The tables from which a month is removed, each with the column that its partitions split. */
export const AGING = {
  challenge: [
    { name: 'attempts', key: 'id' },
    { name: 'outcomes', key: 'attempt_id' },
  ],
  wallet: [{ name: 'transfers', key: 'id' }],
} as const;
export type AgingService = keyof typeof AGING;

/** As SQL: a challenge like those of bench/scale/contests.ts, live with a confirmed bar. */
const INSERT_CHALLENGES = `
  insert into challenges (id, program_id, environment, status, name, fee_cents, prize_cents, prize_structure, metric_name, metric_unit,
    threshold_direction, threshold, calibration_source, target_pass_rate, integrity_tier, min_calibration_n, min_calibration_players,
    daily_attempt_cap, required_verification_level, jurisdictions, rung, created_at)
  select c.id, c.program_id, 'live', 'live', 'Challenge', 100, 400, 'threshold', 'points', 'points', 'higher_is_better', 100, 'observed',
    0.2, 1, 1, 1, 1000000, 0, '{}', 1, now() - interval '2 years'
  from unnest($1::uuid[], $2::uuid[]) as c (id, program_id)`;
const INSERT_KEY = `insert into signing_keys (public_key) values (decode(repeat('07', 32), 'hex'))`;

/** Creates and fills the plain databases `challenge` and `wallet`. */
export async function createFilled(postgres: EmbeddedPostgres, shape: Shape): Promise<Contests> {
  const ids = (what: string, count: number) => Array.from({ length: count }, (_, index) => idOf(`${what} ${index}`));
  const contests: Contests = {
    programIds: ids('program', PROGRAMS),
    challengeIds: ids('challenge', PROGRAMS * CHALLENGES_PER_PROGRAM),
    liveKeys: [],
    tournamentIds: [],
    endpointId: '',
  };
  for (const service of ['challenge', 'wallet'] as const) {
    await withServer(postgres, (client) => client.query(`create database ${service}`));
    await migrate({
      url: postgres.url(service),
      directory: new URL(`../../services/${service}/migrations/`, import.meta.url),
    });
    await withDatabase(postgres, service, async (client) => {
      await client.query('set session_replication_role = replica');
      await client.query('set synchronous_commit = off');
      if (service === 'wallet') {
        await fillWallet(client, shape, contests);
      } else {
        const programs = contests.challengeIds.map((_, index) =>
          contests.programIds.at(index / CHALLENGES_PER_PROGRAM),
        );
        await client.query(INSERT_CHALLENGES, [contests.challengeIds, programs]);
        await client.query(INSERT_KEY);
        await fillChallenge(client, shape, contests);
      }
      await client.query('vacuum (freeze, analyze)');
    });
    // The statements are measured, not the disk.
    await withServer(postgres, (client) => client.query(`alter database ${service} set synchronous_commit = off`));
  }
  return contests;
}

/** Copies a database, with each aging table as `count` partitions by time. */
export async function copyByMonth(
  postgres: EmbeddedPostgres,
  service: AgingService,
  { shape, count }: { readonly shape: Shape; readonly count: number },
): Promise<void> {
  const name = `${service}_${count}`;
  await withServer(postgres, async (client) => {
    await client.query(`create database ${name} template ${service}`);
    await client.query(`alter database ${name} set synchronous_commit = off`);
  });
  await withDatabase(postgres, name, async (client) => {
    await client.query('set session_replication_role = replica');
    // These views read the tables that are replaced, and no measured statement reads the views.
    await client.query('drop view if exists all_attempts, all_outcomes');
    for (const { name: aging, key } of AGING[service]) {
      await partition(client, { name: aging, key, bounds: boundsOf(shape, count), isSplit: service === 'wallet' });
    }
    await client.query('vacuum (freeze, analyze)');
  });
}

export function boundsOf(shape: Shape, count: number): readonly number[] {
  return Array.from({ length: count + 1 }, (_, index) => shape.startMs + Math.round((index * YEAR_MS) / count));
}

export function leastIdAtMs(ms: number): string {
  return `${ms.toString(16).padStart(12, '0')}${'0'.repeat(20)}`.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

interface Definition {
  readonly relation: string;
  readonly name: string;
  readonly definition: string;
}

const KEYS = `
  select conrelid::regclass::text as relation, conname as name, pg_get_constraintdef(oid) as definition
  from pg_constraint where contype in ('p', 'u') and conrelid = $1::regclass`;
const FOREIGN_KEYS = `
  select conrelid::regclass::text as relation, conname as name, pg_get_constraintdef(oid) as definition
  from pg_constraint where contype = 'f' and conparentid = 0 and (conrelid = $1::regclass or confrelid = $1::regclass)`;
const INDEXES = `
  select indrelid::regclass::text as relation, relname as name, pg_get_indexdef(indexrelid) as definition
  from pg_index join pg_class on pg_class.oid = indexrelid
  where indrelid = $1::regclass and not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u'))`;
const OPTIONS = `select array_to_string(reloptions, ', ') as options from pg_class where oid = $1::regclass`;

/**
 * Replaces a table by one with partitions. A unique constraint without the column of the partitions
 * becomes an index that is not unique. `isSplit` means that some keys do not begin with a time;
 * they get a partition of their own.
 */
async function partition(
  client: pg.Client,
  { name, key, bounds, isSplit }: { name: string; key: string; bounds: readonly number[]; isSplit: boolean },
): Promise<void> {
  const rowsOf = async (query: string) => (await client.query<Definition>(query, [name])).rows;
  const [keys, foreignKeys, indexes] = [await rowsOf(KEYS), await rowsOf(FOREIGN_KEYS), await rowsOf(INDEXES)];
  const { options } = (await client.query<{ options: string | null }>(OPTIONS, [name])).rows[0] ?? {};
  await client.query('begin');
  for (const { relation, name: constraint } of foreignKeys)
    await client.query(`alter table ${relation} drop constraint ${constraint}`);
  await client.query(`alter table ${name} rename to plain`);
  await client.query(`create table ${name}
    (like plain including defaults including constraints including identity including storage) partition by range (${key})`);
  for (const [index, from] of bounds.slice(0, -1).entries()) {
    const isLast = index === bounds.length - 2;
    const lower = index === 0 && !isSplit ? 'minvalue' : `'${leastIdAtMs(from)}'`;
    const upper = isLast && !isSplit ? 'maxvalue' : `'${leastIdAtMs(bounds[index + 1] ?? 0)}'`;
    await client.query(`create table ${name}_${index} partition of ${name} for values from (${lower}) to (${upper})
      ${options === null || options === undefined ? '' : `with (${options})`}`);
  }
  if (isSplit) await client.query(`create table ${name}_rest partition of ${name} default`);
  const { rows: columns } = await client.query<{ list: string }>(
    `select string_agg(attname, ', ' order by attnum) as list from pg_attribute where attrelid = 'plain'::regclass and attnum > 0 and not attisdropped`,
  );
  await client.query(
    `insert into ${name} (${columns[0]?.list}) overriding system value select ${columns[0]?.list} from plain`,
  );
  await client.query('drop table plain');
  for (const { name: constraint, definition } of keys) {
    if (new RegExp(`\\(.*\\b${key}\\b.*\\)`).test(definition))
      await client.query(`alter table ${name} add constraint ${constraint} ${definition}`);
    else await client.query(`create index ${constraint} on ${name} ${definition.replace(/^\D*?(?=\()/, '')}`);
  }
  for (const { definition } of indexes) await client.query(definition.replace(' UNIQUE', '').replace(' ONLY ', ' '));
  for (const { relation, name: constraint, definition } of foreignKeys)
    await client.query(`alter table ${relation} add constraint ${constraint} ${definition}`);
  await client.query('commit');
}

export async function withDatabase<Result>(
  postgres: EmbeddedPostgres,
  database: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionString: postgres.url(database) });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

export const withServer = <Result>(postgres: EmbeddedPostgres, work: (client: pg.Client) => Promise<Result>) =>
  withDatabase(postgres, 'postgres', work);

function idOf(seed: string): string {
  const digits = createHash('md5').update(seed).digest('hex');
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-7${digits.slice(13, 16)}-a${digits.slice(17, 20)}-${digits.slice(20)}`;
}

/** As SQL: the id with its time moved by `ms`, and its other digits unchanged. */
export function addMsToIdSql(id: string, ms: number): string {
  return `(lpad(to_hex(('x' || left(replace(${id}::text, '-', ''), 12))::bit(48)::bigint + ${ms}), 12, '0')
    || substr(replace(${id}::text, '-', ''), 13))::uuid`;
}
