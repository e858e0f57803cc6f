import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sourceFolders, watchSources } from './watch-sources.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

let folder: string;
let watching: Disposable | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'laurel-watch-'));
  mkdirSync(join(folder, 'src', 'domain'), { recursive: true });
  mkdirSync(join(folder, 'migrations'));
  writeFileSync(join(folder, 'src', 'main.ts'), '');
});

afterEach(() => {
  watching?.[Symbol.dispose]();
  rmSync(folder, { recursive: true });
});

test('the sources of a service are its own folder and its direct and transitive libraries', () => {
  const folders = sourceFolders(ROOT, 'wallet');
  expect(folders).toContain(join(ROOT, 'services', 'wallet'));
  expect(folders).toContain(join(ROOT, 'libs', 'values'));
  expect(folders).not.toContain(join(ROOT, 'services', 'gateway'));
  expect(folders).not.toContain(join(ROOT, 'libs', 'testing'));
});

test('sources that change together cause one call', async () => {
  const { change, expectCall } = watched();
  change('src/main.ts');
  writeFileSync(join(folder, 'src', 'domain', 'draft'), 'export {};');
  renameSync(join(folder, 'src', 'domain', 'draft'), join(folder, 'src', 'domain', 'fee.ts'));
  change('migrations/0001_create.sql');
  expect(await expectCall()).toEqual(['migrations/0001_create.sql', 'src/domain/fee.ts', 'src/main.ts']);

  mkdirSync(join(folder, 'src', 'handlers'));
  change('src/main.ts');
  expect(await expectCall()).toEqual(['src/main.ts']);
  change('src/handlers/deposit.ts');
  expect(await expectCall()).toEqual(['src/handlers/deposit.ts']);
});

test('changes to tests, derived files and Markdown files do not restart a service', async () => {
  const { change, expectCall } = watched();
  for (const name of ['src/main.test.ts', 'src/wallet.fixture.ts', 'schema.sql', 'README.md']) change(name);
  change('src/main.ts');
  expect(await expectCall()).toEqual(['src/main.ts']);
});

function watched() {
  let call = Promise.withResolvers<readonly string[]>();
  watching = watchSources([folder], (files) => call.resolve(files));
  return {
    change: (name: string) => writeFileSync(join(folder, name), 'changed'),
    async expectCall() {
      const files = await call.promise;
      call = Promise.withResolvers();
      return files.map((file) => file.slice(folder.length + 1)).toSorted();
    },
  };
}
