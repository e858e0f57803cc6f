import { describe, expect, it } from 'vitest';
import {
  decideChange,
  decideDescription,
  decideEndpointLimit,
  decideSend,
  type Endpoint,
  MAX_ENDPOINTS,
} from './endpoint.ts';

const ENDPOINT: Endpoint = {
  id: '11111111-1111-7111-8111-111111111111',
  developerId: '22222222-2222-7222-8222-222222222222',
  url: 'https://example.com/hooks',
  events: ['attempt.settled'],
  programId: null,
  environment: null,
  description: 'ours',
  isActive: true,
  createdAt: new Date('2026-11-21T12:00:00.000Z'),
};

describe('an endpoint’s description', () => {
  it('an endpoint’s description may have up to 1,000 characters', () => {
    for (const text of ['', 'ours', 'é'.repeat(1_000), '🏆'.repeat(1_000)]) expect(decideDescription(text)).toBe(text);
  });

  it('an endpoint’s description with more than 1,000 characters or with NUL is refused', () => {
    for (const text of ['e'.repeat(1_001), '🏆'.repeat(1_001), 'a\0b'])
      expect(decideDescription(text)).toMatchObject({ kind: 'refused', code: 'invalid_request' });
  });
});

it('a developer may have at most 20 endpoints', () => {
  expect(MAX_ENDPOINTS).toBe(20);
  expect(decideEndpointLimit(19)).toBeNull();
  for (const count of [20, 21])
    expect(decideEndpointLimit(count)).toEqual({
      kind: 'refused',
      code: 'conflict',
      message: 'A developer has at most 20 endpoints.',
    });
});

it('a delivery may be sent only to an endpoint that exists and is on', () => {
  expect(decideSend({ isActive: true })).toBeNull();
  expect(decideSend(null)).toMatchObject({ kind: 'refused', code: 'not_found' });
  expect(decideSend({ isActive: false })).toEqual({
    kind: 'refused',
    code: 'conflict',
    message: 'The endpoint is off.',
  });
});

describe('a change of an endpoint', () => {
  const nothing = { url: undefined, events: undefined, description: undefined, isActive: undefined };

  it('a change of an endpoint keeps the fields that are absent', () => {
    expect(decideChange(ENDPOINT, nothing)).toEqual(ENDPOINT);
  });

  it('a change of an endpoint applies every field that is sent, even an empty or false value', () => {
    const change = { url: 'https://example.org/', events: [], description: '', isActive: false };
    expect(decideChange(ENDPOINT, change)).toEqual({ ...ENDPOINT, ...change });
    expect(decideChange(ENDPOINT, { ...nothing, description: 'theirs' })).toEqual({
      ...ENDPOINT,
      description: 'theirs',
    });
  });
});
