import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parseDocument, routesOf } from './document.ts';
import { sdkSample } from './samples.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const ROUTES = routesOf(parseDocument(readFileSync(new URL('../../openapi/partner-v1.yaml', import.meta.url), 'utf8')));

/** Inside the repository, where imports find `@laurel/sdk`. */
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(fileURLToPath(new URL('../.work-', import.meta.url)));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('every sample of the SDK compiles, and one with a misspelt member does not', () => {
  const samples = ROUTES.flatMap((route) => sdkSample(route) ?? []);
  expect(samples.length).toBeGreaterThan(10);
  expect(compile(samples)).toBe('');
  const misspelt = samples.map((sample) => sample.replace('player_ref:', 'playerRef:'));
  expect(compile(misspelt)).toContain('playerRef');
});

/** What the compiler says of the programs with a partner's strict settings. */
function compile(programs: readonly string[]): string {
  const options = { extends: join(ROOT, 'tsconfig.base.json'), compilerOptions: { noUnusedLocals: false } };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ ...options, include: ['*.ts'] }));
  for (const [index, program] of programs.entries()) writeFileSync(join(folder, `sample-${index}.ts`), program);
  return spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8' }).stdout;
}
