import { IDEMPOTENCY_USE_RETENTION_MS } from '@laurel/attempts/domain';
import { describe, expect, test } from 'vitest';
import { decideIdempotency, type IdempotencyRecord } from './idempotency-decision.ts';

const LIMITS = { takeoverMs: 60_000 };
const LOCKED_AT = new Date('2026-11-21T12:00:00.000Z');
const later = (ms: number) => new Date(LOCKED_AT.getTime() + ms);

const record: IdempotencyRecord = {
  operationId: 'first',
  fingerprint: 'same',
  state: 'locked',
  createdAt: LOCKED_AT,
  lockedAt: LOCKED_AT,
  stored: null,
};
const completed: IdempotencyRecord = { ...record, state: 'completed', stored: { status: 201, body: '{}' } };
const released: IdempotencyRecord = { ...record, state: 'released' };

const use = (fingerprint: string, ms: number) => ({ operationId: 'second', fingerprint, now: later(ms) });
const decide = (of: IdempotencyRecord, fingerprint: string, ms: number) =>
  decideIdempotency(of, use(fingerprint, ms), LIMITS);

describe('decisions for the same request', () => {
  test('a repeated request replays the response of the completed one', () => {
    expect(decide(completed, 'same', 90_000)).toEqual({ kind: 'replay', status: 201, body: '{}' });
  });
  test('a repeated request is refused as in progress for 60 seconds while the first is in flight', () => {
    expect(decide(record, 'same', 0)).toEqual({ kind: 'in_progress' });
    expect(decide(record, 'same', 59_999)).toEqual({ kind: 'in_progress' });
  });
  test('a repeated request takes over the same operation after 60 seconds', () => {
    expect(decide(record, 'same', 60_000)).toEqual({ kind: 'resume' });
  });
  test('a repeated request resumes the operation at once after a failure of the gateway', () => {
    expect(decide(released, 'same', 0)).toEqual({ kind: 'resume' });
  });
});

describe('decisions for another request', () => {
  test.each([
    ['completed', completed],
    ['in flight', record],
  ])('another request is refused as a reuse of the key while the first is %s', (_state, of) => {
    expect(decide(of, 'other', 0)).toEqual({ kind: 'reused' });
    expect(decide(of, 'other', 90_000)).toEqual({ kind: 'reused' });
  });
  test('another request starts a new operation after a failure of the gateway', () => {
    expect(decide(released, 'other', 0)).toEqual({ kind: 'restart' });
  });
});

test.each([
  ['completed', completed],
  ['locked', record],
  ['released', released],
])('a %s record counts as absent after 24 hours', (_state, of) => {
  for (const fingerprint of ['same', 'other']) {
    expect(decide(of, fingerprint, IDEMPOTENCY_USE_RETENTION_MS)).toEqual({ kind: 'restart' });
  }
  expect(decide(of, 'same', IDEMPOTENCY_USE_RETENTION_MS - 1)).not.toEqual({ kind: 'restart' });
});

test('a use recognises its own idempotency lock whose commit was not confirmed', () => {
  expect(decideIdempotency(record, { operationId: 'first', fingerprint: 'same', now: LOCKED_AT }, LIMITS)).toEqual({
    kind: 'own',
  });
});
