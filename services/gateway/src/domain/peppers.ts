/**
 * The server's peppers. They key the hashes of API keys, of sessions, and of the e-mails and
 * clients of sign-ins. Each pepper has a version. New hashes use the current one; a presented
 * secret is looked up under every one.
 *
 * A change of the pepper takes three restarts of all replicas. Every key and session stays valid:
 * 1. The new pepper is accepted in addition to the current one. From then on, every replica
 *    recognises the hashes that another replica stores under the new pepper.
 * 2. The new pepper is the current one, and the old one is accepted. From then on a key that is
 *    used is hashed again. A hash only ever moves to a higher version, so replicas before and after
 *    this step do not undo each other's work.
 * 3. The old pepper is dropped. This must wait until no key that is still needed is stored under
 *    it, and no session is older than the second step.
 */

export interface Pepper {
  readonly version: number;
  /** The 32 bytes of the pepper. */
  readonly bytes: Buffer;
}

export interface Peppers {
  readonly current: Pepper;
  /** The current pepper is the first. */
  readonly all: readonly Pepper[];
}

export function peppersOf(current: Pepper, accepted: readonly Pepper[] = []): Peppers {
  return { current, all: [current, ...accepted] };
}

/**
 * The hashes under which a secret may be stored: one under each pepper, the current one's first.
 */
export function hashesUnder(peppers: Peppers, hash: (pepper: Buffer) => Buffer): readonly Buffer[] {
  return peppers.all.map(({ bytes }) => hash(bytes));
}

/** Whether a hash of this version must be replaced. */
export function isOutdated(version: number, peppers: Peppers): boolean {
  return version < peppers.current.version;
}
