import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { StartFailure } from './start-failure.ts';
import { type ProcessShape, restartDelayMs, rotateLog, supervise } from './supervisor.ts';

let directory: string;
let pids: (number | undefined)[];
let said: string[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'laurel-supervisor-'));
  pids = [];
  said = [];
});

afterEach(() => rmSync(directory, { recursive: true }));

test('the pause before a restart doubles from 0.25 s to at most 15 s', () => {
  expect([1, 2, 3, 4, 5, 6, 7, 8, 50].map(restartDelayMs)).toEqual([
    250, 500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000,
  ]);
});

test('a process that dies is started again, and the user is told', async () => {
  const supervised = supervise(script('setInterval(() => {}, 1000)'), (line) => said.push(line));
  await supervised.firstReady;
  const [first] = pids;
  process.kill(first as number, 'SIGKILL');
  await expect.poll(() => said.length, { timeout: 5000 }).toBe(2);
  expect(said).toEqual([
    `sample ended by itself (SIGKILL); starting it again in 0.25 s. Its log: ${join(directory, 'sample.log')}`,
    expect.stringMatching(/^sample is ready again \(pid \d+\)\.$/),
  ]);
  await supervised.stop();
  expect(pids).toEqual([first, undefined, expect.any(Number), undefined]);
});

test('a process that never becomes ready is given up after three lives, with its last words', async () => {
  const supervised = supervise(
    script('console.log("PORT: is missing"); process.exit(1)', async () => false),
    (line) => said.push(line),
  );
  const failure = await supervised.firstReady.catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(StartFailure);
  expect((failure as Error).message).toContain('sample does not start (exit code 1)');
  expect(said.at(-1)).toContain('PORT: is missing');
  expect(pids.filter((pid) => pid !== undefined)).toHaveLength(3);
  await supervised.stop();
});

test('stop ends a process with SIGTERM and starts nothing afterwards', async () => {
  const supervised = supervise(
    script(
      'process.on("SIGTERM", () => { console.log("drained"); process.exit(0); }); console.log("up"); setInterval(() => {}, 1000)',
      isUp,
    ),
    (line) => said.push(line),
  );
  await supervised.firstReady;
  await supervised.stop();
  expect(readFileSync(join(directory, 'sample.log'), 'utf8')).toBe('up\ndrained\n');
  expect(said).toEqual([]);
  expect(pids).toHaveLength(2);
});

test('a log is moved aside once it is larger than 10 MiB', () => {
  const file = join(directory, 'grown.log');
  rotateLog(file);
  writeFileSync(file, 'small');
  rotateLog(file);
  expect(readFileSync(file, 'utf8')).toBe('small');
  truncateSync(file, 10 * 1024 * 1024 + 1);
  rotateLog(file);
  expect(() => readFileSync(file)).toThrow('ENOENT');
});

function script(source: string, isReady: () => Promise<boolean> = async () => true): ProcessShape {
  return {
    name: 'sample',
    file: process.execPath,
    args: ['-e', source],
    environment: {},
    workingDirectory: directory,
    logFile: join(directory, 'sample.log'),
    holdsChannel: false,
    isReady,
    onPid: (_name, pid) => pids.push(pid),
  };
}

async function isUp(): Promise<boolean> {
  return readFileSync(join(directory, 'sample.log'), 'utf8').includes('up');
}
