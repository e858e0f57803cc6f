/**
 * Removes the oldest half months in two ways: one partition is detached, or rows are deleted from a
 * plain table in bounded batches, which is then vacuumed at the pace of autovacuum. After each
 * deletion the same number of new rows is inserted at the other end.
 */
import type { EmbeddedPostgres } from '@laurel/local-infrastructure/embedded-postgres';
import pg from 'pg';
import type { Shape } from '../scale/shape.ts';
import { AGING, type AgingService, addMsToIdSql, boundsOf, leastIdAtMs, withDatabase } from './databases.ts';

const CYCLES = 6;
/** The attempts or ledger lines that one transaction deletes. */
const ROWS_OF_A_BATCH = 2_000;
type Row = (string | number)[];

const KEEP = `
  insert into archived_attempts
  select a.id, a.challenge_id, a.account_id, a.player_ref, a.status, a.fee_cents, a.prize_cents, a.threshold, a.created_at,
    a.fee_generation, a.closed_reason, o.score, o.met_threshold, o.recorded_at, o.receipt_id
  from attempts a left join outcomes o on o.attempt_id = a.id where a.id = any($1::uuid[]) order by a.id`;

/** The statements that remove one service's rows in a range of ids and insert them again. */
interface Plan {
  /** `$1` and `$2` are the range, `$3` the most rows. */
  readonly ids: string;
  /** Statements that delete the rows with the ids `$1`. */
  readonly remove: readonly string[];
  /** Foreign keys from rows that stay to rows that are removed. */
  readonly foreignKeys: readonly string[];
  /** Statements that copy the range from `$1` to `$2` into other tables. */
  readonly copy: readonly string[];
  /** Returns statements that insert the copied rows again, `laterMs` later. */
  refill(laterMs: number): readonly string[];
}

const PLANS: Readonly<Record<AgingService, Plan>> = {
  challenge: {
    ids: 'select id from attempts where id >= $1 and id < $2 order by id limit $3',
    remove: [
      KEEP,
      'delete from outcomes where attempt_id = any($1::uuid[])',
      'delete from attempts where id = any($1::uuid[])',
    ],
    foreignKeys: [],
    copy: [
      'create unlogged table copied_attempts as select * from attempts where id >= $1 and id < $2',
      'create unlogged table copied_outcomes as select * from outcomes where attempt_id >= $1 and attempt_id < $2',
    ],
    refill: (ms) => [
      `insert into attempts (id, challenge_id, account_id, player_ref, status, fee_cents, prize_cents, threshold, metadata, created_at)
       select ${addMsToIdSql('id', ms)}, challenge_id, account_id, player_ref, status, fee_cents, prize_cents, threshold, metadata,
         created_at + ${ms} * interval '1 ms' from copied_attempts order by id`,
      `insert into outcomes (attempt_id, receipt_id, score, met_threshold, recorded_at, receipt, signature, signing_key_id)
       select ${addMsToIdSql('attempt_id', ms)}, ${addMsToIdSql('receipt_id', ms)}, score, met_threshold, recorded_at + ${ms} * interval '1 ms',
         receipt, signature, signing_key_id from copied_outcomes order by attempt_id`,
      'drop table copied_attempts, copied_outcomes',
    ],
  },
  wallet: {
    ids: `select id from transfers where id >= $1 and id < $2 and kind <> 'deposit' order by id limit $3`,
    remove: ['delete from transfers where id = any($1::uuid[])'],
    foreignKeys: ['alter table payouts drop constraint payouts_transfer_id_fkey'],
    copy: [
      `create unlogged table copied_transfers as select * from transfers where id >= $1 and id < $2 and kind <> 'deposit'`,
    ],
    refill: (ms) => [
      `insert into transfers (id, state, kind, environment, debit_id, credit_id, amount_cents, player_ledger_id, player_balance_after_cents,
         attempt_id, award_id, round_id, house_id, created_at, program_id, program_limit_cents)
       select ${addMsToIdSql('id', ms)}, state, kind, environment, debit_id, credit_id, amount_cents, player_ledger_id,
         player_balance_after_cents, ${addMsToIdSql('attempt_id', ms)}, ${addMsToIdSql('award_id', ms)}, round_id, house_id,
         created_at + ${ms} * interval '1 ms', program_id, program_limit_cents
       from copied_transfers order by id`,
      'drop table copied_transfers',
    ],
  },
};

