/**
 * JSON.parse for receipts. In Node 24 the native one can misread a member name that is spelled with an escape (nodejs/node#63785): it can give it
 * the name of a member of an earlier object. The evidence of a receipt is signed, so no name may change. Only names are misread, so the
 * native parser validates the text, and its value is used unless some text has a backslash.
 */

/** An array or object whose end is not reached yet; an array has no names. */
interface Open {
  readonly names: string[] | null;
  readonly values: unknown[];
}

/** A string, a word (a number, true, false or null), or one of the characters that build arrays and objects. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[\w.+-]+|[[\]{}]/g;

/** Throws a SyntaxError for text that is not JSON. */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return text.includes('\\') ? read(text) : value;
}

/** Reads text that is known to be JSON. Strings and words are left to JSON.parse, which has no names to misread there. */
function read(text: string): unknown {
  const outermost: unknown[] = [];
  const stack: Open[] = [];
  let open: Open = { names: null, values: outermost };
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') {
      stack.push(open);
      open = { names: token === '{' ? [] : null, values: [] };
    } else if (token === '}' || token === ']') {
      const value = close(open);
      open = stack.pop() as Open;
      open.values.push(value);
    } else if (open.names?.length === open.values.length) {
      // In an object a string is a name exactly when every earlier name has its value.
      open.names.push(JSON.parse(token) as string);
    } else {
      open.values.push(JSON.parse(token));
    }
  }
  return outermost[0];
}

/** `fromEntries` defines its members, where an assignment to `__proto__` would set the prototype. */
function close({ names, values }: Open): unknown {
  return names === null ? values : Object.fromEntries(names.map((name, index) => [name, values[index]]));
}
