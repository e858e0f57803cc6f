import { randomBytes } from 'node:crypto';
import { newId } from '@laurel/ids';
import { createDatabase, type Database } from '@laurel/postgres';
import { createTestDatabase } from '@laurel/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createDeleteExpiredSessions } from '../workers/delete-expired-sessions.ts';
import { insertDeveloper } from './developers.ts';
import { deleteSession, findSession, insertSession } from './sessions.ts';
import { admitSignIn, deleteOldFailures, type SignInAttempt } from './sign-in-failures.ts';

const LIMITS = { failuresPerEmail: 10, failuresPerAddress: 100, windowMs: 900_000 };
const NOW = new Date('2026-11-21T12:00:00.000Z');
const at = (ms: number) => new Date(NOW.getTime() + ms);

const cleanup = new AsyncDisposableStack();
let database: Database;
let replica: Database;
const developerId = newId();

beforeAll(async () => {
  const { url } = cleanup.use(await createTestDatabase({ migrations: new URL('../../migrations/', import.meta.url) }));
  database = cleanup.use(createDatabase({ url, maxConnections: 8, applicationName: 'sessions-test' }));
  replica = cleanup.use(createDatabase({ url, maxConnections: 8, applicationName: 'sessions-test-2' }));
  await insertDeveloper(database, { id: developerId, email: 'dev@example.com', passwordHash: 'argon2' });
});
afterAll(() => cleanup.disposeAsync());
beforeEach(async () => {
  await database.query({ text: 'delete from sign_in_failures' });
  await database.query({ text: 'delete from sessions' });
});

const subject = (name: string) => Buffer.alloc(32, name);
const attempt = (email: string, address: string, when = NOW): SignInAttempt => ({
  id: newId(),
  emailHash: subject(email),
  addressHash: subject(address),
  at: when,
});
const admit = (email: string, address: string, when = NOW, over = database) =>
  admitSignIn(over, attempt(email, address, when), LIMITS);
const countFailures = async () =>
  (await database.query<{ count: number }>({ text: 'select count(*)::integer as count from sign_in_failures' }))[0]
    ?.count;

describe('sign-ins that fail', () => {
  test('are counted exactly: of 200 at once over two replicas, 10 are admitted', async () => {
    const decisions = await Promise.all(
      Array.from({ length: 200 }, (_, index) => admit('e', `a${index % 7}`, NOW, index % 2 ? database : replica)),
    );
    expect(decisions.filter(({ kind }) => kind === 'admitted')).toHaveLength(10);
    expect(decisions.find(({ kind }) => kind === 'limited')).toEqual({
      kind: 'limited',
      limit: 10,
      retryAfterSeconds: 900,
      resetAt: at(900_000),
    });
    expect(await countFailures()).toBe(10);
  });

  test('are counted by address too, however many e-mails are tried', async () => {
    const decisions = await Promise.all(
      Array.from({ length: 150 }, (_, index) => admit(`e${index}`, 'a', NOW, index % 2 ? database : replica)),
    );
    expect(decisions.filter(({ kind }) => kind === 'admitted')).toHaveLength(100);
    expect(await admit('e', 'a')).toMatchObject({ kind: 'limited', limit: 100 });
    expect(await admit('e', 'b')).toEqual({ kind: 'admitted' });
  });

  test('count in any 15 minutes, not from some beginning on', async () => {
    for (let index = 0; index < 9; index += 1) await admit('e', 'a', at(0));
    expect(await admit('e', 'a', at(60_000))).toEqual({ kind: 'admitted' });
    expect(await admit('e', 'a', at(899_999))).toMatchObject({ kind: 'limited', resetAt: at(900_000) });
    for (let index = 0; index < 9; index += 1) {
      expect(await admit('e', 'a', at(900_000)), String(index)).toEqual({ kind: 'admitted' });
    }
    expect(await admit('e', 'a', at(900_000))).toMatchObject({ kind: 'limited', resetAt: at(960_000) });
  });

  test('crossing each other, with e-mails and addresses in every order, never wait in a circle', async () => {
    const decisions = await Promise.all(
      Array.from({ length: 120 }, (_, index) =>
        admit(`${index % 3}`, `${(index * 5) % 4}`, NOW, index % 2 ? database : replica),
      ),
    );
    expect(decisions.filter(({ kind }) => kind === 'admitted')).toHaveLength(30);
  });
});

describe('a session', () => {
  const session = (tokenHash: Buffer) => ({ tokenHash, developerId, createdAt: NOW, expiresAt: at(1_000) });

  test('takes back the failure that its sign-in was counted as, and no other', async () => {
    const right = attempt('e', 'a');
    await admit('e', 'a');
    await admitSignIn(database, right, LIMITS);
    await insertSession(database, session(randomBytes(32)), right.id);
    expect(await countFailures()).toBe(1);
  });

  test('is known by its hash until it expires or is ended', async () => {
    const [ended, kept] = [randomBytes(32), randomBytes(32)];
    await insertSession(database, session(ended), newId());
    await insertSession(database, session(kept), newId());
    expect(await findSession(replica, ended, at(999))).toBe(developerId);
    await deleteSession(database, ended);
    expect(await findSession(replica, ended, at(999))).toBeNull();
    expect(await findSession(replica, kept, at(999))).toBe(developerId);
    expect(await findSession(replica, kept, at(1_000))).toBeNull();
    expect(await findSession(replica, randomBytes(32), NOW)).toBeNull();
  });
});

test('what no longer decides anything is deleted, and nothing else', async () => {
  const [over, current] = [randomBytes(32), randomBytes(32)];
  await insertSession(database, { tokenHash: over, developerId, createdAt: NOW, expiresAt: at(1) }, newId());
  await insertSession(database, { tokenHash: current, developerId, createdAt: NOW, expiresAt: at(900_001) }, newId());
  for (const when of [at(-1), at(0), at(1)]) await admit('e', 'a', when);
  const runOnce = createDeleteExpiredSessions(database, LIMITS.windowMs);
  expect(await runOnce(at(900_000))).toBe(3);
  expect(await runOnce(at(900_000))).toBe(0);
  expect(await findSession(database, current, at(900_000))).toBe(developerId);
  expect(await countFailures()).toBe(1);
  expect(await deleteOldFailures(database, at(1), 1)).toBe(1);
});
