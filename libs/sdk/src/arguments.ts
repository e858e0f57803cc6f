/**
 * Checks a caller's arguments and turns them into text before the first try, so that every try
 * sends the same bytes.
 */
import { isWellFormed } from './strict-json.ts';

/** The longest `Idempotency-Key` (docs/contract/partner-api.md, "Idempotency"). */
const MAX_IDEMPOTENCY_KEY_CHARACTERS = 255;
/**
 * Printable ASCII without a space at either end: runtimes send other text as different bytes, so
 * one key would become several.
 */
const IDEMPOTENCY_KEY = /^[!-~]([ -~]*[!-~])?$/;

/**
 * The body as JSON. Throws a TypeError if JSON would silently change it: a number that is not
 * finite becomes null, a Map an empty object, a function nothing; half of a surrogate pair has no
 * UTF-8. Members without a value are left out.
 */
export function serialise(body: object): string {
  checkRecord('The body', body);
  const text: string | undefined = JSON.stringify(body, function (this: unknown, name: string, value: unknown) {
    const issue = issueOf(value, Array.isArray(this));
    if (issue !== null) throw new TypeError(`${JSON.stringify(name)} ${issue}`);
    if (!isWellFormed(name)) throw new TypeError(`the name ${JSON.stringify(name)} ${ILL_FORMED}`);
    return value;
  });
  if (text === undefined) throw new TypeError('The body has no JSON form.');
  return text;
}

const ILL_FORMED = 'has half of a surrogate pair';

/** What JSON would change about a value; null if nothing. */
function issueOf(value: unknown, isInArray: boolean): string | null {
  const plain = value instanceof Number || value instanceof String ? value.valueOf() : value;
  if (typeof plain === 'number' && !Number.isFinite(plain)) return `is not a finite number: ${plain}`;
  if (typeof plain === 'string' && !isWellFormed(plain)) return ILL_FORMED;
  if (typeof plain === 'function' || typeof plain === 'symbol') return `is a ${typeof plain}, which JSON leaves out`;
  if (plain === undefined && isInArray) return 'has no value, which JSON makes null';
  return isCollection(plain) ? 'is a collection that JSON does not write' : null;
}

/**
 * A Map, a Set, a URLSearchParams, an iterator: values that JSON and `Object.entries` see as empty.
 */
function isCollection(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Symbol.iterator in value && !Array.isArray(value);
}

function checkRecord(name: string, value: unknown): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || isCollection(value)) {
    throw new TypeError(`${name} is not an object.`);
  }
}

/** Throws a TypeError for values that are not text, or have no UTF-8. */
export function checkText(name: string, value: unknown): string {
  if (typeof value !== 'string') throw new TypeError(`${name} is not a string.`);
  if (!isWellFormed(value)) throw new TypeError(`${name} ${ILL_FORMED}.`);
  return value;
}

/**
 * Checks that the body of a call names a player by text. The API checks the length and the
 * characters of that text.
 */
export function checkPlayerBody<Body extends { readonly player_ref: string }>(body: Body): Body {
  checkRecord('The body', body);
  checkText('player_ref', body.player_ref);
  return body;
}

/** The options that every call takes. */
export function checkCallOptions(options: unknown): void {
  if (options === undefined) return;
  checkRecord('The last argument', options);
  const { signal } = options as { signal?: Partial<AbortSignal> | null };
  if (signal === undefined) return;
  if (typeof signal?.aborted !== 'boolean' || typeof signal.addEventListener !== 'function') {
    throw new TypeError('signal is not an AbortSignal.');
  }
}

/** ASCII has one UTF-16 unit a character, so the length counts characters. */
export function checkIdempotencyKey(key: string | undefined): string {
  if (typeof key !== 'string' || key.length > MAX_IDEMPOTENCY_KEY_CHARACTERS || !IDEMPOTENCY_KEY.test(key)) {
    throw new TypeError(
      `idempotencyKey is 1 to ${MAX_IDEMPOTENCY_KEY_CHARACTERS} printable ASCII characters, chosen and stored before the call: a key made in the call is lost with the process.`,
    );
  }
  return key;
}

/**
 * The key of an outcome whose caller chose no key. An attempt has one outcome, so the key derives
 * from the attempt's id, and a process that restarts derives the same key.
 */
export function outcomeKeyOf(attemptId: string): string {
  return `outcome-${attemptId.toLowerCase()}`;
}

/** A value inside a path: it stays one segment, whatever it contains. */
export function pathSegment(name: string, value: string): string {
  if (/^\.{0,2}$/.test(checkText(name, value))) throw new TypeError(`${name} is not an id.`);
  return encodeURIComponent(value);
}

/** The query with its question mark; leaves out optional parameters without a value. */
export function query(
  parameters: object = {},
  { required = [], whole = [] }: { readonly required?: readonly string[]; readonly whole?: readonly string[] } = {},
): string {
  checkRecord('The query', parameters);
  const given = new Map(Object.entries(parameters).filter(([, value]) => value !== undefined));
  for (const name of required) checkText(name, given.get(name));
  const texts = [...given].map(([name, value]): [string, string] => [
    name,
    whole.includes(name) ? wholeText(name, value) : checkText(name, value),
  ]);
  return texts.length === 0 ? '' : `?${new URLSearchParams(texts)}`;
}

function wholeText(name: string, value: unknown): string {
  if (!Number.isSafeInteger(value)) throw new TypeError(`${name} is not a whole number.`);
  return String(value);
}
