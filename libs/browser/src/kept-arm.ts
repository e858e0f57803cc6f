import type { Target } from './player-state.ts';
import type { InitOptions } from './transport.ts';

/** One decision of the player to pay: whatever is sent again with this id is charged once. */
export interface Arm {
  readonly id: string;
  readonly target: Target;
  /** When it was first sent, in milliseconds since 1970; missing while it was not. */
  readonly sentAt?: number;
  readonly attemptId?: string;
}

/** Half of the time for which Laurel keeps the idempotency key that is derived from the id; an attempt without an outcome has long expired. */
const REPEATABLE_MS = 12 * 3_600_000;

/**
 * Keeps an arm from its choice until it has ended, so that a reload in between does not become a second one. Each player has a key of their
 * own: sent in another player's session, an arm would charge that player.
 */
export function createArmStore(storage: NonNullable<InitOptions['storage']>, { endpoint, player }: InitOptions) {
  const key = `laurel:${JSON.stringify([endpoint, player])}`;
  return {
    read(): Arm | undefined {
      const text = storage.getItem(key);
      return text === null ? undefined : JSON.parse(text);
    },
    write(arm: Arm | undefined): void {
      if (arm) storage.setItem(key, JSON.stringify(arm));
      else storage.removeItem(key);
    },
  };
}

/** Whether sending it again might be charged again: it was sent long ago, and what became of it is not known. */
export function isStale({ sentAt, attemptId }: Arm): boolean {
  return sentAt !== undefined && attemptId === undefined && Date.now() - sentAt > REPEATABLE_MS;
}

/** Not `randomUUID`, which is missing where a phone opens a developer's machine without TLS. */
export function newArm(target: Target): Arm {
  const words = crypto.getRandomValues(new Uint32Array(4));
  return { id: Array.from(words, (word) => word.toString(16).padStart(8, '0')).join(''), target };
}
