/**
 * JSON.parse for text from outside. In Node 24 the native parser can misread a member name that is
 * spelled with an escape: it may take the raw characters for those of a member of an earlier
 * object. After `{"h":[],"\\":0}` it reads the second name of `{"h":1,"\"":2}` as a backslash, and
 * two members can become one (nodejs/node#63785, chromium 521080746). Partners sign what they send,
 * so no name may change.
 *
 * The native parser misreads only names, never the syntax or a value. So it still validates every
 * text, and this library reads a text anew only if a name has an escape. When no supported Node has
 * the bug, replace this library by JSON.parse.
 */
import { type ExactNumber, readNumber } from './exact-number.ts';
import { endOfString } from './string-text.ts';

/**
 * Reads JSON text as the specification of JSON.parse without a reviver says: of two members with
 * one name the last counts, `__proto__` is an ordinary member, depth is unlimited. Throws a
 * SyntaxError for text that is not JSON.
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return hasEscapedName(text) ? read(text, Number) : value;
}

/**
 * Parses like parseJson, with an ExactNumber for every number that no double prints back. Slower:
 * for text known to have one.
 */
export function parseExactJson(text: string): unknown {
  JSON.parse(text);
  return read(text, readNumber);
}

/** Matches the colon that follows the closing quote of a member name. */
const COLON = /\s*:/y;

/**
 * Whether the JSON text spells a member name with a backslash. For text without a backslash this
 * costs one native search.
 */
function hasEscapedName(text: string): boolean {
  let backslash = text.indexOf('\\');
  while (backslash !== -1) {
    const end = endOfString(text, backslash);
    COLON.lastIndex = end + 1;
    if (COLON.test(text)) return true;
    backslash = text.indexOf('\\', end + 1);
  }
  return false;
}

/** An array or object whose end has not been read; an array has no names. */
interface OpenContainer {
  readonly names: string[] | null;
  readonly values: unknown[];
}

/** A number, true, false or null. */
const WORD = /[\w.+-]+/y;
const LITERALS: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/**
 * Reads text that is known to be JSON. JSON.parse reads each single string: a string contains no
 * member names that it could misread. A list holds the open arrays and objects: deep nesting would
 * exhaust the call stack.
 */
function read(text: string, numberOf: (spelling: string) => number | ExactNumber): unknown {
  const outermost: unknown[] = [];
  const stack: OpenContainer[] = [];
  let open: OpenContainer = { names: null, values: outermost };
  let index = 0;
  while (index < text.length) {
    switch (text.charAt(index)) {
      case '{':
      case '[':
        stack.push(open);
        open = { names: text.charAt(index) === '{' ? [] : null, values: [] };
        index += 1;
        break;
      case '}':
      case ']': {
        const value = close(open);
        open = stack.pop() as OpenContainer;
        open.values.push(value);
        index += 1;
        break;
      }
      case '"': {
        const end = endOfString(text, index + 1) + 1;
        const string = JSON.parse(text.slice(index, end)) as string;
        // In an object a string is a name if every earlier name has its value.
        if (open.names?.length === open.values.length) open.names.push(string);
        else open.values.push(string);
        index = end;
        break;
      }
      case ',':
      case ':':
      case ' ':
      case '\n':
      case '\r':
      case '\t':
        index += 1;
        break;
      default: {
        WORD.lastIndex = index;
        const word = WORD.exec(text)?.[0] ?? '';
        const literal = LITERALS.get(word);
        open.values.push(literal === undefined ? numberOf(word) : literal);
        index = WORD.lastIndex;
      }
    }
  }
  return outermost[0];
}

/** `fromEntries` defines members; an assignment to `__proto__` would set the prototype. */
function close({ names, values }: OpenContainer): unknown {
  return names === null ? values : Object.fromEntries(names.map((name, index) => [name, values[index]]));
}
