/**
 * Checks a service's README. All READMEs have the same sections: "What it owns" names every table
 * and rpc, "Configuration" has a row for every setting of the schema, with its default, and "Health
 * and metrics" names every metric.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const ROOT = new URL('../../../', import.meta.url);
/** The sections are in this order; a service may add others in between. */
const SECTIONS = ['What it owns', 'What a crash leaves', 'Configuration', 'Health and metrics', 'Running it alone'];
const ROW = /^\| `([A-Z0-9_]+)` +\| (.*?) +\| (.*?) +\| (.*?) +\|$/gm;
/** A metric that every README must explain: what waits in the queues of its service. */
const SCALING_METRIC = 'laurel_oldest_waiting_call_seconds';
const METRIC = /\b(?:counter|gauge|histogram)(?:<\w+>)?\(\s*'(laurel_\w+)'/g;

/** Every difference between the README and the service, as a sentence; empty if there is none. */
export function readmeIssues(service: string, schema: z.ZodObject): readonly string[] {
  const folder = new URL(`services/${service}/`, ROOT);
  const readme = readFileSync(new URL('README.md', folder), 'utf8');
  const section = (title: string) => sectionOf(readme, title);
  return [
    ...issuesOfSections(readme),
    ...issuesOfSettings(section('Configuration'), schema),
    ...missing('table', tablesOf(folder), section('What it owns')),
    ...missing('rpc', rpcsOf(service), section('What it owns')),
    ...missing('metric', [...metricsOf(folder), SCALING_METRIC], section('Health and metrics')),
  ];
}

function issuesOfSections(readme: string): readonly string[] {
  const titles = [...readme.matchAll(/^## (.+)$/gm)].map(([, title]) => title ?? '');
  const found = titles.filter((title) => SECTIONS.includes(title));
  return found.join() === SECTIONS.join()
    ? []
    : [`the sections are ${found.join(', ')} and not ${SECTIONS.join(', ')}`];
}

function sectionOf(readme: string, title: string): string {
  const [, after = ''] = readme.split(`\n## ${title}\n`);
  return after.split('\n## ')[0] ?? '';
}

function issuesOfSettings(section: string, schema: z.ZodObject): readonly string[] {
  const written = new Map([...section.matchAll(ROW)].map(([, name = '', initial = '']) => [name, initial]));
  const issues = [...written.keys()]
    .filter((name) => !(name in schema.shape))
    .map((name) => `${name} is not a setting of the service`);
  for (const [name, type] of Object.entries(schema.shape)) {
    const expected = defaultOf(type);
    const actual = written.get(name);
    if (actual === undefined) issues.push(`the setting ${name} has no row`);
    else if (actual !== expected) issues.push(`the default of ${name} is "${expected}" and not "${actual}"`);
  }
  return issues;
}

/**
 * Returns the text of the README's cell for a setting: `required`, nothing, or the default as an
 * environment value in backticks.
 */
export function defaultOf(type: z.core.$ZodType): string {
  if (type instanceof z.ZodDefault || type instanceof z.ZodPrefault) {
    const text = String(type.def.defaultValue);
    return text === '' ? '' : `\`${text}\``;
  }
  if (type instanceof z.ZodPipe) return defaultOf(type.def.in);
  return type instanceof z.ZodOptional ? '' : 'required';
}

export function tablesOf(folder: URL): readonly string[] {
  const schema = readFileSync(new URL('schema.sql', folder), 'utf8');
  return [...schema.matchAll(/^CREATE (?:UNLOGGED )?TABLE public\.(\w+)/gm)].map(([, name]) => name ?? '');
}

function rpcsOf(service: string): readonly string[] {
  const file = new URL(`proto/laurel/${service}/v1/${service}.proto`, ROOT);
  if (!existsSync(file)) return [];
  return [...readFileSync(file, 'utf8').matchAll(/^ {2}rpc (\w+)\(/gm)].map(([, name]) => name ?? '');
}

function metricsOf(folder: URL): readonly string[] {
  const files = globSync('src/**/*.ts', { cwd: fileURLToPath(folder) }).filter(
    (file) => !/\.(?:test|fixture)\.ts$/.test(file),
  );
  const sources = files.map((file) => readFileSync(new URL(file, folder), 'utf8'));
  return sources.flatMap((source) => [...source.matchAll(METRIC)].map(([, name]) => name ?? ''));
}

function missing(what: string, names: readonly string[], section: string): readonly string[] {
  return names.filter((name) => !section.includes(`\`${name}\``)).map((name) => `the ${what} ${name} is not named`);
}
