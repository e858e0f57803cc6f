import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseExactJson, parseJson } from './parse-json.ts';
import { MAX_DEPTH, parseStrictJson } from './strict-json.ts';
import { spellsNul } from './text.ts';

const parse = (text: string, verbatimNames: readonly string[] = []) =>
  parseStrictJson(Buffer.from(text), { verbatimNames });
const issueOf = (text: string) => {
  const json = parse(text);
  return json.kind === 'invalid' ? json.message : null;
};

describe('what is refused', () => {
  test.each([
    ['nothing', ''],
    ['a trailing comma', '{"a":1,}'],
    ['a byte order mark', '\ufeff{}'],
    ['NaN', '{"a":NaN}'],
  ])('%s is not JSON', (_name, text) => {
    expect(issueOf(text)).toBe('The body is not valid JSON.');
  });

  test('bytes that are not UTF-8 are refused', () => {
    expect(parseStrictJson(Buffer.from([0x22, 0xff, 0x22]))).toEqual({
      kind: 'invalid',
      message: 'The body is not valid UTF-8.',
    });
  });

  test.each([
    ['at the top', '{"a":1,"a":1}', 'a'],
    ['spelled with an escape', '{"a":1,"\\u0061":2}', 'a'],
    ['inside', '{"x":[{"b":{},"b":{}}]}', 'b'],
    ['that hides an object with members', '{"a":{"b":1,"c":2},"a":{}}', 'a'],
    ['called __proto__', '{"__proto__":1,"__proto__":2}', '__proto__'],
    ['beside the same name in other objects', '[{"a":1},{"a":{"a":1},"b":[{"b":1}],"a":2}]', 'a'],
    ['with a long name', `{"${'n'.repeat(65)}":1,"${'n'.repeat(65)}":1}`, `${'n'.repeat(64)}…`],
    ['with a name that is hidden and no Unicode', '{"a":{"\\ud800":1,"\\ud800":2},"a":{}}', '\ufffd'],
  ])('an object that names a member twice %s is refused', (_name, text, name) => {
    expect(issueOf(text)).toBe(`The member \`${name}\` stands twice.`);
  });

  test.each(['1e999', '-1e999', `1${'0'.repeat(400)}`])('the number %s, out of range, is refused', (number) => {
    expect(issueOf(`{"score":${number}}`)).toBe('The body holds a number beyond the range of a double.');
  });

  test.each(['"\\ud800"', '{"\\udfff":1}'])('a lone surrogate is refused: %s', (text) => {
    expect(issueOf(text)).toBe('The body holds text that is not valid Unicode.');
  });

  test.each(['"\\u0000"', '{"\\u0000":1}', '{"a":{"b":["x\\\\\\u0000"]}}', '[1,"\\u0000\\\\u0000"]'])(
    'NUL is refused unless the reader allows it: %s',
    (text) => {
      expect(issueOf(text)).toBe('The body holds text with NUL.');
      expect(parseStrictJson(Buffer.from(text), { allowsNul: true })).toMatchObject({ value: JSON.parse(text) });
    },
  );

  test('NUL is found exactly where a text contains it', () => {
    expect(parse('{"\\\\u0000":"\\\\u0000"}')).toMatchObject({ value: { '\\u0000': '\\u0000' } });
    const part = fc.constantFrom('\0', '\\', 'u0000', '0', '"', 'a', '\u0001');
    fc.assert(
      fc.property(fc.array(part), fc.array(part), (name, value) => {
        const json = JSON.stringify({ [name.join('')]: value.join('') });
        expect(spellsNul(json)).toBe([...name, ...value].includes('\0'));
      }),
    );
  });

  test(`nesting beyond ${MAX_DEPTH} levels, however deep, is refused`, () => {
    const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
    expect(issueOf(nested(MAX_DEPTH))).toBeNull();
    expect(issueOf(nested(MAX_DEPTH + 1))).toMatch('deeper');
    expect(issueOf(nested(120_000))).toMatch('deeper');
  });
});

test('member names that the native parser would confuse are distinguished', () => {
  parse('{"h":[],"\\\\":0,"x":1}');
  expect(parse('{"h":1,"\\"":2,"\\\\":3}')).toMatchObject({ kind: 'parsed', value: { h: 1, '"': 2, '\\': 3 } });
});

