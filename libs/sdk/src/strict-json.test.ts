/**
 * The SDK has no dependencies, so it reads JSON with its own code. These property tests compare it
 * with the gateway's.
 */
import { parseStrictJson as serverParse } from '@laurel/json';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseExactJson, parseIfJson, parseStrictJson } from './strict-json.ts';

/** Returns why JSON is refused; null for JSON that is accepted. */
function refusalOf(parse: (source: Uint8Array<ArrayBuffer>) => unknown, source: string | Uint8Array): string | null {
  try {
    parse(Uint8Array.from(Buffer.from(source)));
    return null;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return error.message;
  }
}

describe('what is refused', () => {
  test.each([
    ['', 'is not JSON'],
    ['{"a":1,}', 'is not JSON'],
    ['\ufeff{}', 'is not JSON'],
    ['{"score":999999,"score":1}', 'names the member "score" twice'],
    ['{"score":1,"sc\\u006fre":2}', 'names the member "sc\\u006fre" twice'],
    ['{"receipt":{},"signature":"","receipt":{}}', 'names the member "receipt" twice'],
    ['{"a":[{"b":{},"b":{}}]}', 'names the member "b" twice'],
    ['{"__proto__":1,"__proto__":2}', 'names the member "__proto__" twice'],
    ['"\\ud800"', 'has text that is not valid Unicode'],
    ['{"\\udfff":1}', 'has text that is not valid Unicode'],
    ['{"score":1e999}', 'has a number beyond the range of a double'],
    ['['.repeat(65) + ']'.repeat(65), 'nests deeper than 64 levels'],
    ['['.repeat(100_000) + ']'.repeat(100_000), 'nests deeper than 64 levels'],
  ])('%.60s is refused: it %s', (text, message) => {
    expect(refusalOf(parseStrictJson, text)).toBe(message);
    expect(refusalOf(parseExactJson, text)).toBe(message);
    expect(() => parseStrictJson(text)).toThrow(SyntaxError);
  });

  test('bytes that are not UTF-8 are refused', () => {
    for (const bytes of [
      [0x22, 0xff, 0x22],
      [0x22, 0xc0, 0xaf, 0x22],
      [0x22, 0xed, 0xa0, 0x80, 0x22],
    ])
      expect(refusalOf(parseStrictJson, Uint8Array.from(bytes))).toBe('is not UTF-8');
  });

  test.each([
    '12.50000000000000001',
    '12345678901234567891',
    '9007199254740993',
    '1e-400',
    '0.1000000000000000055511151231257827',
  ])('the number %s, which a double changes, is refused where numbers must be exact', (number) => {
    expect(refusalOf(parseExactJson, `{"a":[${number}]}`)).toContain('more digits than');
    expect(parseStrictJson(`{"a":[${number}]}`)).toEqual({ a: [Number(number)] });
  });

  test.each(['12.50', '1e2', '-0', '0.1', '5e-324', '1.7976931348623157e308', '100e-2', `1${'0'.repeat(30)}`])(
    'the number %s is exact',
    (number) => {
      expect(parseExactJson(number)).toBe(Number(number));
    },
  );
});

test('only text and bytes are read as JSON', () => {
  expect(parseIfJson('{"a":1}')).toEqual({ a: 1 });
  expect(parseIfJson(Buffer.from('{"a":1}'))).toEqual({ a: 1 });
  for (const parsed of [null, undefined, 1, { a: 1 }, [1]]) expect(parseIfJson(parsed)).toBe(parsed);
});

const name = fc.oneof(fc.constantFrom('a', 'b', 'score', '__proto__', '"', '\\', '', '\0', '\\u0000'), fc.string());
/** A string in one of its spellings. */
const spelled = fc.tuple(name, fc.boolean()).map(([text, isEscaped]) => {
  const json = JSON.stringify(text);
  return isEscaped
    ? json.replaceAll(/[a-z](?=[^\\]*"$)/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`)
    : json;
});
const digits = fc.stringMatching(/^(0|[1-9]\d{0,24})$/);
const number = fc
  .tuple(
    fc.constantFrom('', '-'),
    digits,
    fc.option(fc.stringMatching(/^\d{1,24}$/)),
    fc.option(fc.integer({ min: -400, max: 400 })),
  )
  .map(
    ([sign, whole, fraction, power]) =>
      `${sign}${whole}${fraction === null ? '' : `.${fraction}`}${power === null ? '' : `e${power}`}`,
  );
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.oneof(number, spelled, fc.constantFrom('true', 'false', 'null', '"\\ud83d"', '"\\ud83d\\ude00"', '1e999')),
    fc.array(tie('json')).map((items) => `[${items.join(' ,')}]`),
    fc
      .array(fc.tuple(spelled, tie('json')))
      .map((members) => `{${members.map(([key, value]) => `${key} :${value}`).join()}}`),
  ),
}));
/** JSON, and bytes that are nearly JSON. */
const source = fc.oneof(
  json.map((text) => Buffer.from(text)),
  fc.tuple(json, fc.nat(), fc.nat(255)).map(([text, at, byte]) => {
    const bytes = Buffer.from(text);
    bytes[at % Math.max(1, bytes.length)] = byte;
    return bytes;
  }),
);

test('the SDK accepts exactly the JSON that the gateway accepts', () => {
  fc.assert(
    fc.property(source, (bytes) => {
      const server = serverParse(bytes);
      expect([bytes.toString(), refusalOf(parseStrictJson, bytes) === null]).toEqual([
        bytes.toString(),
        server.kind === 'parsed',
      ]);
      if (server.kind === 'parsed') expect(parseStrictJson(Uint8Array.from(bytes))).toEqual(server.value);
      const receipt = serverParse(bytes, { allowsNul: true });
      if (receipt.kind !== 'parsed') return;
      expect([bytes.toString(), refusalOf(parseExactJson, bytes) === null]).toEqual([
        bytes.toString(),
        receipt.exact === receipt.value,
      ]);
    }),
    { numRuns: 3_000 },
  );
});
