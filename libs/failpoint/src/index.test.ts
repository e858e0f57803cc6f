import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

const NAME = 'wallet.charge.before-commit';
let directory = '';

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'laurel-failpoint-'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true, force: true });
});

/** The library, loaded in a process that was started with this folder, or with none. */
async function load(folder: string | undefined): Promise<typeof import('./index.ts')> {
  vi.stubEnv('FAILPOINTS_DIR', folder);
  vi.resetModules();
  return await import('./index.ts');
}

const arm = (action: string) => writeFileSync(join(directory, NAME), action);

test('a process without the failpoint folder reads no files', async () => {
  const { failpoint } = await load(undefined);
  arm('throw');
  expect(failpoint(NAME)).toBeUndefined();
  expect(existsSync(join(directory, NAME))).toBe(true);
});

test('a failpoint that is not armed does nothing', async () => {
  const { failpoint } = await load(directory);
  expect(failpoint(NAME)).toBeUndefined();
});

test('an armed failpoint throws once', async () => {
  const { failpoint } = await load(directory);
  arm('throw\n');
  expect(() => failpoint(NAME)).toThrow('failpoint wallet.charge.before-commit');
  expect(failpoint(NAME)).toBeUndefined();
});

test('a failpoint with lose-reply throws its own error', async () => {
  const { failpoint, LostReplyError } = await load(directory);
  arm('lose-reply');
  expect(() => failpoint(NAME)).toThrow(LostReplyError);
});

test('a failpoint with a delay waits', async () => {
  const { failpoint } = await load(directory);
  arm('delay:30');
  const before = performance.now();
  await failpoint(NAME);
  expect(performance.now() - before).toBeGreaterThanOrEqual(29);
});

test('an unknown failpoint action throws', async () => {
  const { failpoint } = await load(directory);
  arm('explode');
  expect(() => failpoint(NAME)).toThrow('"explode", which is not an action');
});

test('a failpoint with kill ends the process without a further step', () => {
  arm('kill');
  const script = `
    const { failpoint } = await import(${JSON.stringify(new URL('./index.ts', import.meta.url).href)});
    console.log('before');
    failpoint('${NAME}');
    console.log('after');`;
  const { signal, stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    env: { ...process.env, FAILPOINTS_DIR: directory },
    encoding: 'utf8',
  });
  expect([signal, stdout]).toEqual(['SIGKILL', 'before\n']);
});
