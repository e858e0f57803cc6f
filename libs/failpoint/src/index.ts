/**
 * Named points at which a test makes a process fail: `await
 * failpoint('wallet.charge.before-commit')`.
 *
 * A point does nothing unless the process was started with FAILPOINTS_DIR and that folder holds a
 * file with the point's name. The file names the action: `kill` | `throw` | `delay:<ms>` |
 * `lose-reply`. The process that reaches the point first removes the file and then acts, so an
 * armed point fires once, in exactly one process.
 *
 * Names are `<service>.<flow>.<before|after>-<step>`; `before-commit` is inside the transaction,
 * just before its commit. Each service declares its points in `src/failpoints.ts`, whose
 * `failpoint` accepts no others. A library that runs inside a service declares its own steps.
 */
import { readFileSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

export type Failpoint = `${string}.${string}.${'before' | 'after'}-${string}`;

/** The points of one service, with its name in front. */
export function pointsOf<Service extends string, const Step extends string>(service: Service, steps: readonly Step[]) {
  return steps.map((step) => `${service}.${step}` as const);
}

/** The work was done and its reply is lost: the server fails the call like a broken connection. */
export class LostReplyError extends Error {
  override readonly name = 'LostReplyError';
}

const directory = process.env.FAILPOINTS_DIR;
const isEnabled = directory !== undefined && directory !== '';

/** Acts if the point is armed: never returns (`kill`), throws, or returns a promise that waits. */
export function failpoint(name: Failpoint): void | Promise<void> {
  if (!isEnabled) return undefined;
  const action = take(join(directory, name));
  return action === undefined ? undefined : act(name, action);
}

function act(name: Failpoint, action: string): void | Promise<void> {
  if (action === 'kill') return killProcess();
  if (action === 'throw') throw new Error(`failpoint ${name}`);
  if (action === 'lose-reply') throw new LostReplyError(`failpoint ${name}`);
  const milliseconds = /^delay:(\d+)$/.exec(action)?.[1];
  if (milliseconds === undefined)
    throw new Error(`failpoint ${name} is armed with "${action}", which is not an action`);
  return delay(Number(milliseconds));
}

/** The action in the file, for the one process that succeeds in removing it. */
function take(file: string): string | undefined {
  try {
    const action = readFileSync(file, 'utf8').trim();
    unlinkSync(file);
    return action;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function killProcess(): never {
  process.kill(process.pid, 'SIGKILL');
  // The signal may take a moment to arrive; no code may run until then.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  throw new Error('the process outlived SIGKILL');
}
