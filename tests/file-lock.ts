/**
 * A lock between the processes of this machine: one process at a time fetches, builds or uses a
 * kept file.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

export interface LockOptions {
  /** This is called once if another process holds the lock. */
  readonly onWait?: () => void;
  /** The signal ends the wait. */
  readonly signal?: AbortSignal;
}

/**
 * Resolves once this process holds the lock; disposing releases it. A process of flock(1) holds it,
 * and ends with its standard input: the kernel releases the lock of a killed process.
 */
export async function takeFileLock(file: string, { onWait, signal }: LockOptions = {}): Promise<AsyncDisposable> {
  mkdirSync(dirname(file), { recursive: true });
  const held = await hold(file, ['-n'], signal);
  if (held !== undefined) return held;
  onWait?.();
  const awaited = await hold(file, [], signal);
  if (awaited === undefined) throw new Error(`flock could not lock ${file}`);
  return awaited;
}

async function hold(
  file: string,
  options: readonly string[],
  signal: AbortSignal | undefined,
): Promise<AsyncDisposable | undefined> {
  signal?.throwIfAborted();
  // A terminal interrupts a process's whole group, but this process still needs the lock to clean
  // up.
  const holder = spawn('flock', [...options, file, 'sh', '-c', 'echo held; exec cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  const ended = once(holder, 'close');
  const giveUp = () => {
    holder.stdin.end();
    holder.kill();
  };
  signal?.addEventListener('abort', giveUp);
  try {
    const isHeld = await Promise.race([once(holder.stdout, 'data').then(() => true), ended.then(() => false)]);
    signal?.throwIfAborted();
    if (!isHeld) return undefined;
  } finally {
    signal?.removeEventListener('abort', giveUp);
  }
  return {
    async [Symbol.asyncDispose]() {
      holder.stdin.end();
      await ended;
    },
  };
}
