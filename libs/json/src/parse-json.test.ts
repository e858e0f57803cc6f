import { deepStrictEqual } from 'node:assert';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJson } from './parse-json.ts';

const define = (object: object, name: string, value: unknown) =>
  Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });

describe('a member name that is spelled with an escape', () => {
  // Each pair is read in this order; the native parser gives the second object a name of the first.
  test.each([
    ['a quote', '{"h":[],"\\\\":0}', '{"h":1,"\\"":2}', ['h', '"']],
    ['a line feed', '{"h":[],"\\\\":0}', '{"h":1,"\\n":2}', ['h', '\n']],
    ['a code point', '{"h":[],"\\\\u0061b":0}', '{"h":1,"\\u0061bcdefg":2}', ['h', 'abcdefg']],
    ['a quote beside a backslash', '{"k":[],"\\\\":0,"x":1}', '{"k":1,"\\"":1,"\\\\":2}', ['k', '"', '\\']],
    ['a quote further in', '{"h":[],"\\\\":0}', '[ {"h":1, "\\"" \n : {"\\"":1} } ]', ['h', '"']],
  ])('parsing another text does not change an escaped name: %s', (_name, first, second, names) => {
    parseJson(first);
    const value = parseJson(second);
    expect(Object.keys((Array.isArray(value) ? value[0] : value) as object)).toEqual(names);
  });

  test('an escaped member name is distinguished from a value with an escape', () => {
    expect(parseJson('["\\"", "\\":", {"a":"\\\\"}, "\\\\", {"\\\\" : ":"}]')).toEqual([
      '"',
      '":',
      { a: '\\' },
      '\\',
      { '\\': ':' },
    ]);
  });

  test('the last value of a repeated member counts, however the member name is spelled', () => {
    expect(JSON.stringify(parseJson('{"\\u0061":1,"b":2,"a":{"\\n":3},"\\n":4,"\\u000A":5,"\\u0031":6}'))).toBe(
      '{"1":6,"a":{"\\n":3},"b":2,"\\n":5}',
    );
  });

  test('a member named __proto__ does not set the prototype', () => {
    const value = parseJson('{"\\u005f_proto__":{"admin":true},"\\"":{"__proto__":null}}') as Record<string, object>;
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.keys(value)).toEqual(['__proto__', '"']);
    expect(Object.keys(value['"'] ?? {})).toEqual(['__proto__']);
    expect(value).not.toHaveProperty('admin');
  });
});

test.each([
  '',
  ' ',
  '{"\\x":1}',
  '{"\\u00g0":1}',
  '{"\\":1}',
  '{"\\n":1,}',
  '{"\\n":01}',
  '{"\\n" 1}',
  '{"\\n":1}}',
  '["\\n":1]',
  '{"\\n":tru}',
  '\ufeff{}',
])('%j is not JSON', (text) => {
  expect(() => parseJson(text)).toThrow(SyntaxError);
});

test('parseJson does not limit nesting depth', () => {
  const levels = 120_000;
  let value = parseJson(`${'[{"\\n":'.repeat(levels)}null${'}]'.repeat(levels)}`);
  for (let level = 0; level < levels; level += 1) value = (value as [Record<string, unknown>])[0]['\n'];
  expect(value).toBeNull();
});

// --- the property: a value is drawn with a text that spells it, so that no parser has to read it
// ---

interface Sample {
  readonly text: string;
  readonly value: unknown;
}

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '/': '\\/',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

/** Spells each UTF-16 unit as itself if JSON allows that, by its short escape, or by number. */
function spell(string: string, choices: readonly number[]): string {
  const units = string.split('').map((unit, index) => {
    const choice = choices.length === 0 ? 0 : choices[index % choices.length];
    const code = unit.charCodeAt(0);
    const hex = code.toString(16).padStart(4, '0');
    if (choice === 0 && code >= 0x20 && unit !== '"' && unit !== '\\') return unit;
    if (choice !== 2 && unit in SHORT_ESCAPES) return SHORT_ESCAPES[unit];
    return `\\u${choice === 3 ? hex.toUpperCase() : hex}`;
  });
  return `"${units.join('')}"`;
}

// Few names, so that the objects of a run share shapes: the native parser misreads those.
const name = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('a', '\\', '"', '\n', '\\u0061', '\\"', 'a\\', 'a"', '__proto__', '1', '') },
  { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
);
const string = fc
  .tuple(name, fc.array(fc.nat(3), { maxLength: 4 }))
  .map(([value, choices]) => ({ text: spell(value, choices), value }));
const number = fc
  .constantFrom('0', '-0', '-1', '12.50', '1e999', '-1E-7', '0.1e+2', '9007199254740993')
  .map((text) => ({ text, value: Number(text) }));
const space = fc.constantFrom('', '', ' ', '\n\r\t');

const { sample } = fc.letrec<{ sample: Sample }>((tie) => ({
  sample: fc.oneof(
    { maxDepth: 3, depthSize: 'small', withCrossShrink: true },
    fc.oneof(
      string,
      number,
      fc.constantFrom(true, false, null).map((value) => ({ text: `${value}`, value })),
    ),
    fc.tuple(fc.array(tie('sample'), { maxLength: 4 }), space).map(([items, gap]) => ({
      text: `[${gap}${items.map((item) => item.text).join(`${gap},`)}${gap}]`,
      value: items.map((item) => item.value),
    })),
    fc.tuple(fc.array(fc.tuple(string, tie('sample')), { maxLength: 5 }), space).map(([members, gap]) => ({
      text: `{${gap}${members.map(([key, { text }]) => `${key.text}${gap}:${gap}${text}`).join(`,${gap}`)}${gap}}`,
      value: members.reduce((object, [key, { value }]) => define(object, key.value, value), {}),
    })),
  ),
}));

test('every text is read as it is spelled, whatever was parsed before', () => {
  fc.assert(
    fc.property(sample, ({ text, value }) => {
      const parsed = parseJson(text);
      deepStrictEqual(parsed, value);
      // The order of members, which the comparison above ignores.
      expect(JSON.stringify(parsed)).toBe(JSON.stringify(value));
    }),
    { numRuns: 5_000 },
  );
});
