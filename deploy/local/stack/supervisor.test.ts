import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { StartFailure } from './start-failure.ts';
import { type ProcessShape, restartDelayMs, supervise } from './supervisor.ts';
import { watchSources } from './watch-sources.ts';

let directory: string;
let pids: (number | undefined)[];
let printed: string[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'laurel-supervisor-'));
  pids = [];
  printed = [];
});

afterEach(() => rmSync(directory, { recursive: true }));

test('the pause before a restart doubles from 0.25 s up to 15 s', () => {
  expect([1, 2, 3, 4, 5, 6, 7, 8, 50].map(restartDelayMs)).toEqual([
    250, 500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000,
  ]);
});

test('the supervisor restarts a process that dies', async () => {
  const supervised = supervise(script('setInterval(() => {}, 1000)'), (line) => printed.push(line));
  await supervised.firstReady;
  const [first] = pids;
  process.kill(first as number, 'SIGKILL');
  await expect.poll(() => printed.length, { timeout: 5000 }).toBe(2);
  expect(printed).toEqual([
    `sample ended by itself (SIGKILL); starting it again in 0.25 s. Its log: ${join(directory, 'sample.log')}`,
    expect.stringMatching(/^sample is ready again \(pid \d+\)\.$/),
  ]);
  await supervised.stop();
  expect(pids).toEqual([first, undefined, expect.any(Number), undefined]);
});

test('the supervisor gives up on a process that is not ready after three starts', async () => {
  const supervised = supervise(
    script('console.log("PORT: is missing"); process.exit(1)', async () => false),
    (line) => printed.push(line),
  );
  const failure = await supervised.firstReady.catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(StartFailure);
  expect((failure as Error).message).toContain('sample does not start (exit code 1)');
  expect(printed.at(-1)).toContain('PORT: is missing');
  expect(pids.filter((pid) => pid !== undefined)).toHaveLength(3);
  await supervised.stop();
});

test('stop ends a supervised process with SIGTERM and does not restart it', async () => {
  const supervised = supervise(
    script(
      'process.on("SIGTERM", () => { console.log("drained"); process.exit(0); }); console.log("up"); setInterval(() => {}, 1000)',
      isUp,
    ),
    (line) => printed.push(line),
  );
  await supervised.firstReady;
  await supervised.stop();
  expect(readFileSync(join(directory, 'sample.log'), 'utf8')).toBe('up\ndrained\n');
  expect(printed).toEqual([]);
  expect(pids).toHaveLength(2);
});

test('a requested restart does not count as a death', async () => {
  const supervised = supervise(script('setInterval(() => {}, 1000)'), (line) => printed.push(line));
  await supervised.firstReady;
  const [first] = pids;
  supervised.restart();
  await expect.poll(() => printed).toEqual([expect.stringMatching(/^sample is ready again \(pid \d+\)\.$/)]);
  expect(pids).toEqual([first, undefined, expect.any(Number)]);
  expect(pids[2]).not.toBe(first);
  await supervised.stop();
});

test('a process whose source changes runs the new source', async () => {
  const source = join(directory, 'service.mjs');
  const write = (version: number) =>
    writeFileSync(source, `console.log('version ${version}'); setInterval(() => {}, 1e3)`);
  const log = () => readFileSync(join(directory, 'sample.log'), 'utf8');
  write(1);
  const supervised = supervise({ ...script(''), args: [source] }, (line) => printed.push(line));
  using _watching = watchSources([directory], () => supervised.restart());
  await expect.poll(log).toBe('version 1\n');
  write(2);
  await expect.poll(log, { timeout: 5000 }).toBe('version 1\nversion 2\n');
  await supervised.stop();
});

test('a restart ends the back-off of a waiting process', async () => {
  const supervised = supervise(script('setInterval(() => {}, 1000)'), (line) => printed.push(line));
  await supervised.firstReady;
  for (let deaths = 1; deaths <= 7; deaths += 1) {
    process.kill(pids.at(-1) as number, 'SIGKILL');
    await expect.poll(() => printed.filter((line) => line.includes('ended by itself'))).toHaveLength(deaths);
    supervised.restart();
    await expect.poll(() => printed.filter((line) => line.includes('is ready again'))).toHaveLength(deaths);
  }
  // The restart has reset the back-off: otherwise the seventh death would cost 15 s.
  expect(printed.at(-2)).toContain('starting it again in 0.25 s');
  await supervised.stop();
});

test('a paused process starts again only when it is resumed', async () => {
  const supervised = supervise(script('setInterval(() => {}, 1000)'), (line) => printed.push(line));
  await supervised.firstReady;
  const [first] = pids;
  await supervised.pause();
  expect(pids).toEqual([first, undefined]);
  expect(supervised.isPaused()).toBe(true);
  supervised.restart();
  supervised.resume();
  expect(supervised.isPaused()).toBe(false);
  await expect.poll(() => printed).toEqual([expect.stringMatching(/^sample is ready again/)]);
  expect(pids).toEqual([first, undefined, expect.any(Number)]);
  await supervised.pause();
  await supervised.stop();
  expect(pids).toHaveLength(4);
});

test('the supervisor reports a log that cannot be opened and runs the process without one', async () => {
  const logFile = join(directory, 'missing', 'sample.log');
  const supervised = supervise({ ...script('setInterval(() => {}, 1000)'), logFile }, (line) => printed.push(line));
  await supervised.firstReady;
  await supervised.stop();
  expect(printed).toEqual([`${logFile} cannot be written (ENOENT): the log of this process is lost.`]);
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
