import { isRefused, refused } from '@laurel/errors';
import { newId } from '@laurel/values/ids';
import { describe, expect, test } from 'vitest';
import type { IdempotencyUse, RecordedIdempotencyUse } from '../domain/idempotency-use.ts';
import { decideUnlessRefused, idempotencyRecordIdsOf, resolveIdempotencyUses } from './resolve-idempotency-uses.ts';

const now = new Date('2026-11-22T12:00:00.000Z');
const idempotencyUse = (idempotencyRecordId: string, body = 1): IdempotencyUse => ({
  idempotencyRecordId,
  fingerprint: Buffer.alloc(32, body),
  isFirst: true,
  usedAt: now,
});
const recordedUse = (
  { idempotencyRecordId, fingerprint }: IdempotencyUse,
  operationId: string,
): RecordedIdempotencyUse => ({
  idempotencyRecordId,
  operationId,
  fingerprint,
  usedAt: now,
});
const recordedAs = (...uses: RecordedIdempotencyUse[]) => new Map(uses.map((use) => [use.idempotencyRecordId, use]));
const NOTHING = { record: null, supersedes: false, repeatsBatch: false };

describe('the operations that a batch of requests means', () => {
  test('an operation that recorded its own idempotency key runs under its own id', () => {
    const use = idempotencyUse(newId());
    const [one, two] = [newId(), newId()];
    const operations = [
      { operationId: one, idempotencyUse: null },
      { operationId: two, idempotencyUse: use },
    ];
    expect(resolveIdempotencyUses(operations, recordedAs(recordedUse(use, two)))).toEqual([
      { kind: 'operation', operationId: one, ...NOTHING },
      { kind: 'operation', operationId: two, ...NOTHING },
    ]);
  });

  test('a request under a recorded idempotency key runs under the id of the recorded operation', () => {
    const use = idempotencyUse(newId());
    const operationId = newId();
    expect(
      resolveIdempotencyUses(
        [{ operationId: newId(), idempotencyUse: use }],
        recordedAs(recordedUse(use, operationId)),
      ),
    ).toEqual([{ kind: 'operation', operationId, ...NOTHING }]);
  });

  test('a second request of a batch with the same idempotency key repeats the first or is refused', () => {
    const use = idempotencyUse(newId());
    const first = newId();
    const operations = [
      { operationId: first, idempotencyUse: use },
      { operationId: newId(), idempotencyUse: use },
      { operationId: newId(), idempotencyUse: { ...use, fingerprint: Buffer.alloc(32, 2) } },
    ];
    expect(resolveIdempotencyUses(operations, new Map())).toEqual([
      { kind: 'operation', operationId: first, record: use, supersedes: false, repeatsBatch: false },
      { kind: 'operation', operationId: first, record: null, supersedes: false, repeatsBatch: true },
      refused('idempotency_key_reused'),
    ]);
  });

  test('a new use of an idempotency key that the gateway freed replaces the recorded use', () => {
    const use = { ...idempotencyUse(newId(), 2), isFirst: false };
    const operationId = newId();
    const recorded = recordedAs(recordedUse(idempotencyUse(use.idempotencyRecordId, 1), newId()));
    expect(resolveIdempotencyUses([{ operationId, idempotencyUse: use }], recorded)).toEqual([
      { kind: 'operation', operationId, record: use, supersedes: true, repeatsBatch: false },
    ]);
  });

  test('the keys of a batch are locked once each', () => {
    const use = idempotencyUse(newId());
    expect(
      idempotencyRecordIdsOf([{ idempotencyUse: use }, { idempotencyUse: null }, { idempotencyUse: use }]),
    ).toEqual([use.idempotencyRecordId]);
  });
});

test('requests that were refused for their keys are not decided', () => {
  const results = decideUnlessRefused(
    ['a', 'b', 'c'],
    [{ kind: 'operation', id: 1 }, refused('idempotency_key_reused'), { kind: 'operation', id: 3 }],
    (open) => open.map(({ request, resolved }) => `${request}${resolved.id}`),
  );
  expect(results.map((item) => (isRefused(item) ? item.code : item.decision))).toEqual([
    'a1',
    'idempotency_key_reused',
    'c3',
  ]);
});
