// Refuses a migration that adds a column to a table if a statement of the previous release returns
// the table's columns by `*`: `select *`, `r.*`, `returning *`.
//
// Replicas of the previous release run on after the migrations, and their connections have prepared
// the statement. PostgreSQL refuses the statement once: "cached plan must not change result type".
// Outside of a transaction @laurel/postgres prepares the statement again. Within a transaction the
// call fails, because the transaction may have decided something already.
//
// - The previous release is the commit that tests/rolling/previous-release.ts names. Services that
//   tests/rolling/rolling.test.ts stops before their migrations are not checked.
// - The statements are the texts in `src/repository/` of the release's services and libraries. A
//   fragment of a statement counts as a statement.
// - A `*` counts if its columns reach the result. A `*` in a subquery or a `with` counts only if
//   the query around it returns all columns of the subquery. PostgreSQL plans other statements
//   again without an error.
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseSync, Visitor } from 'oxc-parser';

const RELEASE_FILE = 'tests/rolling/previous-release.ts';
const STOPPED_FILE = 'tests/rolling/rolling.test.ts';
const STATEMENTS = /^(?:services|libs)\/[^/]+\/src\/repository\/(?!.*\.(?:test|fixture)\.ts$).*\.ts$/;
const MIGRATION = /^services\/(?<service>[^/]+)\/migrations\/[^/]+\.sql$/;
/**
 * A file of a service. The statements of a library's files are on tables of the services that use
 * the library.
 */
const SERVICE = /^services\/(?<service>[^/]+)\//;

/**
 * Returns the tables whose every column the statement returns. A fragment that names no table
 * yields its aliases, such as `c.*`.
 */
export function returnedTables(sql) {
  const { text, inner } = flatten(sql.replace(/--.*$/gm, ' ').replace(/'(?:[^']|'')*'/g, "''"));
  return new Set(returnedBy(text, { inner, queries: new Map() }));
}

/** Replaces every pair of parentheses by a number between `§`, from the innermost pair outwards. */
function flatten(sql) {
  const inner = [];
  let text = sql.replace(/\s+/g, ' ').toLowerCase();
  for (let before = ''; before !== text; ) {
    before = text;
    text = text.replace(/\(([^()]*)\)/g, (_, content) => `§${inner.push(content) - 1}§`);
  }
  return { text, inner };
}

const WITH = /\b(?<name>[a-z_]\w*) ?(?:§\d+§ ?)?as (?:not )?(?:materialized )?§(?<index>\d+)§/g;
const LOCKING = /\bfor (?:no key )?(?:update|share)\b/g;
const FROM = /\bfrom\b.*?(?=\b(?:where|group|order|limit|offset|returning|union|window|for|from)\b|$)/g;
const ALIAS =
  /(?: (?:as )?(?<alias>(?!(?:cross|inner|left|right|full|join|on|using|set|where|default|values|select)\b)[a-z_]\w*))?/;
const TABLE = /(?:only )?(?:public\.)?(?<name>[a-z_]\w*\b(?!§))/;
/**
 * Matches what a statement reads: a table, a query in parentheses, or a name of the `with`, but no
 * function.
 */
const READ = new RegExp(
  `(?:\\bfrom\\b|\\bjoin\\b|,) ?(?:lateral )?(?:§(?<index>\\d+)§|${TABLE.source})${ALIAS.source}`,
  'g',
);
const WRITTEN = new RegExp(`\\b(?:into|update) (?!set\\b)${TABLE.source}${ALIAS.source}`, 'g');
const STAR = /(?:^|\b(?:select|returning|distinct)|,) ?(?:(?<alias>[a-z_]\w*)\.)?\*/g;

function returnedBy(text, { inner, queries: outer }) {
  const queries = new Map(outer);
  const isWith = /^ ?with\b/.test(text);
  if (isWith) for (const { groups } of text.matchAll(WITH)) queries.set(groups.name, inner[groups.index]);
  const main = (isWith ? text.replace(WITH, ' ') : text).replace(LOCKING, ' for ');
  const read = [...main.matchAll(FROM)].flatMap(([clause]) => [...clause.matchAll(READ)]);
  const written = [...main.matchAll(WRITTEN)];
  const [selected, returning = ''] = main.split(/(?=\breturning\b)/);
  const tablesOf = ({ index, name }) => {
    if (index !== undefined) return returnedBy(inner[index], { inner, queries });
    const query = queries.get(name);
    // A query is resolved without its own name, so that a recursive query ends.
    const others = new Map([...queries].filter(([other]) => other !== name));
    return query === undefined ? [name] : returnedBy(query, { inner, queries: others });
  };
  const tablesOfStars = (list, matches) => {
    const sources = matches.map(({ groups }) => groups);
    return [...list.matchAll(STAR)].flatMap(({ groups: { alias } }) => {
      const named = alias === undefined ? sources : sources.filter((it) => (it.alias ?? it.name) === alias);
      const isFragment = alias !== undefined && named.length === 0 && !main.includes('from ');
      return isFragment ? [`${alias}.*`] : named.flatMap(tablesOf);
    });
  };
  return [...tablesOfStars(selected, read), ...tablesOfStars(returning, [...written, ...read])];
}

