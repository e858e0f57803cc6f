import { newId } from '@laurel/values/ids';
import { describe, expect, test } from 'vitest';
import {
  decideIdempotencyUse,
  IDEMPOTENCY_USE_RETENTION_MS,
  type IdempotencyUse,
  type RecordedIdempotencyUse,
} from './idempotency-use.ts';

const [idempotencyRecordId, operationId] = [newId(), newId()];
const usedAt = new Date('2026-11-22T12:00:00.000Z');
const [same, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const recorded: RecordedIdempotencyUse = { idempotencyRecordId, operationId, fingerprint: same, usedAt };
const use = (fields: Partial<IdempotencyUse> = {}): IdempotencyUse => ({
  idempotencyRecordId,
  fingerprint: same,
  isFirst: true,
  usedAt,
  ...fields,
});
const after = (ms: number) => new Date(usedAt.getTime() + ms);

describe('a use of an idempotency key whose operation id the contest service does not know', () => {
  test('an idempotency key without a recorded use starts a new operation', () => {
    expect(decideIdempotencyUse(use(), undefined)).toEqual({ kind: 'new' });
  });

  test.each([true, false])(
    'a repeated request under a recorded idempotency key counts as the recorded operation (the gateway’s first use of the key: %s)',
    (isFirst) => {
      const decision = decideIdempotencyUse(
        use({ isFirst, usedAt: after(IDEMPOTENCY_USE_RETENTION_MS - 1) }),
        recorded,
      );
      expect(decision).toEqual({ kind: 'repeated', operationId });
    },
  );

  test('a different request under a recorded idempotency key is refused unless the gateway freed the key', () => {
    expect(decideIdempotencyUse(use({ fingerprint: other }), recorded)).toEqual({ kind: 'reused' });
  });

  test('a different request under an idempotency key that the gateway freed is a new operation', () => {
    expect(decideIdempotencyUse(use({ fingerprint: other, isFirst: false }), recorded)).toEqual({ kind: 'superseded' });
  });

  test.each([same, other])('a recorded idempotency key may be used again after 24 hours', (fingerprint) => {
    const decision = decideIdempotencyUse(use({ fingerprint, usedAt: after(IDEMPOTENCY_USE_RETENTION_MS) }), recorded);
    expect(decision).toEqual({ kind: 'superseded' });
  });
});
