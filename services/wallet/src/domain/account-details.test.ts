import { describe, expect, it } from 'vitest';
import { checkAccountDetails } from './account-details.ts';

const now = new Date('2026-11-21T12:00:00.000Z');
const details = { email: 'a@b.example', dateOfBirth: '1990-02-28', jurisdiction: 'US-CA', verificationLevel: 1 };

describe('checkAccountDetails', () => {
  it('checkAccountDetails returns the e-mail address in lower case', () => {
    expect(checkAccountDetails({ ...details, email: ' Ann@Example.COM ' }, now)).toEqual({
      ...details,
      email: 'ann@example.com',
    });
  });

  it.each([
    ['an address without a sign', { email: 'plain-text' }],
    ['an address with a blank', { email: 'a b@c' }],
    ['an address with a NUL', { email: 'a\0@c' }],
    ['a day that does not exist', { dateOfBirth: '1990-02-30' }],
    ['a date in another form', { dateOfBirth: '28.02.1990' }],
    ['a date to come', { dateOfBirth: '2026-11-22' }],
    ['a jurisdiction in lower case', { jurisdiction: 'us-ca' }],
    ['no jurisdiction', { jurisdiction: '' }],
    ['a verification level above 3', { verificationLevel: 4 }],
    ['a verification level below 0', { verificationLevel: -1 }],
  ])('checkAccountDetails refuses %s', (_, change) => {
    expect(checkAccountDetails({ ...details, ...change }, now)).toMatchObject({ code: 'invalid_request' });
  });
});
