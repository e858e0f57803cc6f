import { randomBytes, randomUUID } from 'node:crypto';
import { createDatabase, type Database } from '@laurel/postgres';
import { createTestDatabase } from '@laurel/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  completeRecords,
  forgetRecords,
  type IdempotencyLock,
  insertRecords,
  releaseRecords,
  takeOverRecords,
} from './idempotency-records.ts';

const stack = new AsyncDisposableStack();
let database: Database;

beforeAll(async () => {
  const { runningUrl: url } = stack.use(
    await createTestDatabase({ migrations: new URL('../../migrations/', import.meta.url) }),
  );
  // There is one connection, so that every statement keeps its first plan.
  database = stack.use(createDatabase({ url, maxConnections: 1, applicationName: 'test' }));
});
afterAll(() => stack.disposeAsync());

async function lock(count: number): Promise<IdempotencyLock[]> {
  const uses = Array.from({ length: count }, () => ({
    recordId: randomUUID(),
    operationId: randomUUID(),
    fingerprint: randomBytes(32).toString('hex'),
  }));
  await insertRecords(database, uses, new Date());
  return uses.map(({ recordId, operationId }) => ({ recordId, operationId, generation: 0 }));
}

/** How many index entries this connection has read so far. */
async function entriesRead(): Promise<number> {
  await database.query({ text: 'select pg_stat_force_next_flush()' });
  const [row] = await database.query<{ count: number }>({
    text: `
      select idx_tup_read::integer as count
      from pg_stat_user_indexes
      where indexrelname = 'idempotency_records_pkey'`,
  });
  return row?.count ?? 0;
}

const changes: Record<string, (idempotencyLocks: readonly IdempotencyLock[]) => Promise<unknown>> = {
  complete: (idempotencyLocks) =>
    completeRecords(
      database,
      idempotencyLocks.map((idempotencyLock) => ({ idempotencyLock, status: 200, body: '{}' })),
    ),
  release: (idempotencyLocks) => releaseRecords(database, idempotencyLocks),
  forget: (idempotencyLocks) => forgetRecords(database, idempotencyLocks),
  'take over': (idempotencyLocks) =>
    takeOverRecords(
      database,
      idempotencyLocks.map((from) => ({
        from,
        operationId: from.operationId,
        fingerprint: randomBytes(32).toString('hex'),
        isNewOperation: false,
      })),
      new Date(),
    ),
};

test.each(Object.entries(changes))(
  'a statement to %s records reads no other record, even by a plan made on a nearly empty table',
  async (_name, change) => {
    await database.query({ text: 'delete from idempotency_records' });
    const first = await lock(1);
    await database.query({ text: 'vacuum analyze idempotency_records' });
    await change(first);
    const idempotencyLocks = await lock(1_000);
    const before = await entriesRead();
    await change(idempotencyLocks.slice(0, 3));
    expect((await entriesRead()) - before).toBeLessThan(10);
  },
);
