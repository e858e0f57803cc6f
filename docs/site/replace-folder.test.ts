import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

/** Replaces a folder 100 times with one that has two files. */
const REPLACE = `
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFolder } from ${JSON.stringify(new URL('./replace-folder.ts', import.meta.url).href)};

const folder = process.argv[1];
const work = mkdtempSync(join(folder, 'work-'));
for (let round = 0; round < 100; round++) {
  const built = join(work, 'built');
  mkdirSync(built);
  for (const name of ['a', 'b']) writeFileSync(join(built, name), '');
  replaceFolder(join(folder, 'place'), built, work);
}
`;

test('if several processes replace a folder at once, all succeed and one complete folder remains', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'laurel-replace-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const replace = () => promisify(execFile)(process.execPath, ['--input-type=module', '--eval', REPLACE, folder]);
  await Promise.all([replace(), replace()]);
  expect(readdirSync(join(folder, 'place')).toSorted()).toEqual(['a', 'b']);
});
