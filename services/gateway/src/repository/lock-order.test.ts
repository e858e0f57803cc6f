/**
 * Two statements lock rows in the order of their array parameters. The arrays have that order
 * whatever the order of the input.
 */
import type { Database } from '@laurel/postgres';
import { expect, test } from 'vitest';
import { countAdmissionsAndLockKeys, type KnownKey, type RequestedLock } from './admissions.ts';
import { type Completion, completeRecords } from './idempotency-records.ts';

const IDS = ['1', '2', '3'].map((digit) => `00000000-0000-8000-8000-00000000000${digit}`);
const NOW = new Date('2026-01-01T00:00:00.000Z');

/** Records the values of each statement, and returns no rows. */
function recordStatements(): { readonly database: Database; readonly values: (readonly unknown[])[] } {
  const values: (readonly unknown[])[] = [];
  const notAsked = () => Promise.reject(new Error('not asked here'));
  return {
    values,
    database: {
      async query<Row>(_: unknown, given: readonly unknown[] = []): Promise<Row[]> {
        values.push(given);
        return [];
      },
      async write<Row>(_: unknown, given: readonly unknown[]): Promise<Row[]> {
        values.push(given);
        return [];
      },
      transaction: notAsked,
      batch: notAsked,
      isReachable: notAsked,
      [Symbol.asyncDispose]: notAsked,
    },
  };
}

const completionOf = (recordId: string): Completion => ({
  idempotencyLock: { recordId, operationId: recordId, generation: 0 },
  status: 201,
  body: recordId,
});
const keyOf = (id: string): KnownKey => ({
  keyHash: id,
  storedHash: id,
  pepperVersion: 1,
  apiKeyId: id,
  programId: id,
  environment: 'test',
  windowId: id,
  wanted: 1,
});
const useOf = (id: string): RequestedLock => ({ recordId: id, operationId: id, fingerprint: id, apiKeyId: id });

test('completions are written in the order of their records', async () => {
  const { database, values } = recordStatements();
  await completeRecords(database, IDS.toReversed().map(completionOf));
  const [ids, operationIds, , , bodies] = values[0] ?? [];
  expect([ids, operationIds, bodies]).toEqual([IDS, IDS, IDS]);
});

test('an admission statement locks its windows by subject and its records by id', async () => {
  const { database, values } = recordStatements();
  const backwards = IDS.toReversed();
  await countAdmissionsAndLockKeys(database, backwards.map(keyOf), {
    acceptedEnvironments: ['test'],
    windowMs: 60_000,
    limit: 100,
    uses: backwards.map(useOf),
    completions: backwards.map(completionOf),
    now: NOW,
  });
  const [given = []] = values;
  const [windowIds, recordIds, completedIds] = [given[11], given[7], given[13]];
  expect([windowIds, recordIds, completedIds]).toEqual([IDS, IDS, IDS]);
});