const SIZES = `
  select relname as name, pg_relation_size(oid)::float8 / 1048576 as mib
  from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'i')
    and (oid = any($1::regclass[]) or oid in (select indexrelid from pg_index where indrelid = any($1::regclass[])))
  order by relkind desc, relname`;

/** Returns the rows of the printed tables; the first row of each table is its head. */
export async function measureRemoval(
  postgres: EmbeddedPostgres,
  shape: Shape,
  count: number,
): Promise<readonly Row[][]> {
  const bounds = boundsOf(shape, count);
  const removals: Row[] = [
    ['half a month removed', 'rows', 'seconds', 'WAL MiB', 'writer beside it: p50 ms', 'p99 ms', 'most ms'],
  ];
  const tables: Row[][] = [removals];
  for (const service of ['challenge', 'wallet'] as const) {
    removals.push(...(await detach(postgres, service, count)));
    const { rows, sizes } = await deleteInCycles(postgres, service, bounds);
    removals.push(...rows);
    tables.push(sizes);
  }
  tables.push(await keptSizes(postgres));
  return tables;
}

async function detach(postgres: EmbeddedPostgres, service: AgingService, count: number): Promise<Row[]> {
  const plan = PLANS[service];
  return await withDatabase(postgres, `${service}_${count}`, async (client) => {
    for (const foreignKey of plan.foreignKeys) await client.query(foreignKey);
    const rows: Row[] = [];
    for (const { name } of [...AGING[service]].reverse()) {
      const { rows: counted } = await client.query<{ count: string }>(`select count(*) from ${name}_0`);
      rows.push(
        await timedRow(
          postgres,
          client,
          `${service}: detach ${name}_0`,
          Number(counted[0]?.count),
          `${service}_${count}`,
          async () => {
            await client.query(`alter table ${name} detach partition ${name}_0`);
          },
        ),
      );
      await client.query(`drop table ${name}_0`);
    }
    return rows;
  });
}

async function deleteInCycles(
  postgres: EmbeddedPostgres,
  service: AgingService,
  bounds: readonly number[],
): Promise<{ rows: Row[]; sizes: Row[] }> {
  const plan = PLANS[service];
  const tablesOf = AGING[service].map(({ name }) => name);
  const rows: Row[] = [];
  const sizes = new Map<string, string[]>();
  return await withDatabase(postgres, service, async (client) => {
    const note = async () => {
      const { rows: found } = await client.query<{ name: string; mib: number }>(SIZES, [tablesOf]);
      for (const { name, mib } of found) sizes.set(name, [...(sizes.get(name) ?? []), mib.toFixed(1)]);
    };
    // Acts as the owner of the ledger, who would switch off the trigger that protects its rows.
    if (service === 'wallet') await client.query('set session_replication_role = replica');
    for (const foreignKey of plan.foreignKeys) await client.query(foreignKey);
    await note();
    for (let cycle = 0; cycle < CYCLES; cycle += 1) {
      const range = [leastIdAtMs(bounds[cycle] ?? 0), leastIdAtMs(bounds[cycle + 1] ?? 0)];
      for (const copy of plan.copy) await client.query(withRange(copy, range));
      let removed = 0;
      const row = await timedRow(postgres, client, `${service}: delete, cycle ${cycle + 1}`, 0, service, async () => {
        for (;;) {
          const { rows: page } = await client.query<{ id: string }>(plan.ids, [...range, ROWS_OF_A_BATCH]);
          if (page.length === 0) break;
          await client.query('begin');
          for (const text of plan.remove) await client.query(text, [page.map(({ id }) => id)]);
          await client.query('commit');
          removed += page.length;
        }
      });
      row[1] = removed;
      rows.push(row);
      await client.query(`set vacuum_cost_delay = '2ms'`);
      rows.push(
        await timedRow(
          postgres,
          client,
          `${service}: vacuum at autovacuum’s pace, cycle ${cycle + 1}`,
          removed,
          service,
          async () => {
            for (const name of tablesOf) await client.query(`vacuum ${name}`);
          },
        ),
      );
      await note();
      const laterMs = (bounds.at(-1) ?? 0) - (bounds[0] ?? 0) + 86_400_000;
      for (const refill of plan.refill(laterMs)) await client.query(refill);
      await note();
    }
    const head = [
      'full',
      ...Array.from({ length: CYCLES }, (_, index) => [`deleted ${index + 1}`, `refilled ${index + 1}`]).flat(),
    ];
    return { rows, sizes: [[`${service}: MiB`, ...head], ...[...sizes].map(([name, mib]) => [name, ...mib])] };
  });
}

