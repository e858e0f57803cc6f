/**
 * Checks a service's section of docs/operations/retention.md against the service: its tables, its
 * settings with their defaults, its workers, and what its role may delete.
 */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { z } from 'zod';
import { defaultOf, tablesOf } from './service-readme.ts';

const ROOT = new URL('../../../', import.meta.url);
const PAGE = new URL('docs/operations/retention.md', ROOT);
const ROW = /^\| `(?<table>\w+)` +\|(?<holds>[^|]+)\|(?<kept>[^|]+)\|(?<removed>[^|]+)\|/gm;
/** Matches a setting, as in ``30 days, `WEBHOOK_LOG_RETENTION_DAYS` ``. */
const SETTING = /(?:(?<value>\d+) \w+, )?`(?<name>[A-Z][A-Z0-9_]+)`/g;
const WORKER = /`(?<name>[a-z]+(?:-[a-z]+)+)`/g;
const STARTED = /\bname: '([a-z-]+)'/g;
const MAY_DELETE = /^grant [^;]*?\bdelete\b[^;]*? on (?<tables>[\w, ]+) to /gms;

/**
 * Returns every difference between the page and the service, as a sentence; empty if there is none.
 * Only the test of this check passes `page`.
 */
export function retentionIssues(
  service: string,
  schema: z.ZodObject,
  page: string = readFileSync(PAGE, 'utf8'),
): readonly string[] {
  const folder = new URL(`services/${service}/`, ROOT);
  const rows = rowsOf(page, service);
  const written = rows.map(({ table }) => table);
  const tables = tablesOf(folder);
  const deletable = deletableTables(folder);
  const workers = workersOf(service);
  return [
    ...tables.filter((table) => !written.includes(table)).map((table) => `the table ${table} has no row`),
    ...written.filter((table) => !tables.includes(table)).map((table) => `${table} is not a table of the service`),
    ...written.filter((table, index) => written.indexOf(table) !== index).map((table) => `${table} has two rows`),
    ...rows.flatMap(({ table, kept }) => issuesOfSettings(table, kept, schema)),
    ...rows.flatMap(({ table, removed }) =>
      [...removed.matchAll(WORKER)]
        .map(({ groups }) => groups?.name ?? '')
        .filter((name) => !workers.has(name))
        .map((name) => `${table} is removed by ${name}, which is not a worker of the service`),
    ),
    ...rows
      .filter(({ table, removed }) => removed === '' && deletable.has(table))
      .map(({ table }) => `the service may delete from ${table}, and its row does not say what it deletes`),
  ];
}

interface Row {
  readonly table: string;
  readonly kept: string;
  readonly removed: string;
}

function rowsOf(page: string, service: string): readonly Row[] {
  const [, after = ''] = page.split(`\n## ${service.slice(0, 1).toUpperCase()}${service.slice(1)}\n`);
  const section = after.split('\n## ')[0] ?? '';
  return [...section.matchAll(ROW)].map(({ groups: { table = '', kept = '', removed = '' } = {} }) => ({
    table,
    kept: kept.trim(),
    removed: removed.trim(),
  }));
}

function issuesOfSettings(table: string, kept: string, schema: z.ZodObject): readonly string[] {
  return [...kept.matchAll(SETTING)].flatMap(({ groups: { name = '', value = '' } = {} }) => {
    const type = schema.shape[name];
    if (type === undefined) return [`${table} is kept by ${name}, which is not a setting of the service`];
    const initial = defaultOf(type);
    return initial === `\`${value}\`` ? [] : [`${table} names ${value || 'no number'} for ${name}: it is ${initial}`];
  });
}

function deletableTables(folder: URL): ReadonlySet<string> {
  const grants = readFileSync(new URL('grants.sql', folder), 'utf8');
  return new Set([...grants.matchAll(MAY_DELETE)].flatMap(({ groups }) => groups?.tables?.split(/, */) ?? []));
}

/** Returns the names of the workers that the service or its libraries start. */
function workersOf(service: string): ReadonlySet<string> {
  const root = fileURLToPath(ROOT);
  const files = globSync([`services/${service}/src/**/*.ts`, 'libs/{attempts,service,postgres}/src/**/*.ts'], {
    cwd: root,
  });
  const sources = files.filter((file) => !/\.(?:test|fixture)\.ts$/.test(file));
  return new Set(
    sources.flatMap((file) =>
      [...readFileSync(new URL(file, ROOT), 'utf8').matchAll(STARTED)].map(([, name]) => name ?? ''),
    ),
  );
}
