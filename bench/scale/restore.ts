/**
 * Writes the wallet's database out table by table, and reads it into a new database, as pg_dump and
 * pg_restore would. The server's package lacks these programs.
 */
import { chmodSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { withoutIndexes } from './deferred-indexes.ts';
import type { Figure } from './figures.ts';

const RESTORED = 'restored_wallet';
const TEMPLATES = `select datname as name from pg_database where datname like 'template\\_%' and datname !~ '_draft$'`;
const IS_WALLET = `select to_regclass('public.ledger_accounts') is not null as yes`;
const TABLES = `
  select oid::regclass::text as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace order by 1`;

export async function measureRestore(
  superuserUrl: string,
  walletUrl: string,
  directory: string,
): Promise<readonly Figure[]> {
  const folder = join(directory, 'written-out');
  mkdirSync(folder);
  // The server may run as another user.
  chmodSync(folder, 0o777);
  const fileOf = (table: string) => join(folder, table);
  const open = async <Result>(database: string, work: (client: pg.Client) => Promise<Result>): Promise<Result> => {
    const client = new pg.Client({ connectionString: withPath(superuserUrl, database) });
    await client.connect();
    try {
      await client.query(`set session_replication_role = replica`);
      await client.query(`set maintenance_work_mem = '1GB'`);
      return await work(client);
    } finally {
      await client.end();
    }
  };
  try {
    const wroteFrom = performance.now();
    const tables = await open(new URL(walletUrl).pathname, async (client) => {
      const { rows } = await client.query<{ name: string }>(TABLES);
      await client.query('begin isolation level repeatable read');
      for (const { name } of rows) await client.query(`copy ${name} to '${fileOf(name)}' (format binary)`);
      return rows.map(({ name }) => name);
    });
    const readFrom = performance.now();
    const bytes = tables.reduce((sum, table) => sum + statSync(fileOf(table)).size, 0);
    await open('postgres', async (client) => {
      const { rows } = await client.query<{ name: string }>(TEMPLATES);
      for (const { name } of rows) {
        const isWallet = await open(name, async (of) => (await of.query<{ yes: boolean }>(IS_WALLET)).rows[0]?.yes);
        if (isWallet) await client.query(`create database ${RESTORED} template ${name}`);
      }
    });
    await open(RESTORED, async (client) => {
      await client.query(`truncate ${tables.join(', ')}`);
      await withoutIndexes(client, tables, async () => {
        for (const table of tables) await client.query(`copy ${table} from '${fileOf(table)}' (format binary)`);
      });
      await client.query('analyze');
    });
    const end = performance.now();
    return [
      { name: "wallet's database written out", seconds: (readFrom - wroteFrom) / 1000, mib: bytes / 2 ** 20 },
      { name: "wallet's database restored: rows, indexes, keys", seconds: (end - readFrom) / 1000 },
    ];
  } finally {
    await open('postgres', (client) => client.query(`drop database if exists ${RESTORED}`));
    rmSync(folder, { recursive: true, force: true });
  }
}

function withPath(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = database;
  return url.href;
}