/** Measures the time and the WAL of the work, while another session updates a row repeatedly. */
async function timedRow(
  postgres: EmbeddedPostgres,
  client: pg.Client,
  name: string,
  count: number,
  database: string,
  work: () => Promise<void>,
): Promise<Row> {
  const writer = await startWriter(postgres, database);
  await new Promise((resolve) => setTimeout(resolve, 300));
  const { rows: before } = await client.query<{ lsn: string }>('select pg_current_wal_insert_lsn() as lsn');
  const startedAt = performance.now();
  await work();
  const seconds = (performance.now() - startedAt) / 1000;
  const { rows: wal } = await client.query<{ mib: number }>(
    'select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), $1)::float8 / 1048576 as mib',
    [before[0]?.lsn],
  );
  const latencies = (await writer.stop()).sort((a, b) => a - b);
  const quantile = (share: number) =>
    (latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0).toFixed(2);
  return [name, count, seconds.toFixed(2), (wal[0]?.mib ?? 0).toFixed(1), quantile(0.5), quantile(0.99), quantile(1)];
}

/** Updates one row repeatedly, under the same table lock that an insert takes. */
async function startWriter(postgres: EmbeddedPostgres, database: string): Promise<{ stop(): Promise<number[]> }> {
  const client = new pg.Client({ connectionString: postgres.url(database) });
  await client.connect();
  await client.query('set session_replication_role = replica');
  const name = database.startsWith('challenge') ? 'attempts' : 'transfers';
  const { rows } = await client.query<{ id: string }>(`select id from ${name} order by id desc limit 1`);
  const latencies: number[] = [];
  let isRunning = true;
  const ended = (async () => {
    while (isRunning) {
      const startedAt = performance.now();
      await client.query({
        name: 'write',
        text: `update ${name} set created_at = created_at where id = $1`,
        values: [rows[0]?.id],
      });
      latencies.push(performance.now() - startedAt);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await client.end();
  })();
  return {
    stop: async () => {
      isRunning = false;
      await ended;
      return latencies;
    },
  };
}

async function keptSizes(postgres: EmbeddedPostgres): Promise<Row[]> {
  return await withDatabase(postgres, 'challenge', async (client) => {
    const { rows } = await client.query<{ name: string; rows: number; bytes: number; index_bytes: number }>(`
      select 'archived_attempts' as name, (select count(*)::float8 from archived_attempts) as rows,
        pg_table_size('archived_attempts')::float8 as bytes, pg_indexes_size('archived_attempts')::float8 as index_bytes
      union all
      select 'attempts', (select count(*) from attempts), pg_table_size('attempts'), pg_indexes_size('attempts')
      union all
      select 'outcomes', (select count(*) from outcomes), pg_table_size('outcomes'), pg_indexes_size('outcomes')`);
    return [
      ['bytes of a row', 'table', 'indexes'],
      ...rows.map(({ name, rows: count, bytes, index_bytes }) => [
        name,
        Math.round(bytes / count),
        Math.round(index_bytes / count),
      ]),
    ];
  });
}

function withRange(text: string, [from, to]: readonly (string | undefined)[]): string {
  return text.replaceAll('$1', `'${from}'`).replaceAll('$2', `'${to}'`);
}
