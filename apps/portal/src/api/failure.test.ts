import { expect, test } from 'vitest';
import { readFailure } from './failure.ts';

test('a refusal has its code, its message and the id of its request', () => {
  const headers = new Headers({ 'X-Request-Id': 'abc' });
  const body = { error: { code: 'not_found', message: 'There is no such program.' } };
  expect(readFailure(404, headers, body)).toEqual({
    kind: 'refused',
    status: 404,
    code: 'not_found',
    message: 'There is no such program.',
    requestId: 'abc',
    retryAfterSeconds: null,
  });
});

test('a 429 says when to try again', () => {
  expect(readFailure(429, new Headers({ 'Retry-After': '7' }), undefined)).toMatchObject({ retryAfterSeconds: 7 });
});

test('a 401 is a session that has ended', () => {
  expect(readFailure(401, new Headers(), undefined)).toEqual({ kind: 'session-ended' });
});

test('an answer without the envelope is not from the gateway', () => {
  expect(readFailure(502, new Headers(), undefined)).toEqual({ kind: 'unreachable' });
  expect(readFailure(503, new Headers(), '<html>')).toEqual({ kind: 'unreachable' });
});
