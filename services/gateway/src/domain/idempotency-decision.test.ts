import { describe, expect, test } from 'vitest';
import { decideIdempotency, type IdempotencyRecord } from './idempotency-decision.ts';

const LIMITS = { takeoverMs: 60_000, retentionMs: 24 * 3_600_000 };
const CLAIMED_AT = new Date('2026-11-21T12:00:00.000Z');
const later = (ms: number) => new Date(CLAIMED_AT.getTime() + ms);

const record: IdempotencyRecord = {
  operationId: 'first',
  fingerprint: 'same',
  state: 'claimed',
  createdAt: CLAIMED_AT,
  claimedAt: CLAIMED_AT,
  stored: null,
};
const completed: IdempotencyRecord = { ...record, state: 'completed', stored: { status: 201, body: '{}' } };
const released: IdempotencyRecord = { ...record, state: 'released' };

const use = (fingerprint: string, ms: number) => ({ operationId: 'second', fingerprint, now: later(ms) });
const decide = (of: IdempotencyRecord, fingerprint: string, ms: number) =>
  decideIdempotency(of, use(fingerprint, ms), LIMITS);

describe('the same request', () => {
  test('replays a completed one', () => {
    expect(decide(completed, 'same', 90_000)).toEqual({ kind: 'replay', status: 201, body: '{}' });
  });
  test('waits while the first is in flight, for 60 seconds', () => {
    expect(decide(record, 'same', 0)).toEqual({ kind: 'in_progress' });
    expect(decide(record, 'same', 59_999)).toEqual({ kind: 'in_progress' });
  });
  test('takes over after 60 seconds, under the same operation', () => {
    expect(decide(record, 'same', 60_000)).toEqual({ kind: 'resume' });
  });
  test('resumes what failed on our side, at once', () => {
    expect(decide(released, 'same', 0)).toEqual({ kind: 'resume' });
  });
});

describe('another request', () => {
  test.each([
    ['completed', completed],
    ['in flight', record],
  ])('is a reuse of the key while the first is %s, dead or not', (_state, of) => {
    expect(decide(of, 'other', 0)).toEqual({ kind: 'reused' });
    expect(decide(of, 'other', 90_000)).toEqual({ kind: 'reused' });
  });
  test('starts anew after a failure on our side', () => {
    expect(decide(released, 'other', 0)).toEqual({ kind: 'restart' });
  });
});

test.each([
  ['completed', completed],
  ['claimed', record],
  ['released', released],
])('a %s record is as good as absent after 24 hours', (_state, of) => {
  for (const fingerprint of ['same', 'other']) {
    expect(decide(of, fingerprint, LIMITS.retentionMs)).toEqual({ kind: 'restart' });
  }
  expect(decide(of, 'same', LIMITS.retentionMs - 1)).not.toEqual({ kind: 'restart' });
});

test('a claim whose confirmation was lost knows itself', () => {
  expect(decideIdempotency(record, { operationId: 'first', fingerprint: 'same', now: CLAIMED_AT }, LIMITS)).toEqual({
    kind: 'own',
  });
});
