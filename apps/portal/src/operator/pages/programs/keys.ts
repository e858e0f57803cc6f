import type { Environment, ProgramKey } from '../../../api/api-types.ts';

/** When a key of the environment was last used; null if none was. */
export function lastUse(keys: readonly ProgramKey[], environment: Environment): string | null {
  const uses = keys.filter((key) => key.environment === environment).map((key) => key.last_used_at ?? '');
  return uses.toSorted().at(-1) || null;
}
