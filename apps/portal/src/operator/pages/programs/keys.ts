import type { Environment, ProgramKey } from '../../../api/api-types.ts';

/** Returns when a key of the environment was last used, or null if none was. */
export function lastUse(keys: readonly ProgramKey[], environment: Environment): string | null {
  const uses = keys.filter((key) => key.environment === environment).map((key) => key.last_used_at ?? '');
  return uses.toSorted().at(-1) || null;
}
