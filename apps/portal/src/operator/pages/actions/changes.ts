/** What an action changed: the members of its subject that differ afterwards. */
export interface MemberChange {
  readonly name: string;
  readonly from: string;
  readonly to: string;
}

/**
 * Returns what changed; nothing if the subject was absent before or afterwards, so that nothing can
 * be compared.
 */
export function changesOf(before: unknown, after: unknown): readonly MemberChange[] {
  if (!isObject(before) || !isObject(after)) return [];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names]
    .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
    .map((name) => ({ name, from: textOf(before[name]), to: textOf(after[name]) }));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value in one line. A list is shown by its length, and an object only as `{…}`. */
function textOf(value: unknown): string {
  if (value === undefined || value === null) return 'none';
  if (Array.isArray(value)) return `[${value.length}]`;
  return typeof value === 'object' ? '{…}' : String(value);
}
