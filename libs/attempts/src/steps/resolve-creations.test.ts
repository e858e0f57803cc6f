import { refused } from '@laurel/errors';
import { newId } from '@laurel/values/ids';
import { cents } from '@laurel/values/money';
import { describe, expect, test } from 'vitest';
import type { IdempotencyUse } from '../domain/idempotency-use.ts';
import type { OwnedAttempt } from '../domain/owned-attempt.ts';
import { idempotencyUsesToRecord, resolveCreations, supersededRecordIds } from './resolve-creations.ts';

const now = new Date('2026-11-22T12:00:00.000Z');
const idempotencyUse: IdempotencyUse = {
  idempotencyRecordId: newId(),
  fingerprint: Buffer.alloc(32, 1),
  isFirst: true,
  usedAt: now,
};
const attemptWith = (status: OwnedAttempt['status']): OwnedAttempt => ({
  id: newId(),
  accountId: newId(),
  playerRef: 'player',
  status,
  feeCents: cents(100n),
  createdAt: now,
  feeGeneration: 0,
  closedReason: status === 'refused' ? 'insufficient_funds' : null,
});

const resolve = (creation: { attemptId: string; isKnown: boolean }, attempt: OwnedAttempt, use = idempotencyUse) =>
  resolveCreations([{ ...creation, idempotencyUse: use }], {
    recorded: new Map([[idempotencyUse.idempotencyRecordId, { ...idempotencyUse, operationId: attempt.id }]]),
    loadAttempts: async (ids) => new Map(ids.includes(attempt.id) ? [[attempt.id, attempt]] : []),
  });

const otherBody = { ...idempotencyUse, fingerprint: Buffer.alloc(32, 2) };

describe('the attempt that a creation is about', () => {
  test.each([true, false])(
    'a refused attempt frees its idempotency key for another body (the gateway’s first use of the key: %s)',
    async (isFirst) => {
      const attempt = attemptWith('refused');
      const attemptId = newId();
      const use = { ...otherBody, isFirst };
      const resolved = await resolve({ attemptId, isKnown: false }, attempt, use);
      expect(resolved).toEqual([{ kind: 'creation', attemptId, known: null, idempotencyUse: use, supersedes: true }]);
      expect(supersededRecordIds(resolved)).toEqual([idempotencyUse.idempotencyRecordId]);
    },
  );

  test('the idempotency key of an attempt that was not refused cannot be reused with another body', async () => {
    for (const status of ['pending', 'open', 'settled', 'expired', 'voided'] as const) {
      const resolved = await resolve({ attemptId: newId(), isKnown: false }, attemptWith(status), otherBody);
      expect(resolved).toEqual([refused('idempotency_key_reused')]);
    }
  });

  test('a creation under a recorded idempotency key resolves to the recorded attempt', async () => {
    const attempt = attemptWith('settled');
    const resolved = await resolve({ attemptId: newId(), isKnown: false }, attempt);
    expect(resolved).toEqual([
      { kind: 'creation', attemptId: attempt.id, known: attempt, idempotencyUse: null, supersedes: false },
    ]);
  });

  test('a creation takes over the idempotency key of a refused attempt', async () => {
    const attempt = attemptWith('refused');
    const attemptId = newId();
    const resolved = await resolve({ attemptId, isKnown: false }, attempt);
    expect(resolved).toEqual([{ kind: 'creation', attemptId, known: null, idempotencyUse, supersedes: true }]);
    expect(supersededRecordIds(resolved)).toEqual([idempotencyUse.idempotencyRecordId]);
    expect([...idempotencyUsesToRecord(resolved)]).toEqual([[attemptId, idempotencyUse]]);
  });

  test('a creation whose own attempt exists resolves to that attempt even if the attempt was refused', async () => {
    const attempt = attemptWith('refused');
    const resolved = await resolve({ attemptId: attempt.id, isKnown: true }, attempt);
    expect(resolved).toEqual([
      { kind: 'creation', attemptId: attempt.id, known: attempt, idempotencyUse: null, supersedes: false },
    ]);
    expect(idempotencyUsesToRecord(resolved).size).toBe(0);
  });
});
