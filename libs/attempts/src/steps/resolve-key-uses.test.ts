import { isRefused, refused } from '@laurel/errors';
import { newId } from '@laurel/ids';
import { describe, expect, test } from 'vitest';
import type { KeyUse, RecordedKeyUse } from '../domain/key-use.ts';
import { decideUnlessRefused, keyIdsOf, resolveKeyUses } from './resolve-key-uses.ts';

const now = new Date('2026-11-22T12:00:00.000Z');
const keyUse = (keyId: string, body = 1): KeyUse => ({
  keyId,
  fingerprint: Buffer.alloc(32, body),
  isFirst: true,
  usedAt: now,
});
const recordedUse = ({ keyId, fingerprint }: KeyUse, operationId: string): RecordedKeyUse => ({
  keyId,
  operationId,
  fingerprint,
  usedAt: now,
});
const recordedAs = (...uses: RecordedKeyUse[]) => new Map(uses.map((use) => [use.keyId, use]));
const NOTHING = { record: null, supersedes: false, repeatsBatch: false };

describe('the operations that a batch of requests means', () => {
  test('an operation without an idempotency key, or that recorded its key itself, runs under its own id', () => {
    const use = keyUse(newId());
    const [one, two] = [newId(), newId()];
    const operations = [
      { operationId: one, keyUse: null },
      { operationId: two, keyUse: use },
    ];
    expect(resolveKeyUses(operations, recordedAs(recordedUse(use, two)))).toEqual([
      { kind: 'operation', operationId: one, ...NOTHING },
      { kind: 'operation', operationId: two, ...NOTHING },
    ]);
  });

  test('a request under a recorded idempotency key runs under the id of the recorded operation', () => {
    const use = keyUse(newId());
    const operationId = newId();
    expect(resolveKeyUses([{ operationId: newId(), keyUse: use }], recordedAs(recordedUse(use, operationId)))).toEqual([
      { kind: 'operation', operationId, ...NOTHING },
    ]);
  });

  test('when two requests of a batch share an idempotency key, the second repeats the first or is refused for reusing its key', () => {
    const use = keyUse(newId());
    const first = newId();
    const operations = [
      { operationId: first, keyUse: use },
      { operationId: newId(), keyUse: use },
      { operationId: newId(), keyUse: { ...use, fingerprint: Buffer.alloc(32, 2) } },
    ];
    expect(resolveKeyUses(operations, new Map())).toEqual([
      { kind: 'operation', operationId: first, record: use, supersedes: false, repeatsBatch: false },
      { kind: 'operation', operationId: first, record: null, supersedes: false, repeatsBatch: true },
      refused('idempotency_key_reused'),
    ]);
  });

  test('a new use of an idempotency key that the gateway freed replaces the recorded use', () => {
    const use = { ...keyUse(newId(), 2), isFirst: false };
    const operationId = newId();
    const recorded = recordedAs(recordedUse(keyUse(use.keyId, 1), newId()));
    expect(resolveKeyUses([{ operationId, keyUse: use }], recorded)).toEqual([
      { kind: 'operation', operationId, record: use, supersedes: true, repeatsBatch: false },
    ]);
  });

  test('the keys of a batch are locked once each', () => {
    const use = keyUse(newId());
    expect(keyIdsOf([{ keyUse: use }, { keyUse: null }, { keyUse: use }])).toEqual([use.keyId]);
  });
});

test('requests that were refused for their keys are not decided, and every result keeps its place', () => {
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
