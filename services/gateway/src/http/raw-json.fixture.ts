/** JSON with fields that no JavaScript value can express. */

/** A value of a field that is written into the JSON verbatim, as this text. */
class Raw {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export const raw = (text: string): object => new Raw(text);
/** The value of a field that is left out. */
export const ABSENT = Symbol('absent');

export function toJson(fields: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries(fields).flatMap(([name, value]) =>
    value === ABSENT ? [] : [`${JSON.stringify(name)}:${value instanceof Raw ? value.text : JSON.stringify(value)}`],
  );
  return `{${parts.join(',')}}`;
}
