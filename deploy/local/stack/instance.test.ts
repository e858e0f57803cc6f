import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspectProcess } from '@laurel/local-infrastructure/inspect-process';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { takeDataDirectory } from './instance.ts';
import { StartFailure } from './start-failure.ts';

let dataDir: string;
let note: string;
let printed: string[];
let children: ChildProcess[];
const print = (line: string) => printed.push(line);

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'laurel-instance-'));
  note = join(dataDir, 'launcher.json');
  printed = [];
  children = [];
});

afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(dataDir, { recursive: true });
});

test('a launcher records its children in its data directory until it releases the directory', async () => {
  {
    using instance = await takeDataDirectory(dataDir, 8080, print);
    instance.noteChild('wallet', 4711);
    instance.noteChild('gateway', 4712);
    instance.noteChild('gateway', undefined);
    expect(JSON.parse(readFileSync(note, 'utf8'))).toEqual({
      launcher: process.pid,
      started: inspectProcess(process.pid)?.started,
      httpPort: 8080,
      children: { wallet: 4711 },
    });
  }
  expect(existsSync(note)).toBe(false);
});

test('a running launcher keeps its data directory', async () => {
  const launcher = await startIdle('/elsewhere/deploy/local/start.ts');
  const before = JSON.stringify({ launcher: launcher.pid, httpPort: 8085, children: {} });
  writeFileSync(note, before);
  const failure = await takeDataDirectory(dataDir, 8080, print).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(StartFailure);
  expect(String(failure)).toContain(`Laurel already runs from ${dataDir} (pid ${launcher.pid}, http://127.0.0.1:8085)`);
  expect(readFileSync(note, 'utf8')).toBe(before);
});

test.each(['', 'null', '{', '[]', '{"launcher":"x"}'])(
  'the launcher replaces a damaged file of process ids, such as %j, and prints a notice',
  async (content) => {
    writeFileSync(note, content);
    using instance = await takeDataDirectory(dataDir, 8080, print);
    instance.noteChild('wallet', 4711);
    expect(printed).toEqual([`${note} could not be read, perhaps after a full disk or a crash: it is written again.`]);
    expect(JSON.parse(readFileSync(note, 'utf8')).children).toEqual({ wallet: 4711 });
  },
);

test('a data directory is free if another stack’s launcher got the dead launcher’s process id', async () => {
  const other = await startIdle('/elsewhere/deploy/local/start.ts');
  const started = 'another-boot 1';
  writeFileSync(note, JSON.stringify({ launcher: other.pid, started, httpPort: 8085, children: {} }));
  using _instance = await takeDataDirectory(dataDir, 8080, print);
  expect(inspectProcess(other.pid as number)).not.toBeNull();
});

test('a launcher does not end a process whose data directory merely begins with the same name', async () => {
  const neighbour = await startIdle(`${dataDir}-2`);
  const children = { wallet: neighbour.pid };
  writeFileSync(note, JSON.stringify({ launcher: 2 ** 22 + 1, httpPort: 8080, children }));
  using _instance = await takeDataDirectory(dataDir, 8080, print);
  expect(inspectProcess(neighbour.pid as number)).not.toBeNull();
});

test('a launcher ends only the processes that a killed launcher left behind', async () => {
  const left = await startIdle(dataDir);
  const unrelated = await startIdle('/another/data/directory');
  writeFileSync(
    note,
    JSON.stringify({ launcher: 2 ** 22 + 1, httpPort: 8080, children: { nats: left.pid, wallet: unrelated.pid } }),
  );
  using _instance = await takeDataDirectory(dataDir, 8080, print);
  expect(printed).toEqual(['Ending what the last start left behind: nats ...']);
  expect(inspectProcess(left.pid as number)).toBeNull();
  expect(inspectProcess(unrelated.pid as number)).not.toBeNull();
});

test('a launcher waits until the processes that it ends have released their memory and ports', async () => {
  symlinkSync('/dev/null', join(dataDir, 'null'));
  // The kernel takes a while to release 1 GiB. Meanwhile the process has no command line and is not
  // a zombie yet.
  const argv = ['if=/dev/zero', `of=${join(dataDir, 'null')}`, 'bs=1G'];
  const left = spawn('dd', argv, { stdio: 'ignore' });
  children.push(left);
  const residentKib = () => Number(execFileSync('ps', ['-o', 'rss=', '-p', String(left.pid)], { encoding: 'utf8' }));
  await expect.poll(residentKib).toBeGreaterThan(2 ** 20);
  writeFileSync(note, JSON.stringify({ launcher: 2 ** 22 + 1, httpPort: 8080, children: { postgres: left.pid } }));
  using _instance = await takeDataDirectory(dataDir, 8080, print);
  expect(inspectProcess(left.pid as number)).toBeNull();
});

test('a service whose launcher has exited drains and exits', async () => {
  const source = 'process.on("SIGTERM", () => { console.log("drained"); process.exit(0); }); console.log("up")';
  const preload = new URL('exit-with-parent.mjs', import.meta.url).href;
  const child = spawn(process.execPath, ['--import', preload, '-e', `${source}; setInterval(() => {}, 1000)`], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  children.push(child);
  let output = '';
  child.stdout?.on('data', (chunk) => {
    output += chunk;
  });
  await expect.poll(() => output).toBe('up\n');
  // The kernel also closes the channel when the launcher is killed.
  child.disconnect();
  expect(await once(child, 'exit')).toEqual([0, null]);
  await expect.poll(() => output).toBe('up\ndrained\n');
});

/** An idle process with the given argument on its command line. */
async function startIdle(word: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', word], { stdio: 'ignore' });
  children.push(child);
  await once(child, 'spawn');
  // Until the new program has begun, the child has this process's command line.
  await expect.poll(() => inspectProcess(child.pid as number)?.command).toContain(word);
  return child;
}
