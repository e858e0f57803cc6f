import { Metadata, status } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import { callFailedError, countsAgainstBreaker, serviceError, statusOfThrown } from './error-mapping.ts';

function failedBy(trailer: string | undefined) {
  const metadata = new Metadata();
  if (trailer !== undefined) metadata.set(trailer, '1');
  return callFailedError('a call', serviceError({ code: status.INTERNAL, details: 'internal error', metadata }));
}

test('an error of a handler does not count against the breaker', () => {
  expect(countsAgainstBreaker(failedBy('laurel-error'))).toBe(false);
});

test('an INTERNAL status without the trailer of a handler counts against the breaker', () => {
  expect(countsAgainstBreaker(failedBy(undefined))).toBe(true);
});

test('an error of a handler is sent with its trailer', () => {
  const { code, metadata } = statusOfThrown(new Error('bug'));
  expect([code, metadata.getMap()]).toEqual([status.INTERNAL, { 'laurel-error': '1' }]);
});
