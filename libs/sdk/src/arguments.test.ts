import { expect, test } from 'vitest';
import { checkIdempotencyKey, outcomeKeyOf, query, segment, serialise } from './arguments.ts';

test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])(
  'a body with %d is refused wherever it stands, since JSON would send null',
  (number) => {
    expect(() => serialise({ score: number })).toThrow('"score" is not a finite number');
    expect(() => serialise({ score: 1, evidence: { laps: [1, number] } })).toThrow(TypeError);
  },
);

test('a body is sent as its JSON, members without a value left out', () => {
  expect(serialise({ score: 87.5, tiebreak: undefined, evidence: { seed: '18446744073709551615' } })).toBe(
    '{"score":87.5,"evidence":{"seed":"18446744073709551615"}}',
  );
  for (const body of [undefined, null, 'x']) expect(() => serialise(body as unknown as object)).toThrow(TypeError);
});

test.each([undefined, '', ' a', 'a ', 'schlüssel', 'a\nb', 'a'.repeat(256)])(
  'the idempotency key %j is refused',
  (key) => {
    expect(() => checkIdempotencyKey(key)).toThrow(TypeError);
  },
);

test('an idempotency key of up to 255 printable characters is sent as it is', () => {
  for (const key of ['a', 'match 4711: create', 'a'.repeat(255)]) expect(checkIdempotencyKey(key)).toBe(key);
});

test('the key of an outcome depends on the attempt alone, in either case of its letters', () => {
  const id = '01a19b7c-a680-84d5-8c30-75b7b3806f7f';
  expect(outcomeKeyOf(id)).toBe(`outcome-${id}`);
  expect(outcomeKeyOf(id.toUpperCase())).toBe(outcomeKeyOf(id));
});

test('an id stays one segment of its path', () => {
  expect(segment('id', 'a/../b?c#d')).toBe('a%2F..%2Fb%3Fc%23d');
  for (const id of ['', '.', '..', undefined]) expect(() => segment('id', id as string)).toThrow(TypeError);
});

test('a query leaves out what has no value', () => {
  expect(query({ player_ref: 'a b&c', status: undefined })).toBe('?player_ref=a+b%26c');
  expect(query({ status: undefined })).toBe('');
  expect(query(undefined)).toBe('');
});
