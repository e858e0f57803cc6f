import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toParameter } from './parameter.ts';

test.each([
  [undefined, null],
  [null, null],
  ['text', 'text'],
  [1.5, '1.5'],
  [-0, '0'],
  [2n ** 63n, '9223372036854775808'],
  [true, 'true'],
  [new Date('2026-01-02T03:04:05.678Z'), '2026-01-02T03:04:05.678Z'],
  [new Date('-000043-03-15T12:00:00.000Z'), '0044-03-15T12:00:00.000Z BC'],
  [new Date('0000-01-01T00:00:00.000Z'), '0001-01-01T00:00:00.000Z BC'],
  [new Date('+012026-01-02T03:04:05.678Z'), '12026-01-02T03:04:05.678Z'],
  [{ a: [1] }, '{"a":[1]}'],
  [[], '{}'],
  [['a"b\\c', null, 'NULL', ''], '{"a\\"b\\\\c",NULL,"NULL",""}'],
  [
    [
      [1, 2],
      [3, null],
    ],
    '{{"1","2"},{"3",NULL}}',
  ],
  [[Buffer.from([0, 255])], '{\\\\x00ff}'],
  [[{ a: 1 }], '{"{\\"a\\":1}"}'],
])('the value %o is sent as %j', (value, parameter) => {
  expect(toParameter(value)).toEqual(parameter);
});

test('bytes are sent unchanged even if they are a part of a buffer', () => {
  const bytes = Buffer.from([1, 2, 3]);
  expect(toParameter(bytes)).toBe(bytes);
  expect(toParameter(new Uint8Array(bytes.buffer, bytes.byteOffset + 1, 2))).toEqual(Buffer.from([2, 3]));
});

test.each([[() => 1], [Symbol('s')], [new Date(Number.NaN)]])('%s is not a valid value of a statement', (value) => {
  expect(() => toParameter(value)).toThrow();
});

test('values other than instants are sent as pg itself sends them', async () => {
  // Only this test needs pg's own encoding, and `@types/pg` does not declare it.
  const specifier = 'pg/lib/utils.js';
  const { default: utils }: { default: { prepareValue(value: unknown): unknown } } = await import(specifier);
  const value = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 2 },
      fc.constantFrom(null, undefined, true, false),
      fc.string({ unit: 'binary' }),
      fc.double(),
      fc.bigInt(),
      fc.uint8Array().map((bytes) => Buffer.from(bytes)),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.integer()), { noNullPrototype: true }),
    ),
  })).value;
  fc.assert(
    fc.property(value, (one) => {
      expect(toParameter(one)).toEqual(utils.prepareValue(one));
    }),
    { numRuns: 100 },
  );
});
