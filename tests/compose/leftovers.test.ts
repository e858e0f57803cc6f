import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NODE } from '@laurel/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  bridgeName,
  ENGINE_PID_FILE,
  isOrphaned,
  isOrphanedBridge,
  removeOrphanedBridges,
  removeOrphanedEngines,
} from './leftovers.ts';

const started: ChildProcess[] = [];
let parent: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'laurel-testing-'));
});
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
  rmSync(parent, { recursive: true, force: true });
});

/** The id of a process that has ended. */
async function deadPid(): Promise<number> {
  const child = spawn(NODE, ['-e', '']);
  await once(child, 'exit');
  return child.pid ?? 0;
}

/** A folder as the run with this process id would make it. */
function engineFolderOf(pid: number): string {
  return mkdtempSync(join(parent, `laurel-engine-${pid}-`));
}

/**
 * Stands for dockerd: a process with this text in its command line, whose id is in the engine's
 * file.
 */
async function startInPlaceOfDockerd(folder: string, named: string): Promise<ChildProcess> {
  const child = spawn(NODE, ['-e', `console.log('up'); setInterval(() => {}, 1000)`, named]);
  started.push(child);
  await once(child.stdout, 'data');
  writeFileSync(join(folder, ENGINE_PID_FILE), String(child.pid));
  return child;
}

test('the engine of a finished run is ended', async () => {
  const folder = engineFolderOf(await deadPid());
  const dockerd = await startInPlaceOfDockerd(folder, `unix://${folder}/docker.sock`);
  const ended = once(dockerd, 'exit');
  await removeOrphanedEngines(parent);
  expect(await ended).toEqual([null, 'SIGTERM']);
  expect(existsSync(folder)).toBe(false);
});

test('a process that reuses the id of an ended engine is left alone', async () => {
  const folder = engineFolderOf(await deadPid());
  const other = await startInPlaceOfDockerd(folder, 'something else');
  await removeOrphanedEngines(parent);
  expect(existsSync(folder)).toBe(false);
  expect(other.exitCode ?? other.signalCode).toBeNull();
});

test('the engine of a current run is not ended', async () => {
  const folder = engineFolderOf(process.pid);
  const dockerd = await startInPlaceOfDockerd(folder, `unix://${folder}/docker.sock`);
  await removeOrphanedEngines(parent);
  expect(existsSync(folder)).toBe(true);
  expect(dockerd.exitCode ?? dockerd.signalCode).toBeNull();
});

test.skipIf(process.getuid?.() !== 0)('mounts in the folder of a finished run are unmounted', async (context) => {
  const folder = engineFolderOf(await deadPid());
  const disk = join(folder, 'disk');
  mkdirSync(join(disk), { recursive: true });
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk], { stdio: 'ignore' });
  } catch {
    context.skip('file systems may not be mounted here');
  }
  writeFileSync(join(disk, 'kept'), 'by the server');
  await removeOrphanedEngines(parent);
  expect(existsSync(folder)).toBe(false);
});

test('a project is orphaned once the run named in its prefix has finished', async () => {
  expect(isOrphaned(`laurel-test-${await deadPid()}`)).toBe(true);
  expect(isOrphaned(`laurel-test-${process.pid}`)).toBe(false);
  for (const other of ['laurel', 'laurel-test-', 'laurel-test-1x', `my-laurel-test-${await deadPid()}`])
    expect([other, isOrphaned(other)]).toEqual([other, false]);
});

test('a bridge is orphaned once the run named in its prefix has finished', async () => {
  const pid = await deadPid();
  expect(isOrphanedBridge(bridgeName(21, pid))).toBe(true);
  expect(isOrphanedBridge(bridgeName(21))).toBe(false);
  for (const other of ['br-1c1f6761ab5a', 'lrl', `lrl${pid}`, `lrl${pid}-`, `lrl${pid}-x`, `xlrl${pid}-1`, 'docker0'])
    expect([other, isOrphanedBridge(other)]).toEqual([other, false]);
  // The kernel's longest process id, on Linux, and the longest name of an interface.
  expect(bridgeName(99, 4_194_304).length).toBeLessThanOrEqual(15);
});

test.skipIf(process.getuid?.() !== 0)(
  'bridges of finished runs are removed, those of a current run stay',
  async (context) => {
    const [orphaned, own] = [bridgeName(0, await deadPid()), bridgeName(0)];
    const ip = (...command: readonly string[]) => execFileSync('ip', command, { stdio: 'ignore' });
    try {
      ip('link', 'add', orphaned, 'type', 'bridge');
    } catch {
      context.skip('interfaces may not be added here');
    }
    ip('link', 'add', own, 'type', 'bridge');
    try {
      await removeOrphanedBridges();
      expect([orphaned, own].map((name) => existsSync(`/sys/class/net/${name}`))).toEqual([false, true]);
    } finally {
      ip('link', 'delete', own);
    }
  },
);
