/**
 * The members of a request as they were typed in a form. An empty field is undefined, which JSON
 * leaves out.
 */

/** A body whose fields may have a text that is not of their type: the server says what is wrong. */
export type TypedBody<Body> = { readonly [Name in keyof Body]: Body[Name] | string | undefined };

const DECIMAL = /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i;

export function textOf(form: FormData, name: string): string | undefined {
  const text = String(form.get(name) ?? '').trim();
  return text === '' ? undefined : text;
}

/** A text that is no number stays as it is. */
export function numberOf(form: FormData, name: string): number | string | undefined {
  const text = textOf(form, name);
  return text !== undefined && DECIMAL.test(text) ? Number(text) : text;
}
