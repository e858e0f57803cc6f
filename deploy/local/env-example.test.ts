import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { SERVICES } from './stack/services.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const namesOf = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name]) => name ?? '');

const COMPOSE = read('docker-compose.yml').replaceAll(/^\s*#.*$/gm, '');
const EXAMPLE = read('.env.example');
/** Variables of the machine, and one that npm sets for the command. */
const OTHER_VARIABLES = ['PATH', 'INIT_CWD'];

function settingsOfStart(): readonly string[] {
  const sources = globSync('deploy/local/{*,stack/*,demo/*}.ts', { cwd: ROOT }).filter(
    (file) => !file.endsWith('.test.ts'),
  );
  const inSources = sources.flatMap((file) => namesOf(read(file), /\b(?:process\.env|environment)\.([A-Z][A-Z_]+)/g));
  const databases = SERVICES.flatMap(({ name }) => [
    `${name.toUpperCase()}_DATABASE_URL`,
    `${name.toUpperCase()}_MIGRATION_DATABASE_URL`,
  ]);
  return [...SERVICES.flatMap(({ settings }) => settings), ...databases, ...inSources];
}

test('.env.example names exactly the settings that docker compose and npm start read', () => {
  const inCompose = namesOf(COMPOSE, /\$\{([A-Z_]+)/g);
  // A build argument without a value comes from the environment of compose.
  const inBuilds = namesOf(COMPOSE, /args: \{ ([A-Z_]+),/g);
  const expected = new Set(
    [...inCompose, ...inBuilds, ...settingsOfStart()].filter((name) => !OTHER_VARIABLES.includes(name)),
  );
  const named = namesOf(EXAMPLE, /^#?([A-Z][A-Z0-9_]*)=/gm);
  expect(named.toSorted()).toEqual([...expected].toSorted());
});

test('.env.example leaves empty exactly the settings that docker compose requires', () => {
  const required = new Set(namesOf(COMPOSE, /\$\{([A-Z_]+):\?/g));
  const lines = [...EXAMPLE.matchAll(/^([A-Z][A-Z0-9_]*)=(.*)$/gm)].map(([, name = '', value]) => [name, value]);
  expect(lines.toSorted()).toEqual([...required].toSorted().map((name) => [name, '']));
});

test('.env.example shows the defaults that the services have', () => {
  const readmes = globSync('services/*/README.md', { cwd: ROOT }).map(read).join('\n');
  const defaults = new Map(
    [...readmes.matchAll(/^\| `([A-Z0-9_]+)` +\| (?:`(.*?)`)? +\|/gm)].map(([, name = '', value = '']) => [
      name,
      value,
    ]),
  );
  const shown = [...EXAMPLE.matchAll(/^#([A-Z][A-Z0-9_]*)=(.*)$/gm)].map(
    ([, name = '', value]) => [name, value] as const,
  );
  const wrong = shown.filter(([name, value]) => defaults.has(name) && defaults.get(name) !== value);
  expect(wrong).toEqual([]);
  expect(shown.filter(([name]) => defaults.has(name)).length).toBeGreaterThan(30);
});
