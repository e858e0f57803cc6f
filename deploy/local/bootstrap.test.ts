/** Runs the set-up in its own checkout, in which nothing is installed. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { identifyProcess } from '@laurel/local-infrastructure/inspect-process';
import { afterEach, beforeEach, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FILES = ['deploy/local/bootstrap.mjs', 'libs/local-infrastructure/src/inspect-process.mjs'];

const bootstrapIn = (folder: string) => join(folder, 'deploy/local/bootstrap.mjs');

let checkout: string;
let lock: string;
beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), 'laurel-bootstrap-'));
  lock = join(checkout, '.laurel', 'setup.lock');
  mkdirSync(dirname(lock));
  for (const file of FILES) cpSync(join(ROOT, file), join(checkout, file), { recursive: true });
});
afterEach(() => rmSync(checkout, { recursive: true }));

/** Without a lockfile the set-up fails with one sentence as soon as it has the lock. */
async function setUp(): Promise<string> {
  const ended = await promisify(execFile)(process.execPath, [bootstrapIn(checkout)]).catch(
    (error: { stderr: string }) => error,
  );
  return ended.stderr;
}

const MISSING = 'package-lock.json is missing or damaged: restore it with "git checkout package-lock.json"';

test.each([
  ['of a process that has exited', `${2 ** 22 + 1} boot 1\n`],
  ['of a process whose id another process has now', `${process.pid} another-boot 1\n`],
  ['that a full disk left empty', ''],
  ['that is damaged', '{'],
])('the set-up takes over a lock %s', async (_, content) => {
  writeFileSync(lock, content);
  expect(await setUp()).toContain(MISSING);
  expect(readdirSync(dirname(lock))).toEqual([]);
});

test('the set-up waits while the process that holds the lock runs', async () => {
  writeFileSync(lock, `${identifyProcess(process.pid)}\n`);
  const child = spawn(process.execPath, [bootstrapIn(checkout)], { stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  await expect.poll(() => output).toContain('Another command is setting up this checkout; waiting for it ...');
  expect(output).not.toContain(MISSING);
  rmSync(lock);
  await once(child, 'close');
  expect(output).toContain(MISSING);
});

test.each(['', '{"packages":', 'null', '{}'])(
  'the set-up refuses a lockfile that contains %j and names the file',
  async (content) => {
    writeFileSync(join(checkout, 'package-lock.json'), content);
    const output = await setUp();
    expect(output).toContain(`${join(checkout, 'package-lock.json')} is missing or damaged`);
    expect(output).not.toContain('at ');
    expect(existsSync(lock)).toBe(false);
    expect(readFileSync(join(checkout, 'package-lock.json'), 'utf8')).toBe(content);
  },
);
