/** One process of this machine at a time: what fetches or builds something that is kept, and what needs it while that is made. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

export interface LockOptions {
  /** Called once if another process has the lock. */
  readonly onWait?: () => void;
  /** Ends the wait. */
  readonly signal?: AbortSignal;
}

/**
 * Resolves once this process has the lock; disposing releases it. A process of flock(1) holds it, and ends when its standard input does: the
 * kernel releases the lock of a process that was killed.
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
  // A terminal interrupts the whole group of a process, which still needs the lock for what it removes then.
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
