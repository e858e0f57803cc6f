/**
 * A key that can change while data is stored under it. `NAME` is the current one, `NAME_VERSION`
 * counts its changes. `NAMES_ACCEPTED` holds former ones and, before a change, the next one.
 * docs/operations/rotate-secrets.md has the three steps of a change.
 */
import { z } from 'zod';
import { parseSecretKey, positiveInt } from './config.ts';

/** 32 bytes, and the version that marks data stored under them. */
export interface VersionedKey {
  readonly version: number;
  readonly bytes: Buffer;
}

const MAX_VERSION = 2 ** 31 - 1;

/** The version of the current key; each change of the key raises it. */
export const keyVersion = positiveInt.refine((version) => version <= MAX_VERSION, 'must fit into 31 bits').default(1);

/** Keys in addition to the current one, as `2:<base64>,3:<base64>`. */
export const acceptedKeys = z
  .string()
  .transform((text, context): readonly VersionedKey[] => {
    const found = text.split(',').map((entry) => {
      const [version = '', bytes = ''] = entry.trim().split(':', 2);
      return { version: Number(version), bytes: parseSecretKey(bytes) };
    });
    const right = found.flatMap(({ version, bytes }) => (isVersion(version) && bytes ? [{ version, bytes }] : []));
    if (new Set(right.map(({ version }) => version)).size === found.length) return right;
    context.addIssue('must be version:base64 of 32 bytes, separated by commas, no version twice');
    return z.NEVER;
  })
  .default([]);

type KeySettings<Name extends string> = Readonly<Record<Name, Buffer>> &
  Readonly<Record<`${Name}_VERSION`, number>> &
  Readonly<Record<`${Name}S_ACCEPTED`, readonly VersionedKey[]>>;

/** Refuses accepted keys with the version of the current one. */
export function checkKeyVersions<Name extends string>(name: Name) {
  return (config: KeySettings<Name>, context: z.core.$RefinementCtx): void => {
    const { current, accepted } = keysOf(config, name);
    if (accepted.every(({ version }) => version !== current.version)) return;
    const message = `must not name the version of ${name}`;
    context.addIssue({ code: 'custom', path: [`${name}S_ACCEPTED`], message });
  };
}

/** The current key of this name, and the accepted ones. */
export function keysOf<Name extends string>(
  config: KeySettings<Name>,
  name: Name,
): { readonly current: VersionedKey; readonly accepted: readonly VersionedKey[] } {
  const keys: Readonly<Record<Name, Buffer>> = config;
  const versions: Readonly<Record<`${Name}_VERSION`, number>> = config;
  const accepted: Readonly<Record<`${Name}S_ACCEPTED`, readonly VersionedKey[]>> = config;
  return {
    current: { version: versions[`${name}_VERSION`], bytes: keys[name] },
    accepted: accepted[`${name}S_ACCEPTED`],
  };
}

function isVersion(version: number): boolean {
  return Number.isInteger(version) && version >= 1 && version <= MAX_VERSION;
}
