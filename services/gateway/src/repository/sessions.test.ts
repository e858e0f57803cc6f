import { createHash, randomBytes } from 'node:crypto';
import { createDatabase, type Database } from '@laurel/postgres';
import { createTestDatabase } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createDeleteExpiredSessions } from '../workers/delete-expired-sessions.ts';
import { insertDeveloper } from './developers.ts';
import { insertOperatorSession } from './operator-sessions.ts';
import { deleteSession, findSession, insertSession } from './sessions.ts';
import { admitSignIn, deleteOldFailures, type SignInAttempt } from './sign-in-failures.ts';

const LIMITS = {
  failuresPerPair: 5,
  failuresPerEmail: 20,
  failuresPerAddress: 100,
  windowMs: 900_000,
  firstDelayMs: 1_000,
  maxDelayMs: 60_000,
};
const NOW = new Date('2026-11-21T12:00:00.000Z');
const at = (ms: number) => new Date(NOW.getTime() + ms);

const cleanup = new AsyncDisposableStack();
let database: Database;
let replica: Database;
const developerId = newId();

beforeAll(async () => {
  const { runningUrl: url } = cleanup.use(
    await createTestDatabase({ migrations: new URL('../../migrations/', import.meta.url) }),
  );
  database = cleanup.use(createDatabase({ url, maxConnections: 8, applicationName: 'sessions-test' }));
  replica = cleanup.use(createDatabase({ url, maxConnections: 8, applicationName: 'sessions-test-2' }));
  await insertDeveloper(database, { id: developerId, email: 'dev@example.com', passwordHash: 'argon2' });
});
afterAll(() => cleanup.disposeAsync());
beforeEach(async () => {
  await database.query({ text: 'delete from sign_in_failures' });
  await database.query({ text: 'delete from sessions' });
  await database.query({ text: 'delete from known_clients' });
});

const subject = (name: string) => Buffer.alloc(32, name);
const pairOf = (pepper: string, email: string, address: string) =>
  createHash('sha256').update([pepper, email, address].join()).digest();
const attempt = (email: string, address: string): SignInAttempt => ({
  id: newId(),
  emailHash: subject(email),
  addressHash: subject(address),
  pairHashes: [pairOf('elsewhere', email, address), pairOf('', email, address)],
});
const admit = (email: string, address: string, when = NOW, over = database) =>
  admitSignIn(over, attempt(email, address), LIMITS, () => when);
const by = (failureId: string) => ({ failureId, pairHash: randomBytes(32) });
const countFailures = async () =>
  (await database.query<{ count: number }>({ text: 'select count(*)::integer as count from sign_in_failures' }))[0]
    ?.count;

