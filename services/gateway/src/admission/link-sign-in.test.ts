/** Links that sign a developer in once, on two replicas of one database. */
import { randomBytes } from 'node:crypto';
import { createDatabase, type Database } from '@laurel/postgres';
import { createTestClock, createTestDatabase } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { peppersOf } from '../domain/peppers.ts';
import { hashToken, mintToken } from '../domain/session.ts';
import { hashLinkToken, SIGN_IN_LINK_MS } from '../domain/sign-in-link.ts';
import { insertDeveloper } from '../repository/developers.ts';
import { findSession } from '../repository/sessions.ts';
import { insertSignInLink } from '../repository/sign-in-links.ts';
import { createDeleteExpiredSessions } from '../workers/delete-expired-sessions.ts';
import { createSignInByLink } from './link-sign-in.ts';

const LIMITS = {
  failuresPerPair: 5,
  failuresPerEmail: 20,
  failuresPerAddress: 100,
  windowMs: 900_000,
  firstDelayMs: 1_000,
  maxDelayMs: 60_000,
};
const SESSION_MS = 3_600_000;
const OLD = { version: 1, bytes: Buffer.alloc(32, 1) };
const NEW = { version: 2, bytes: Buffer.alloc(32, 2) };

const cleanup = new AsyncDisposableStack();
const clock = createTestClock();
const developerId = newId();
let databases: Database[];
let database: Database;

beforeAll(async () => {
  const { runningUrl: url } = cleanup.use(
    await createTestDatabase({ migrations: new URL('../../migrations/', import.meta.url) }),
  );
  const connect = () => cleanup.use(createDatabase({ url, maxConnections: 8, applicationName: 'links-test' }));
  database = connect();
  databases = [database, connect()];
  await insertDeveloper(database, { id: developerId, email: 'dev@example.com', passwordHash: 'argon2' });
});
afterAll(() => cleanup.disposeAsync());
beforeEach(async () => {
  for (const table of ['sign_in_failures', 'sessions', 'sign_in_links']) {
    await database.query({ text: `delete from ${table}` });
  }
});

const countOf = async (table: 'sessions' | 'sign_in_links' | 'sign_in_failures') =>
  (await database.query<{ count: number }>({ text: `select count(*)::integer as count from ${table}` }))[0]?.count;

async function makeLink(pepper = OLD): Promise<string> {
  const token = mintToken();
  const createdAt = clock();
  const expiresAt = new Date(createdAt.getTime() + SIGN_IN_LINK_MS);
  const tokenHash = hashLinkToken(pepper.bytes, token);
  expect(await insertSignInLink(database, { tokenHash, developerId, createdAt, expiresAt })).toBe(true);
  return token;
}

function exchange(token: string, { replica = 0, address = '192.0.2.1', peppers = peppersOf(OLD) } = {}) {
  const on = databases[replica] as Database;
  return createSignInByLink({ database: on, peppers, limits: LIMITS, sessionMs: SESSION_MS, clock })({
    token,
    address,
  });
}

test('a sign-in link begins one session of its developer', async () => {
  const token = await makeLink();
  const result = await exchange(token, { replica: 1 });
  expect(result).toEqual({ kind: 'signed-in', token: expect.stringMatching(/^[\w-]{43}$/), developerId });
  const sessionToken = result.kind === 'signed-in' ? result.token : '';
  const sessionHash = hashToken(OLD.bytes, sessionToken);
  expect(await findSession(database, [sessionHash], clock())).toMatchObject({ developerId });
  expect(await findSession(database, [sessionHash], new Date(clock().getTime() + SESSION_MS))).toBeNull();
  expect(await exchange(token)).toEqual({ kind: 'wrong' });
  expect([await countOf('sessions'), await countOf('sign_in_links')]).toEqual([1, 0]);
});

