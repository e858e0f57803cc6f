/** What a caller hands over, checked and made into text before the first try: every try of a call sends the same bytes. */

/** "`Idempotency-Key`, 1 to 255 characters, chosen by the partner" (docs/contract/partner-api.md, "Idempotency"). */
const MAX_KEY_CHARACTERS = 255;
/** Printable ASCII, no space at an end: of anything else runtimes send different bytes, and so different keys. */
const KEY = /^[!-~]([ -~]*[!-~])?$/;

/** The body as JSON. Throws a TypeError where JSON would silently change it: a number that is not finite becomes null. */
export function serialise(body: object): string {
  if (typeof body !== 'object' || body === null) throw new TypeError('The body is not an object.');
  return JSON.stringify(body, (name, value: unknown) => {
    if (typeof value === 'number' && !Number.isFinite(value)) {
      throw new TypeError(`${JSON.stringify(name)} is not a finite number: ${value}`);
    }
    return value;
  });
}

export function checkIdempotencyKey(key: string | undefined): string {
  if (typeof key !== 'string' || key.length > MAX_KEY_CHARACTERS || !KEY.test(key)) {
    throw new TypeError(
      `idempotencyKey is 1 to ${MAX_KEY_CHARACTERS} printable ASCII characters, chosen and stored before the call: a key made in the call is lost with the process.`,
    );
  }
  return key;
}

/**
 * The key of an outcome whose caller chose none. An attempt has one outcome, so its id alone says which: a process that died knows the key again.
 */
export function outcomeKeyOf(attemptId: string): string {
  return `outcome-${attemptId.toLowerCase()}`;
}

/** A value inside a path: it stays one segment, whatever it contains. */
export function segment(name: string, value: string): string {
  if (typeof value !== 'string' || /^\.{0,2}$/.test(value)) throw new TypeError(`${name} is not an id.`);
  return encodeURIComponent(value);
}

/** The query with its question mark; parameters without a value are left out. */
export function query(parameters: object = {}): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}
