/**
 * The SDK shares no code with the server. These tests compare its closed sets with the server's.
 */
import { readFileSync } from 'node:fs';
import { HTTP_STATUS } from '@laurel/errors';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readFailure } from './answer.ts';
import { ATTEMPT_STATUSES, isApiAnswer, isRefusedByApi, STATUS_OF_CODE } from './closed-sets.ts';

const DOCUMENT = new URL('../../../docs/openapi/partner-v1.yaml', import.meta.url);
const { components } = parse(readFileSync(DOCUMENT, 'utf8')) as {
  readonly components: { readonly schemas: Readonly<Record<string, { readonly enum: readonly string[] }>> };
};
const enumOf = (name: string) => components.schemas[name]?.enum.toSorted();
const HEADERS = new Headers();

const code = fc.oneof(
  fc.constantFrom(...Object.keys(HTTP_STATUS), 'toString', '__proto__', 'EBADCSRFTOKEN'),
  fc.string(),
  fc.constantFrom(['blocked'], { code: 'blocked' }, 403, null),
);
const status = fc.oneof(fc.constantFrom(...Object.values(HTTP_STATUS)), fc.integer({ min: 300, max: 599 }));

test('the error codes and attempt statuses are those of the API document', () => {
  expect(Object.keys(STATUS_OF_CODE).toSorted()).toEqual(enumOf('ErrorCode'));
  expect(ATTEMPT_STATUSES.toSorted()).toEqual(enumOf('AttemptStatus'));
  expect(HTTP_STATUS).toMatchObject(STATUS_OF_CODE);
});

test('a response is from the API only if its status matches its code', () => {
  const undecided = ['unauthorized', 'idempotency_in_progress', 'internal_error'];
  fc.assert(
    fc.property(status, code, (its, value) => {
      const isKnown = Object.entries(STATUS_OF_CODE).some(([known, expected]) => known === value && expected === its);
      expect(isApiAnswer(its, value)).toBe(isKnown);
      expect(isRefusedByApi(its, value)).toBe(isKnown && !undecided.includes(String(value)));
    }),
  );
});

test('a call fails with a code of the API only if the response has the status of that code', () => {
  fc.assert(
    fc.property(status, code, (its, value) => {
      fc.pre(its !== 429);
      const text = JSON.stringify({ error: { code: value, message: 'No.' } });
      const error = readFailure({ status: its, text, headers: HEADERS }, { operation: 'GET /v1/tournaments' });
      const isOfApi = isApiAnswer(its, value) || (value === 'conflict' && its === 409);
      expect([error.code, error.status]).toEqual([isOfApi ? value : 'network', its]);
    }),
  );
});