describe('failed sign-ins', () => {
  const admittedOf = (decisions: readonly { kind: string }[]) =>
    decisions.filter(({ kind }) => kind === 'admitted').length;

  test('only 5 of 200 concurrent failed sign-ins of one client are admitted', async () => {
    const decisions = await Promise.all(
      Array.from({ length: 200 }, (_, index) => admit('e', 'a', NOW, index % 2 ? database : replica)),
    );
    expect(admittedOf(decisions)).toBe(5);
    expect(decisions.find(({ kind }) => kind === 'limited')).toEqual({
      kind: 'limited',
      limit: 5,
      retryAfterSeconds: 1,
      resetAt: at(1_000),
    });
    expect(await countFailures()).toBe(5);
  });

  test('two replicas never both admit the last free sign-in', async () => {
    const pairs = await Promise.all(
      Array.from({ length: 24 }, async (_, index) => {
        for (let failure = 1; failure < 5; failure += 1) await admit(`e${index}`, `a${index}`);
        const last = [database, replica].map((over) => admit(`e${index}`, `a${index}`, NOW, over));
        return (await Promise.all(last)).map(({ kind }) => kind).sort();
      }),
    );
    expect(pairs).toEqual(pairs.map(() => ['admitted', 'limited']));
  });

  test('a failure that another replica counts meanwhile never makes the wait longer than the delay', async () => {
    let now = 0;
    const clock = () => at(now++);
    const decisions = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        admitSignIn(index % 2 ? database : replica, attempt('e', 'a'), LIMITS, clock),
      ),
    );
    const waits = decisions.map((one) => (one.kind === 'limited' ? one.retryAfterSeconds : 0));
    expect(waits.filter((seconds) => seconds === 0)).toHaveLength(5);
    expect(Math.max(...waits)).toBe(1);
  });

  test('failed sign-ins with one e-mail are counted over all clients that are not known', async () => {
    const decisions = await Promise.all(
      Array.from({ length: 200 }, (_, index) => admit('e', `a${index}`, NOW, index % 2 ? database : replica)),
    );
    expect(admittedOf(decisions)).toBe(20);
    expect(decisions.find(({ kind }) => kind === 'limited')).toMatchObject({ limit: 20, retryAfterSeconds: 1 });
  });

  test('failed sign-ins from one address are counted over all e-mails', async () => {
    const decisions = await Promise.all(
      Array.from({ length: 150 }, (_, index) => admit(`e${index}`, 'a', NOW, index % 2 ? database : replica)),
    );
    expect(admittedOf(decisions)).toBe(100);
    expect(await admit('e', 'a')).toMatchObject({ kind: 'limited', limit: 100 });
    expect(await admit('e', 'b')).toEqual({ kind: 'admitted' });
  });

  test('each failed sign-in doubles the next wait, up to a minute', async () => {
    for (let index = 0; index < 5; index += 1) await admit('e', 'a', at(0));
    const waits: number[] = [];
    let now = 0;
    for (let index = 0; index < 9; index += 1) {
      const refused = await admit('e', 'a', at(now));
      if (refused.kind !== 'limited') throw new Error('expected to have to wait');
      waits.push(refused.retryAfterSeconds);
      now += refused.retryAfterSeconds * 1_000;
      expect(await admit('e', 'a', at(now))).toEqual({ kind: 'admitted' });
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
    expect(await admit('e', 'a', at(now + 900_000))).toEqual({ kind: 'admitted' });
    expect(await admit('e', 'a', at(now + 900_000))).toEqual({ kind: 'admitted' });
  });

  test('failed sign-ins elsewhere never slow down a known client', async () => {
    const [first, second] = [attempt('e', 'home'), attempt('f', 'home')];
    const session = { developerId, createdAt: NOW, expiresAt: at(1_000) };
    for (const { id, pairHashes } of [first, second]) {
      const signedInBy = { failureId: id, pairHash: pairHashes[1] as Buffer };
      await insertSession(database, { ...session, tokenHash: randomBytes(32) }, signedInBy);
    }
    for (let index = 0; index < 40; index += 1) await admit('e', `a${index}`);
    for (let index = 0; index < 120; index += 1) await admit(`e${index}`, 'home');
    expect(await admit('e', 'a')).toMatchObject({ kind: 'limited', limit: 20 });
    expect(await admit('g', 'home')).toMatchObject({ kind: 'limited', limit: 100 });
    for (const email of ['e', 'f']) {
      const own = await Promise.all(Array.from({ length: 10 }, () => admit(email, 'home')));
      expect(admittedOf(own)).toBe(5);
    }
    // The known client's own failures count for no other client.
    expect(await countFailures()).toBe(20 + 100 + 10);
    expect(await admit('g', 'home', at(1_000))).toEqual({ kind: 'admitted' });
  });

  test('concurrent sign-ins with any e-mails and addresses never deadlock', async () => {
    const decisions = await Promise.all(
      Array.from({ length: 120 }, (_, index) =>
        admit(`${index % 3}`, `${(index * 5) % 4}`, NOW, index % 2 ? database : replica),
      ),
    );
    expect(admittedOf(decisions)).toBe(60);
  });
});

describe('sessions', () => {
  const session = (tokenHash: Buffer) => ({ tokenHash, developerId, createdAt: NOW, expiresAt: at(1_000) });

  test('a new session deletes only the failure that its own sign-in was counted as', async () => {
    const right = attempt('e', 'a');
    await admit('e', 'a');
    await admitSignIn(database, right, LIMITS, () => NOW);
    await insertSession(database, session(randomBytes(32)), by(right.id));
    expect(await countFailures()).toBe(1);
  });

  test('a session is found by the hash of its token until it expires or is ended', async () => {
    const [ended, kept] = [randomBytes(32), randomBytes(32)];
    await insertSession(database, session(ended), by(newId()));
    await insertSession(database, session(kept), by(newId()));
    expect(await findSession(replica, [ended], at(999))).toEqual({ developerId, tokenHash: ended });
    await deleteSession(database, ended);
    expect(await findSession(replica, [ended], at(999))).toBeNull();
    expect(await findSession(replica, [randomBytes(32), kept], at(999))).toEqual({ developerId, tokenHash: kept });
    expect(await findSession(replica, [kept], at(1_000))).toBeNull();
    expect(await findSession(replica, [randomBytes(32)], NOW)).toBeNull();
  });
});

test('only sessions, failures and clients that no longer affect a decision are deleted', async () => {
  const [over, current] = [randomBytes(32), randomBytes(32)];
  await insertSession(database, { tokenHash: over, developerId, createdAt: NOW, expiresAt: at(1) }, by(newId()));
  await insertSession(
    database,
    { tokenHash: current, developerId, createdAt: NOW, expiresAt: at(900_001) },
    by(newId()),
  );
  for (const when of [at(-1), at(0), at(1)]) await admit('e', 'a', when);
  await insertOperatorSession(database, {
    tokenHash: subject('o'),
    operator: 'alice',
    operatorTokenHash: subject('t'),
    createdAt: at(0),
    expiresAt: at(900_000),
  });
  const runOnce = createDeleteExpiredSessions(database, LIMITS.windowMs);
  expect(await runOnce(at(900_000))).toBe(4);
  expect(await runOnce(at(900_000))).toBe(0);
  expect(await findSession(database, [current], at(900_000))).toMatchObject({ developerId });
  expect(await countFailures()).toBe(1);
  expect(await deleteOldFailures(database, at(1), 1)).toBe(1);
  // The session that is left, and both clients.
  expect(await runOnce(at(90 * 86_400_000 - 1))).toBe(1);
  expect(await runOnce(at(90 * 86_400_000))).toBe(2);
});
