/**
 * Named points at which a test makes a process fail: `await failpoint('wallet.charge.before-commit')`.
 *
 * A point does nothing unless the process was started with FAILPOINTS_DIR and that folder holds a file with the name of the
 * point. The file says what happens: `kill` | `throw` | `delay:<ms>` | `lose-reply`. Whoever hits the point removes the file
 * first and then acts, so that an armed point fires once, in exactly one process.
 *
 * Names are `<service>.<flow>.<before|after>-<step>`; `before-commit` is inside the transaction, just before its commit.
 */
import { readFileSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** Both services that own attempts pass these: most of them lie in their common money path. */
const OWNER_STEPS = [
  'create.before-commit',
  'create.after-commit',
  'create.before-charge',
  'create.after-charge',
  'open.before-commit',
  'open.after-commit',
  'outcome.before-commit',
  'outcome.after-commit',
  'award.before-pay',
  'award.after-pay',
  'award.before-commit',
  'award.after-commit',
  'expiry.before-commit',
  'expiry.after-commit',
  'refund.before-call',
  'refund.after-call',
  'refund.before-commit',
  'refund.after-commit',
  'outbox.before-publish',
  'outbox.after-publish',
  'reply.before-send',
] as const;

function ownerPoints<Owner extends 'challenge' | 'tournament'>(owner: Owner) {
  return OWNER_STEPS.map((step) => `${owner}.${step}` as const);
}

/** The closed list, by service. */
export const FAILPOINTS = {
  gateway: [
    'gateway.claim.before-commit',
    'gateway.claim.after-commit',
    'gateway.create.before-call',
    'gateway.create.after-call',
    'gateway.outcome.before-call',
    'gateway.outcome.after-call',
    'gateway.complete.before-commit',
    'gateway.complete.after-commit',
    'gateway.reply.before-send',
    'gateway.reply.after-send',
  ],
  challenge: ownerPoints('challenge'),
  tournament: [
    ...ownerPoints('tournament'),
    'tournament.close.before-commit',
    'tournament.close.after-commit',
    'tournament.seal.before-commit',
    'tournament.seal.after-commit',
    'tournament.cancel.before-commit',
    'tournament.cancel.after-commit',
    'tournament.round.before-commit',
    'tournament.round.after-commit',
  ],
  wallet: [
    'wallet.charge.before-commit',
    'wallet.charge.after-commit',
    'wallet.refund.before-commit',
    'wallet.refund.after-commit',
    'wallet.award.before-commit',
    'wallet.award.after-commit',
    'wallet.resolve.before-commit',
    'wallet.resolve.after-commit',
    'wallet.release.before-commit',
    'wallet.release.after-commit',
    'wallet.reply.before-send',
  ],
  webhook: [
    'webhook.take.before-commit',
    'webhook.take.after-commit',
    'webhook.claim.before-commit',
    'webhook.claim.after-commit',
    'webhook.send.before-request',
    'webhook.send.after-request',
    'webhook.record.before-commit',
    'webhook.record.after-commit',
  ],
} as const;

/** The points of these services, or of all. */
export type FailpointName<Service extends keyof typeof FAILPOINTS = keyof typeof FAILPOINTS> =
  (typeof FAILPOINTS)[Service][number];

/** The work was done and its answer is lost: the server fails the call as if the connection had broken. */
export class LostReplyError extends Error {
  override readonly name = 'LostReplyError';
}

const directory = process.env.FAILPOINTS_DIR;
const isEnabled = directory !== undefined && directory !== '';

/** Acts if the point is armed: never returns (`kill`), throws, or answers a promise that waits. */
export function failpoint(name: FailpointName): void | Promise<void> {
  if (!isEnabled) return undefined;
  const action = take(join(directory, name));
  return action === undefined ? undefined : act(name, action);
}

function act(name: FailpointName, action: string): void | Promise<void> {
  if (action === 'kill') return killProcess();
  if (action === 'throw') throw new Error(`failpoint ${name}`);
  if (action === 'lose-reply') throw new LostReplyError(`failpoint ${name}`);
  const milliseconds = /^delay:(\d+)$/.exec(action)?.[1];
  if (milliseconds === undefined) throw new Error(`failpoint ${name} is armed with "${action}", which is no action`);
  return delay(Number(milliseconds));
}

/** What the file says, for the one process that gets to remove it. */
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
  // The signal may take a moment to arrive; nothing may run in it.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  throw new Error('the process outlived SIGKILL');
}
