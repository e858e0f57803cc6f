/**
 * Filters in the address. A page declares its own beside it, in `search.ts`:
 *   export const readSearch = filters({ status: choice('open', 'settled'), player_ref: text() });
 * and `router.tsx` names it as `validateSearch`. An invalid value is left out, never an error.
 */
type Reader<T> = (value: string) => T | undefined;

type Filters<S extends Readonly<Record<string, Reader<unknown>>>> = {
  readonly [Name in keyof S]?: ReturnType<S[Name]>;
};

const MAX_TEXT = 255;

export function filters<S extends Readonly<Record<string, Reader<unknown>>>>(shape: S) {
  return (search: Readonly<Record<string, unknown>>): Filters<S> => {
    const found: Record<string, unknown> = {};
    for (const [name, read] of Object.entries(shape)) {
      const value = search[name];
      const fitting = typeof value === 'string' && value !== '' ? read(value) : undefined;
      if (fitting !== undefined) found[name] = fitting;
    }
    return found as Filters<S>;
  };
}

/**
 * Reads any text up to a length in code points. Spaces around it count: a `player_ref` may have
 * some.
 */
export function text(maxLength = MAX_TEXT): Reader<string> {
  return (value) => ([...value].length > maxLength ? undefined : value);
}

const ID = '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';
const WHOLE_ID = new RegExp(`^${ID}$`);

/** Reads one of Laurel's ids. `idField` has the props of the field in which an id is typed. */
export function id(): Reader<string> {
  return (value) => (WHOLE_ID.test(value) ? value : undefined);
}

export const idField = { placeholder: 'id', pattern: ID, hint: 'Paste a whole id, as 0198f2a1-….' } as const;

export const emailField = {
  placeholder: 'ana@example.com',
  pattern: '[^\\s@]+@[^\\s@]+',
  hint: 'Type a whole e-mail.',
} as const;

/** Reads one of the words. */
export function choice<const T extends string>(...values: readonly T[]): Reader<T> {
  return (value) => values.find((one) => one === value);
}

/** The query of an address as plain texts: `?player_ref=12` is "12", not a number. */
export function parseSearch(search: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(search));
}

export function stringifySearch(search: Readonly<Record<string, unknown>>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    if (value !== undefined && value !== '') parameters.set(name, String(value));
  }
  return parameters.size === 0 ? '' : `?${parameters}`;
}