describe('numbers', () => {
  test('numbers that a double holds are exact however they are spelled', () => {
    const json = parse(
      '{"score":1.50e2,"list":[-0,0.1,1e21,5e-324,0.30000000000000004],"text":"12345678901234567891"}',
    );
    expect(json.kind === 'parsed' && json.exact).toBe(json.kind === 'parsed' && json.value);
  });

  test.each([
    '{"seed":12345678901234567891}',
    '[[[-12345678901234567891]]]',
    '1e-400',
    '{"a":1,"b":{"c":[0, 9007199254740993 ]}}',
    '{"\\u0061":12345678901234567891.0}',
  ])('numbers that no double holds are distinguished: %s', (text) => {
    const json = parse(text);
    expect(json).toEqual({ kind: 'parsed', value: parseJson(text), exact: parseExactJson(text), verbatim: {} });
    expect(json.kind === 'parsed' && json.exact).not.toEqual(json.kind === 'parsed' && json.value);
  });
});

describe('what is cut out', () => {
  test('a requested member is returned as the text that was sent', () => {
    const text = ' { "metadata" : {"a": 1.0, "s":"},\\"{"} , "player_ref":"x", "evid\\u0065nce":[ ]\n} ';
    expect(parse(text, ['metadata', 'evidence'])).toMatchObject({
      verbatim: { metadata: '{"a": 1.0, "s":"},\\"{"}', evidence: '[ ]' },
    });
  });

  test('a nested member with the name of a requested member is ignored', () => {
    expect(parse('{"other":{"metadata":1},"list":[{"metadata":2}]}', ['metadata'])).toMatchObject({ verbatim: {} });
    expect(parse('[{"metadata":2}]', ['metadata'])).toMatchObject({ verbatim: {} });
  });
});

/** JSON text whose objects may repeat names, with what a reader that keeps all members sees. */
interface Sample {
  readonly text: string;
  readonly hasDuplicate: boolean;
}

const key = fc.oneof(fc.constantFrom('a', 'b', '__proto__', 'constructor', '"', '\\', ':', '{', ''), fc.string());
const space = fc.constantFrom('', ' ', '\n\t');
const { sample } = fc.letrec<{ sample: Sample }>((tie) => ({
  sample: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc
      .oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null), key)
      .map((value) => ({ text: JSON.stringify(value), hasDuplicate: false })),
    fc.array(tie('sample')).map((items) => ({
      text: `[${items.map((item) => item.text).join(',')}]`,
      hasDuplicate: items.some((item) => item.hasDuplicate),
    })),
    fc.array(fc.tuple(key, space, tie('sample'))).map((members) => ({
      text: `{${members.map(([name, gap, value]) => `${gap}${JSON.stringify(name)}${gap}:${gap}${value.text}`).join(`,`)}}`,
      hasDuplicate:
        new Set(members.map(([name]) => name)).size < members.length ||
        members.some(([, , value]) => value.hasDuplicate),
    })),
  ),
}));

describe('properties of strict JSON', () => {
  test('JSON text is refused exactly if an object repeats a member name', () => {
    fc.assert(
      fc.property(sample, ({ text, hasDuplicate }) => {
        const json = parse(text);
        if (hasDuplicate) {
          expect(json).toMatchObject({ kind: 'invalid', message: expect.stringMatching(/stands twice/) });
        } else {
          const value = parseJson(text);
          expect(json).toEqual({ kind: 'parsed', value, exact: value, verbatim: {} });
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test('the returned text of a member, parsed alone, gives the value of the member', () => {
    fc.assert(
      fc.property(fc.dictionary(key, fc.jsonValue(), { noNullPrototype: true }), fc.nat(3), (members, indent) => {
        const names = Object.keys(members);
        const json = parse(JSON.stringify(members, null, indent), names);
        if (json.kind !== 'parsed') return expect(json.message).toMatch('Unicode');
        for (const name of names) {
          expect(parseJson(json.verbatim[name] ?? '')).toEqual(parseJson(JSON.stringify(members[name])));
        }
      }),
      { numRuns: 500 },
    );
  });
});