/** Returns the tables from which a statement of this source file selects `*`. */
export function tablesOfSource(name, source) {
  const texts = textsOf(name, source);
  const found = texts.flatMap((text) => [...returnedTables(text)]);
  return new Set(
    found.flatMap((table) => {
      if (!table.endsWith('.*')) return [table];
      const alias = table.slice(0, -2);
      const named = texts.flatMap((text) => [
        ...text.matchAll(new RegExp(`\\b(?:from|join|update|into)\\s+(\\w+)\\s+(?:as\\s+)?${alias}\\b`, 'gi')),
      ]);
      return named.map(([, other]) => other.toLowerCase());
    }),
  );
}

/** Returns the string literals of a source file, with a space in place of every `${…}`. */
function textsOf(name, source) {
  const texts = [];
  const { program, errors } = parseSync(name, source);
  if (errors.length > 0) throw new Error(`${name} does not parse: ${errors[0].message}`);
  new Visitor({
    Literal: ({ value }) => void (typeof value === 'string' && texts.push(value)),
    TemplateLiteral: ({ quasis }) => void texts.push(quasis.map(({ value }) => value.cooked).join(' ')),
  }).visit(program);
  return texts;
}

const ALTER = /\balter table (?:if exists )?(?:only )?(?:public\.)?"?(?<table>\w+)"?(?<changes>[^;]*);/gi;
const ADD = /\badd (?!constraint\b|primary\b|unique\b|foreign\b|check\b|exclude\b)/i;

/** Returns the tables to which a migration adds columns. */
export function widenedTables(sql) {
  const text = sql.replace(/--.*$/gm, ' ').replace(/\s+/g, ' ');
  const widened = [...text.matchAll(ALTER)].filter(({ groups }) => ADD.test(groups.changes));
  return new Set(widened.map(({ groups }) => groups.table.toLowerCase()));
}

/**
 * Returns the problems, one line each. `migrations` are the migrations since the previous release,
 * and `sources` are that release's files with statements, both by path.
 */
export function problemsOf({ migrations, sources }) {
  const reads = [...sources].flatMap(([path, source]) =>
    [...tablesOfSource(path, source)].map((table) => ({ path, table, service: SERVICE.exec(path)?.groups.service })),
  );
  return [...migrations].flatMap(([path, sql]) => {
    const { service } = MIGRATION.exec(path).groups;
    return [...widenedTables(sql)].flatMap((table) => {
      const readers = reads.filter((read) => read.table === table && (read.service ?? service) === service);
      if (readers.length === 0) return [];
      return [
        `${path} adds a column to ${table}, of which the previous release returns every column ` +
          `(${readers.map((read) => read.path).join(', ')}): add a table, or the column a release later`,
      ];
    });
  });
}

function git(...args) {
  return execFileSync('git', args, { encoding: 'utf8', maxBuffer: 1e9 });
}

function readConstant(file, pattern) {
  const value = pattern.exec(readFileSync(file, 'utf8'))?.groups.value;
  if (value === undefined) throw new Error(`${file} has no ${pattern.source}`);
  return value;
}

function main() {
  process.chdir(join(import.meta.dirname, '..'));
  const release = readConstant(RELEASE_FILE, /PREVIOUS_RELEASE = '(?<value>[0-9a-f]{40})'/);
  const stopped = readConstant(STOPPED_FILE, /STOPPED_TO_MIGRATE\b.*= \[(?<value>.*)\]/);
  if (spawnSync('git', ['cat-file', '-e', `${release}^{commit}`]).status !== 0) {
    console.log(`SKIPPED: this clone does not contain the previous release, commit ${release}.`);
    return;
  }
  const released = git('ls-tree', '-r', '--name-only', release).split('\n');
  const sources = new Map(
    released.filter((path) => STATEMENTS.test(path)).map((path) => [path, git('show', `${release}:${path}`)]),
  );
  const present = git('ls-files', '--cached', '--others', '--exclude-standard').split('\n');
  const added = present.filter((path) => MIGRATION.test(path) && !released.includes(path));
  const running = added.filter((path) => !stopped.includes(`'${MIGRATION.exec(path).groups.service}'`));
  const migrations = new Map(running.map((path) => [path, readFileSync(path, 'utf8')]));
  const problems = problemsOf({ migrations, sources });
  for (const problem of problems) console.error(problem);
  console.log(`${migrations.size} migrations after the previous release, ${sources.size} files with its statements`);
  // A check that reads no statement is broken.
  process.exitCode = problems.length === 0 && sources.size > 0 ? 0 : 1;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main();
