/**
 * The server's peppers, which key the hashes of API keys, of sessions and of the e-mails and clients of sign-ins. Each has a version; new
 * hashes are made under the current one, and a presented secret is looked for under every one.
 *
 * Changing the pepper takes three restarts of all replicas, none of which ends a key or a session:
 * 1. the new one is accepted in addition to the current one, so that every replica can recognise what any other stores;
 * 2. the new one is the current one, and the old one is accepted. From then on a key that is used is hashed again; a hash only ever moves to a
 *    higher version, so that replicas on either side of this step do not undo each other's work;
 * 3. the old one is dropped, as soon as no key that is still needed is stored under it, and no session is as old as the second step.
 */

export interface Pepper {
  readonly version: number;
  /** 32 bytes. */
  readonly bytes: Buffer;
}

export interface Peppers {
  readonly current: Pepper;
  /** The current one first. */
  readonly all: readonly Pepper[];
}

export function peppersOf(current: Pepper, accepted: readonly Pepper[] = []): Peppers {
  return { current, all: [current, ...accepted] };
}

/** The hashes under which a secret may be stored: one under each pepper, the current one's first. */
export function hashesUnder(peppers: Peppers, hash: (pepper: Buffer) => Buffer): readonly Buffer[] {
  return peppers.all.map(({ bytes }) => hash(bytes));
}

/** Whether a hash of this version has to be replaced. */
export function isOutdated(version: number, peppers: Peppers): boolean {
  return version < peppers.current.version;
}