test('exactly one of several concurrent exchanges of a sign-in link begins a session', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 2, max: 5 }), async (exchanges) => {
      const token = await makeLink();
      const before = (await countOf('sessions')) ?? 0;
      const results = await Promise.all(
        // Each exchange comes from its own address, so that no exchange has to wait because of the
        // failures of another.
        Array.from({ length: exchanges }, (_, index) =>
          exchange(token, { replica: index % 2, address: `192.0.2.${index}` }),
        ),
      );
      expect(results.filter(({ kind }) => kind === 'signed-in')).toHaveLength(1);
      expect(results.filter(({ kind }) => kind === 'wrong')).toHaveLength(exchanges - 1);
      expect(await countOf('sessions')).toBe(before + 1);
    }),
    { numRuns: 20 },
  );
});

test('a sign-in link expires after 15 minutes', async () => {
  const [inTime, late] = [await makeLink(), await makeLink()];
  clock.advance(SIGN_IN_LINK_MS - 1);
  expect(await exchange(inTime)).toMatchObject({ kind: 'signed-in' });
  clock.advance(1);
  expect(await exchange(late)).toEqual({ kind: 'wrong' });
  expect(await countOf('sessions')).toBe(1);
});

test('the database stores no link that lasts longer than 15 minutes', async () => {
  const createdAt = clock();
  const link = { tokenHash: randomBytes(32), developerId, createdAt };
  const expiresAt = new Date(createdAt.getTime() + SIGN_IN_LINK_MS + 1);
  await expect(insertSignInLink(database, { ...link, expiresAt })).rejects.toThrow('sign_in_links_last_15_minutes');
  const inTime = { ...link, expiresAt: new Date(createdAt.getTime() + 1) };
  expect(await insertSignInLink(database, { ...inTime, developerId: newId() })).toBe(false);
  expect(await countOf('sign_in_links')).toBe(0);
});

test('the token of a sign-in link is not accepted as the token of a session, nor the reverse', async () => {
  const token = await makeLink();
  expect(await findSession(database, [hashToken(OLD.bytes, token)], clock())).toBeNull();
  const result = await exchange(token);
  expect(await exchange(result.kind === 'signed-in' ? result.token : '')).toEqual({ kind: 'wrong' });
});

test('a link that was made before a change of the pepper works only while the earlier pepper is accepted', async () => {
  const [first, second] = [await makeLink(OLD), await makeLink(OLD)];
  expect(await exchange(first, { peppers: peppersOf(NEW, [OLD]) })).toMatchObject({ kind: 'signed-in' });
  expect(await exchange(second, { peppers: peppersOf(NEW) })).toEqual({ kind: 'wrong' });
});

test('100 failed exchanges of links slow down their client and no other client', async () => {
  const results = await Promise.all(
    Array.from({ length: 150 }, (_, index) => exchange(mintToken(), { replica: index % 2 })),
  );
  expect(results.filter(({ kind }) => kind === 'wrong')).toHaveLength(100);
  const token = await makeLink();
  expect(await exchange(token)).toMatchObject({ kind: 'limited', limit: 100, retryAfterSeconds: 1 });
  expect(await exchange(token, { address: '198.51.100.1' })).toMatchObject({ kind: 'signed-in' });
  clock.advance(1_000);
  expect(await exchange(await makeLink())).toMatchObject({ kind: 'signed-in' });
  // A right token is not counted as a failure.
  expect(await countOf('sign_in_failures')).toBe(100);
});

test('only expired links are deleted', async () => {
  await makeLink();
  clock.advance(SIGN_IN_LINK_MS - 1);
  const current = await makeLink();
  const runOnce = createDeleteExpiredSessions(database, LIMITS.windowMs);
  expect(await runOnce(clock())).toBe(0);
  clock.advance(1);
  expect(await runOnce(clock())).toBe(1);
  expect(await countOf('sign_in_links')).toBe(1);
  expect(await exchange(current)).toMatchObject({ kind: 'signed-in' });
});
