import { randomUUID } from 'node:crypto';
import { createDatabase, type Database } from '@laurel/postgres';
import { createTestDatabase } from '@laurel/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDeleteOldWindows } from '../workers/delete-old-windows.ts';
import { countInWindows } from './rate-windows.ts';

/** The window is so long that none ends during a test. */
const WINDOW_MS = 365 * 24 * 3_600_000;
const HOUR_MS = 3_600_000;

const stack = new AsyncDisposableStack();
let database: Database;

beforeAll(async () => {
  const { url } = stack.use(await createTestDatabase({ migrations: new URL('../../migrations/', import.meta.url) }));
  database = stack.use(createDatabase({ url, maxConnections: 4, applicationName: 'test' }));
});
afterAll(() => stack.disposeAsync());

const requestsOf = async (wanted: ReadonlyMap<string, number>) => {
  const counted = await countInWindows(database, wanted, WINDOW_MS);
  return [...wanted.keys()].map((subject) => counted.get(subject)?.requests);
};

test('concurrent requests of each subject are counted exactly', async () => {
  const [one, other] = [randomUUID(), randomUUID()];
  expect(await requestsOf(new Map([[one, 2]]))).toEqual([2]);
  await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      requestsOf(
        new Map(
          index % 2 === 0
            ? [
                [one, 1],
                [other, 2],
              ]
            : [
                [other, 2],
                [one, 1],
              ],
        ),
      ),
    ),
  );
  expect(
    await requestsOf(
      new Map([
        [one, 1],
        [other, 1],
      ]),
    ),
  ).toEqual([53, 101]);
});

test('windows in which nothing was counted for an hour are deleted', async () => {
  const [old, young] = [randomUUID(), randomUUID()];
  await requestsOf(
    new Map([
      [old, 1],
      [young, 1],
    ]),
  );
  await database.query(
    { text: "update request_windows set last_request_at = now() - interval '1 hour' where subject = $1" },
    [old],
  );
  await createDeleteOldWindows(database)(new Date(Date.now() + HOUR_MS / 2));
  expect(
    await requestsOf(
      new Map([
        [old, 1],
        [young, 1],
      ]),
    ),
  ).toEqual([1, 2]);
});
