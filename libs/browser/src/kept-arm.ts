import { isId } from './answers.ts';
import { LaurelBrowserError } from './errors.ts';
import type { Target } from './player-state.ts';
import { type InitOptions, isObject, parseJson } from './transport.ts';

/**
 * One decision of the player to pay. However often it is sent with this id, Laurel charges it once.
 */
export interface Arm {
  readonly id: string;
  readonly target: Target;
  /** The time when the arm was first sent, in milliseconds since 1970; absent before that. */
  readonly sentAt?: number;
  readonly attemptId?: string;
}

/**
 * How long an arm may be sent again: half of the time for which Laurel keeps the idempotency key
 * that derives from the arm's id. By then an attempt without an outcome has long expired.
 */
const REPEATABLE_MS = 12 * 3_600_000;

/**
 * Stores the player's decision to pay until its attempt ends, so that a reload does not create a
 * second decision. Each player has a separate storage key: a decision that another player's session
 * sent would charge that other player.
 */
export function createArmStore(storage: NonNullable<InitOptions['storage']>, { endpoint, player }: InitOptions) {
  const key = `laurel:${JSON.stringify([endpoint, player])}`;
  return {
    /**
     * Reads the arm. Undefined if there is none, or if it is damaged: its id is then lost, as it is
     * with a closed tab.
     */
    read(): Arm | undefined {
      const arm = parseJson(String(storage.getItem(key)));
      return isArm(arm) ? arm : undefined;
    },
    /**
     * Stores the arm; undefined removes it. Throws if the storage refuses, for example because it
     * is full.
     */
    write(arm: Arm | undefined): void {
      try {
        if (arm) storage.setItem(key, JSON.stringify(arm));
        else storage.removeItem(key);
      } catch (cause) {
        const message = 'The storage takes nothing: nothing was sent.';
        throw new LaurelBrowserError('unknown', message, undefined, undefined, { cause });
      }
    },
  };
}

const ID = /^[\da-f]{32}$/;

/** The storage may hold anything under the key. */
function isArm(value: unknown): value is Arm {
  if (!isObject(value) || !isObject(value.target)) return false;
  const { id, target, sentAt, attemptId } = value;
  const [chosen, ...more] = Object.entries(target);
  return (
    typeof id === 'string' &&
    ID.test(id) &&
    more.length === 0 &&
    /^(challengeId|roundId)$/.test(String(chosen?.[0])) &&
    typeof chosen?.[1] === 'string' &&
    /^(undefined|number)$/.test(typeof sentAt) &&
    (attemptId === undefined || (isId(attemptId) && sentAt !== undefined))
  );
}

/**
 * Whether sending the arm again might charge the player again: its result is unknown, and it was
 * sent too long ago, or at a time that is far in the future by this clock.
 */
export function isStale({ sentAt, attemptId }: Arm): boolean {
  return sentAt !== undefined && attemptId === undefined && Math.abs(Date.now() - sentAt) > REPEATABLE_MS;
}

/**
 * Makes an arm with a new id. It does not use `randomUUID`, which needs TLS: a phone may load the
 * page from a developer's machine.
 */
export function newArm(target: Target): Arm {
  const words = crypto.getRandomValues(new Uint32Array(4));
  return { id: Array.from(words, (word) => word.toString(16).padStart(8, '0')).join(''), target };
}
