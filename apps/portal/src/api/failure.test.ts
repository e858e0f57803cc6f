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

test('a response 429 states when to try again', () => {
  expect(readFailure(429, new Headers({ 'Retry-After': '7' }), undefined)).toMatchObject({ retryAfterSeconds: 7 });
});

test('a response 401 means that the session has ended', () => {
  expect(readFailure(401, new Headers(), undefined)).toEqual({ kind: 'session-ended' });
});

test('a response without the error envelope does not come from the gateway', () => {
  expect(readFailure(502, new Headers(), undefined)).toEqual({ kind: 'unreachable' });
  expect(readFailure(503, new Headers(), '<html>')).toEqual({ kind: 'unreachable' });
});
