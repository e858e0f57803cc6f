import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkCallOptions, checkIdempotencyKey, outcomeKeyOf, pathSegment, query, serialise } from './arguments.ts';

test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
  'a body that contains %d at any depth is refused, since JSON would send null',
  (number) => {
    expect(() => serialise({ score: number })).toThrow('"score" is not a finite number');
    expect(() => serialise({ score: 1, evidence: { laps: [1, number] } })).toThrow(TypeError);
  },
);

test('a body is sent as JSON without the members that are undefined', () => {
  expect(serialise({ score: 87.5, tiebreak: undefined, evidence: { seed: '18446744073709551615' } })).toBe(
    '{"score":87.5,"evidence":{"seed":"18446744073709551615"}}',
  );
  for (const body of [undefined, null, 'x']) expect(() => serialise(body as unknown as object)).toThrow(TypeError);
});

test.each<[string, object]>([
  ['a lone surrogate', { metadata: { note: 'a\ud800' } }],
  ['a name with one', { metadata: { '\udc00': 1 } }],
  ['a function', { metadata: { act: () => 1 } }],
  ['a symbol', { evidence: [Symbol('s')] }],
  ['nothing in a list', { evidence: [undefined] }],
  ['a Map', { metadata: new Map([['a', 1]]) }],
  ['a Set', { metadata: { tags: new Set(['a']) } }],
  ['bytes', { evidence: { replay: new Uint8Array(2) } }],
  ['a boxed NaN', { score: Object(Number.NaN) }],
  ['a bigint', { score: 1n }],
  ['a list as the body', [{ score: 1 }]],
  ['a Map as the body', new Map([['score', 1]])],
  ['a body that writes itself as nothing', { toJSON: () => undefined }],
])('a body with what JSON would change is refused: %s', (_, body) => {
  expect(() => serialise(body)).toThrow(TypeError);
});

test('a serialised body parses to the same value', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue({ stringUnit: 'binary' })), (body) => {
      expect(JSON.parse(serialise(body))).toEqual(JSON.parse(JSON.stringify(body)));
    }),
  );
});

test.each([undefined, '', ' a', 'a ', 'schlüssel', 'a\nb', 'a'.repeat(256)])(
  'the idempotency key %j is refused',
  (key) => {
    expect(() => checkIdempotencyKey(key)).toThrow(TypeError);
  },
);

test('an idempotency key of up to 255 printable characters is sent unchanged', () => {
  for (const key of ['a', 'match 4711: create', 'a'.repeat(255)]) expect(checkIdempotencyKey(key)).toBe(key);
});

test('the idempotency key of an outcome depends only on the attempt’s id, in upper or lower case', () => {
  const id = '01a19b7c-a680-84d5-8c30-75b7b3806f7f';
  expect(outcomeKeyOf(id)).toBe(`outcome-${id}`);
  expect(outcomeKeyOf(id.toUpperCase())).toBe(outcomeKeyOf(id));
});

test('an id remains one segment of its path', () => {
  expect(pathSegment('id', 'a/../b?c#d')).toBe('a%2F..%2Fb%3Fc%23d');
  for (const id of ['', '.', '..', undefined]) expect(() => pathSegment('id', id as string)).toThrow(TypeError);
});

test('a query omits parameters without a value', () => {
  expect(query({ player_ref: 'a b&c', status: undefined })).toBe('?player_ref=a+b%26c');
  expect(query({ status: undefined })).toBe('');
  expect(query(undefined)).toBe('');
});

const NOT_TEXTS = [null, true, 1, {}, [], ['p'], Symbol('p'), () => 'p', Object('p'), 'a\ud800', '\udc00'];

test('a query and a path accept only well-formed text', () => {
  for (const value of NOT_TEXTS) {
    expect(() => query({ player_ref: value })).toThrow(TypeError);
    if (value !== 1) expect(() => query({ limit: value }, { whole: ['limit'] })).toThrow(TypeError);
    expect(() => pathSegment('id', value as string)).toThrow(TypeError);
  }
  for (const limit of [Number.NaN, 1.5, Number.POSITIVE_INFINITY, '1'])
    expect(() => query({ limit }, { whole: ['limit'] })).toThrow(TypeError);
  expect(() => query({}, { required: ['player_ref'] })).toThrow(TypeError);
  for (const parameters of [null, 'player_ref=p', ['p'], new Map([['player_ref', 'p']]), new URLSearchParams('a=b')])
    expect(() => query(parameters as object)).toThrow(TypeError);
});

test('a query and a path carry any well-formed text unchanged', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 3 }), (text) => {
      expect(new URLSearchParams(query({ player_ref: text })).get('player_ref')).toBe(text);
      expect(decodeURIComponent(pathSegment('playerRef', text))).toBe(text);
    }),
    { examples: [['😀'.repeat(255)], ['😀'.repeat(256)]] },
  );
});

test('options must be an object', () => {
  for (const options of [undefined, {}, { signal: undefined }, { signal: new AbortController().signal }])
    expect(() => checkCallOptions(options)).not.toThrow();
  for (const options of [
    null,
    1,
    'key',
    [],
    new Map(),
    { signal: null },
    { signal: {} },
    { signal: new AbortController() },
  ])
    expect(() => checkCallOptions(options)).toThrow(TypeError);
});
