/**
 * Cleans up when this process ends: kills the child processes that it started and removes the
 * folders that it made. A signal also triggers this, because a test runner ends its workers by a
 * signal.
 */
import type { ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';

const children = new Set<ChildProcess>();
const folders = new Set<string>();

process.once('exit', endAll);
process.once('SIGTERM', () => {
  endAll();
  process.kill(process.pid, 'SIGTERM');
});

/** Kills the child when this process ends, unless it has exited. */
export function endWithThisProcess(child: ChildProcess): void {
  children.add(child);
  child.once('exit', () => children.delete(child));
  child.once('error', () => children.delete(child));
}

/** Removes the folder when this process ends, or when the returned function is called. */
export function removeWithThisProcess(folder: string): () => void {
  folders.add(folder);
  return () => {
    rmSync(folder, { recursive: true, force: true });
    folders.delete(folder);
  };
}

function endAll(): void {
  for (const child of children) child.kill('SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}
