/**
 * Developers, programs and their keys, as operators create and change them, in the gateway's own
 * database.
 */

import { createDatabase, type Database } from '@laurel/postgres';
import { WebhookServiceService } from '@laurel/proto/webhook';
import { createLogger } from '@laurel/service';
import { createTestClock, createTestDatabase } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startScriptedService } from '../../clients/scripted-service.fixture.ts';
import { fetchDescribed } from '../../described-answer.fixture.ts';
import { inOneMinute, OPERATOR_TOKEN, operatorOf, startTestGateway } from '../../gateway.fixture.ts';
import { CHALLENGE_TERMS } from './terms.fixture.ts';

/**
 * The limit is low, so that exceeding it is quick; other keys here send fewer requests a minute.
 */
const RATE_LIMIT = 20;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const INVALID = { status: 400, code: 'invalid_request' };
const UNAUTHORIZED = { status: 401, code: 'unauthorized' };
const NOT_FOUND = { status: 404, code: 'not_found' };
const CONFLICT = { status: 409, code: 'conflict' };
const PASSWORD = 'correct horse battery';

const stack = new AsyncDisposableStack();
let database: Database;
let port: number;
let sandboxPort: number;
let operate: ReturnType<typeof operatorOf>;
let lines: string[] = [];

beforeAll(async () => {
  const webhook = stack.use(await startScriptedService(WebhookServiceService, { putProgram: () => ({}) }));
  const { url, runningUrl } = stack.use(
    await createTestDatabase({ migrations: new URL('../../../migrations/', import.meta.url) }),
  );
  database = stack.use(createDatabase({ url, maxConnections: 2, applicationName: 'programs-test' }));
  const logger = createLogger({
    service: 'gateway',
    level: 'info',
    destination: { write: (line: string) => void lines.push(line) },
  });
  // The clock stands still, so that no rate window ends during a test.
  const clock = createTestClock();
  const settings = {
    GATEWAY_DATABASE_URL: runningUrl,
    WEBHOOK_ADDRESS: webhook.address,
    RATE_LIMIT_PER_MINUTE: String(RATE_LIMIT),
  };
  ({ port } = stack.use(await startTestGateway(settings, { logger, clock })));
  const sandboxOnly = { ...settings, ACCEPTED_ENVIRONMENTS: 'test' };
  ({ port: sandboxPort } = stack.use(await startTestGateway(sandboxOnly, { logger, clock })));
  operate = operatorOf(port);
}, 60_000);
afterAll(() => stack.disposeAsync());
beforeEach(() => {
  lines = [];
});

const send = (method: string, path: string, headers: Record<string, string> = {}, body?: string, at = port) =>
  fetchDescribed(at, path, { method, headers, ...(body !== undefined && { body }) });

/**
 * Requests a path that does not exist. The response is 404 with a key that works, and 401 with any
 * other key.
 */
const use = (key: string, at = port) => send('GET', '/v1/nothing', { 'x-api-key': key }, undefined, at);
const countOf = async (table: string) => (await database.query({ text: `select from ${table}` })).length;

async function makeProgram(developerId?: string) {
  const { body } = await operate('POST', '/programs', { name: 'Arcade', developer_id: developerId });
  const approved = await operate('POST', `/programs/${body.id}/approve`);
  return { id: body.id as string, testKey: body.test_key as string, liveKey: approved.body.live_key as string };
}

describe('requests without the operator’s token', () => {
  test('/api/operator answers 401 to every request without the token', async () => {
    const { testKey } = await makeProgram();
    const bearing = (authorization: string) => ({ authorization });
    const answers = await Promise.all([
      send('GET', '/api/operator/programs'),
      ...['', 'Bearer', 'Bearer wrong', OPERATOR_TOKEN, `Basic ${OPERATOR_TOKEN}`].map((authorization) =>
        send('GET', '/api/operator/audit', bearing(authorization)),
      ),
      send('GET', '/api/operator/audit'),
      send('GET', '/api/operator/audit', { 'x-api-key': testKey }),
      send('POST', '/api/operator/programs', bearing(`Bearer ${OPERATOR_TOKEN}x`), '{'),
      send('GET', '/api/operator/no-such-path'),
    ]);
    for (const answer of answers) expect(answer).toMatchObject(UNAUTHORIZED);
  });

  test('a path of /api that does not exist is 404', async () => {
    expect(await operate('GET', '/tournaments')).toMatchObject(NOT_FOUND);
    expect(await send('GET', '/api')).toMatchObject(NOT_FOUND);
  });
});

describe('developers', () => {
  test('a developer is created at most once per e-mail address, in any case', async () => {
    const email = 'Dev@Example.com';
    const made = await operate('POST', '/developers', { email, password: PASSWORD });
    expect(made).toMatchObject({ status: 201 });
    expect(made.body).toEqual({ id: expect.stringMatching(UUID), email: 'dev@example.com' });
    expect(await operate('POST', '/developers', { email: 'dev@example.com', password: PASSWORD })).toMatchObject(
      CONFLICT,
    );
    const stored = { text: 'select password_hash from developers where id = $1' };
    expect(await database.query(stored, [made.body.id])).toEqual([
      { password_hash: expect.stringMatching(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/) },
    ]);
    const logged = lines.join();
    expect(logged).toContain(made.body.id);
    for (const secret of [email, 'dev@example.com', PASSWORD]) expect(logged).not.toContain(secret);
  });

  test('parallel requests create one developer per e-mail', async () => {
    const email = 'parallel@example.com';
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        operate('POST', '/developers', { email: index % 2 === 0 ? email : email.toUpperCase(), password: PASSWORD }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(9).fill(409)]);
  });

  test('a developer’s password has 12 to 128 characters, counted as a person counts them', async () => {
    const email = 'other@example.com';
    const before = await countOf('developers');
    const bodies = [
      {},
      { email },
      { password: PASSWORD },
      [],
      null,
      ...[
        ...[null, 5, true, [email], {}, '', 'nonsense', 'a@', 'a b@example.com'],
        `${'a'.repeat(250)}@example.com`,
      ].map((wrong) => ({ email: wrong, password: PASSWORD })),
      ...[
        ...[null, 123456789012, true, [PASSWORD], {}, '', 'elevenchars', 'x'.repeat(129)],
        ...['🏆'.repeat(11), '🏆'.repeat(129)],
      ].map((wrong) => ({ email, password: wrong })),
      `{"email":"${email}","password":"correct horse \\ud800 staple"}`,
      { email, password: 'correct horse \0 staple' },
      `{"email":"a\\u0000@example.com","password":"${PASSWORD}"}`,
      `{"email":"${email}","password":"${PASSWORD}","password":"${PASSWORD}"}`,
    ];
    for (const body of bodies) {
      expect(await operate('POST', '/developers', body), JSON.stringify(body)).toMatchObject(INVALID);
    }
    expect(await countOf('developers')).toBe(before);
    for (const password of ['🏆'.repeat(12), '🏆'.repeat(128), 'with \n and \u0001 in it']) {
      const credentials = { email: `${newId()}@example.com`, password };
      expect(await operate('POST', '/developers', credentials)).toMatchObject({ status: 201 });
      const json = { 'content-type': 'application/json' };
      expect(await send('POST', '/api/portal/session', json, JSON.stringify(credentials))).toMatchObject({
        status: 201,
      });
    }
  });
});

describe('programs', () => {
  test('each key of a program is shown exactly once', async () => {
    const made = await operate('POST', '/programs', { name: 'Arcade' });
    expect(made.status).toBe(201);
    const { id, test_key: testKey } = made.body;
    const shownKey = (key: string) => ({
      environment: key.slice(3, 7),
      prefix: key.slice(0, 12),
      last4: key.slice(-4),
      created_at: expect.stringMatching(INSTANT),
      last_used_at: null,
    });
    expect(made.body).toEqual({
      id: expect.stringMatching(UUID),
      name: 'Arcade',
      status: 'draft',
      developer_id: null,
      deletion_scheduled: false,
      created_at: expect.stringMatching(INSTANT),
      test_key: expect.stringMatching(/^sk_test_[0-9A-Za-z]{49}$/),
      keys: [shownKey(testKey)],
    });

    const approved = await operate('POST', `/programs/${id}/approve`);
    const { live_key: liveKey, ...program } = approved.body;
    expect(approved.status).toBe(200);
    expect(liveKey).toMatch(/^sk_live_[0-9A-Za-z]{49}$/);
    expect(program).toMatchObject({ status: 'approved', keys: [shownKey(testKey), shownKey(liveKey)] });
    expect((await operate('GET', `/programs/${id}`)).body).toEqual(program);
    const listed = await operate('GET', '/programs?limit=1');
    expect(listed.body).toMatchObject({ data: [program] });
    for (const key of [testKey, liveKey]) expect(listed.text).not.toContain(key);
  });

  test('an approval can be repeated until a request has used its live key', async () => {
    const { id, liveKey: lost } = await makeProgram();
    const repeated = await operate('POST', `/programs/${id}/approve`);
    expect(repeated).toMatchObject({ status: 200, body: { status: 'approved' } });
    const { live_key: liveKey } = repeated.body;
    expect(await use(lost)).toMatchObject(UNAUTHORIZED);
    expect(await operate('GET', `/programs/${id}`)).toMatchObject({
      body: { keys: [{ environment: 'test' }, { environment: 'live', last4: liveKey.slice(-4) }] },
    });
    expect((await use(liveKey)).status).toBe(404);
    expect(await operate('POST', `/programs/${id}/approve`)).toMatchObject(CONFLICT);
    expect((await use(liveKey)).status).toBe(404);
  });

  test('a request with a key of a program that is not open is answered like one without a key', async () => {
    const { id, testKey, liveKey } = await makeProgram();
    const change = (changes: object) => operate('PATCH', `/programs/${id}`, changes);
    const statuses = async () => [(await use(testKey)).status, (await use(liveKey)).status];
    const missing = await send('GET', '/v1/nothing');
    expect(missing).toMatchObject(UNAUTHORIZED);
    expect(await statuses()).toEqual([404, 404]);
    for (const changes of [
      { status: 'suspended' },
      { status: 'closed' },
      { status: 'approved', deletion_scheduled: true },
    ]) {
      expect(await change(changes)).toMatchObject({ status: 200, body: changes });
      for (const key of [testKey, liveKey]) {
        expect(await use(key), JSON.stringify(changes)).toMatchObject({ status: 401, text: missing.text });
      }
    }
    expect(await change({ deletion_scheduled: false })).toMatchObject({ status: 200 });
    expect(await statuses()).toEqual([404, 404]);
    expect(await change({ status: 'suspended' })).toMatchObject({ status: 200 });
    expect(await statuses()).toEqual([401, 401]);
    expect(await change({ status: 'approved' })).toMatchObject({ status: 200 });
    expect(await statuses()).toEqual([404, 404]);
  });

  test('programs are listed by status and by developer, page by page', async () => {
    const [email, other] = [`${newId()}@example.com`, `${newId()}@example.com`];
    const credentials = { email, password: PASSWORD };
    const { id: developerId } = (await operate('POST', '/developers', credentials)).body;
    await operate('POST', '/developers', { ...credentials, email: other });
    const made: string[] = [];
    for (const status of ['draft', 'approved', 'suspended', 'suspended', 'closed']) {
      const { id } = (await operate('POST', '/programs', { name: status, developer_id: developerId })).body;
      if (status !== 'draft') await operate('POST', `/programs/${id}/approve`);
      if (status !== 'draft' && status !== 'approved') await operate('PATCH', `/programs/${id}`, { status });
      made.unshift(id);
    }
    await makeProgram();
    const idsOf = async (query: string) => {
      const { body } = await operate('GET', `/programs?${query}`);
      return [body.data.map(({ id }: { id: string }) => id), body.next_cursor];
    };
    const theirs = `developer_id=${developerId.toUpperCase()}`;
    expect(await idsOf(theirs)).toEqual([made, null]);
    expect(await idsOf(`${theirs}&status=closed`)).toEqual([[made[0]], null]);
    expect(await idsOf(`${theirs}&status=suspended&limit=1`)).toEqual([[made[1]], made[1]]);
    expect(await idsOf(`${theirs}&status=suspended&limit=1&cursor=${made[1]}`)).toEqual([[made[2]], null]);
    expect((await idsOf('status=draft'))[0]).toContain(made[4]);
    expect(await idsOf(`developer_id=${newId()}`)).toEqual([[], null]);
    expect((await operate('GET', `/programs/${made[0]}`)).body).toMatchObject({ developer_id: developerId });
    for (const query of ['status=open', 'developer_id=x', 'status=', 'cursor=x', 'developer=x']) {
      expect(await operate('GET', `/programs?${query}`)).toMatchObject(INVALID);
    }

    const listed = { id: developerId, email, created_at: expect.stringMatching(INSTANT), programs: 5 };
    expect((await operate('GET', `/developers?email=${email.toUpperCase()}`)).body).toEqual({
      data: [listed],
      next_cursor: null,
    });
    const first = (await operate('GET', '/developers?limit=1')).body;
    expect(first.data).toMatchObject([{ email: other, programs: 0 }]);
    const second = (await operate('GET', `/developers?limit=1&cursor=${first.next_cursor}`)).body;
    expect(second.data).toEqual([listed]);
    expect((await operate('GET', '/developers?email=nobody@example.com')).body.data).toEqual([]);
    for (const query of ['email=nobody', 'cursor=x', 'limit=0']) {
      expect(await operate('GET', `/developers?${query}`)).toMatchObject(INVALID);
    }
  });

  test('a wrong body for an unknown program is answered 400, not 404', async () => {
    for (const id of [newId(), 'nonsense']) {
      expect(await operate('GET', `/programs/${id}`)).toMatchObject(NOT_FOUND);
      expect(await operate('POST', `/programs/${id}/approve`)).toMatchObject(NOT_FOUND);
      expect(await operate('PATCH', `/programs/${id}`, { status: 'closed' })).toMatchObject(NOT_FOUND);
      expect(await operate('POST', `/programs/${id}/challenges`, CHALLENGE_TERMS)).toMatchObject(NOT_FOUND);
      for (const body of [{}, { status: 'draft' }, { status: 'closed', note: 'x' }, { deletion_scheduled: 'no' }]) {
        expect(await operate('PATCH', `/programs/${id}`, body)).toMatchObject(INVALID);
      }
    }
    for (const query of ['cursor=x', 'limit=0', 'limit=201', 'limit=1&limit=2']) {
      expect(await operate('GET', `/programs?${query}`), query).toMatchObject(INVALID);
    }
  });

  test('a program needs a name, and its developer must exist if one is given', async () => {
    const { id } = (await operate('POST', '/developers', { email: 'owner@example.com', password: PASSWORD })).body;
    const before = await countOf('programs');
    const create = (body: object) => operate('POST', '/programs', body);
    for (const name of [undefined, '', 'x'.repeat(256), 'a\0b']) {
      expect(await create({ name, developer_id: id })).toMatchObject(INVALID);
    }
    for (const wrong of ['nonsense', '', 5, true, [id], { id }, `${id}0`, '7']) {
      expect(await create({ name: 'Arena', developer_id: wrong }), JSON.stringify(wrong)).toMatchObject(INVALID);
    }
    expect(await create({ name: 'Arena', developer_id: newId() })).toMatchObject(NOT_FOUND);
    expect(await countOf('programs')).toBe(before);
    expect(await create({ name: 'Arena', developer_id: null })).toMatchObject({ status: 201 });
    const made = await create({ name: 'Arena', developer_id: id.toUpperCase() });
    expect(made.status).toBe(201);
    const owner = { text: 'select developer_id from programs where id = $1' };
    expect(await database.query(owner, [made.body.id])).toEqual([{ developer_id: id }]);
  });
});

describe('keys of a program', () => {
  test('a key is never stored or logged in plain text', async () => {
    const { id, testKey, liveKey } = await makeProgram();
    const { text } = await operate('GET', `/programs/${id}`);
    const tables = await database.query<{ name: string }>({
      text: `select table_name as name from information_schema.tables where table_schema = 'public'`,
    });
    expect(tables.length).toBeGreaterThan(5);
    for (const key of [testKey, liveKey]) {
      expect(text).not.toContain(key);
      for (const { name } of tables) {
        const found = { text: `select 1 from "${name}" t where strpos(t::text, $1) > 0` };
        expect(await database.query(found, [key]), name).toEqual([]);
      }
      expect(lines.filter((line) => line.includes(key))).toEqual([]);
    }
    expect(lines.length).toBeGreaterThan(1);
  });

  test('a gateway that accepts only test keys responds to a live key as to a missing key', async () => {
    const { testKey, liveKey } = await makeProgram();
    expect((await use(testKey, sandboxPort)).status).toBe(404);
    expect((await use(liveKey, port)).status).toBe(404);
    const missing = await send('GET', '/v1/nothing', {}, undefined, sandboxPort);
    expect(await use(liveKey, sandboxPort)).toMatchObject({ status: 401, text: missing.text });
  });

  test('the sandbox accepts only test keys', async () => {
    const { testKey, liveKey } = await makeProgram();
    const refusals = await Promise.all(
      [
        ['POST', '/api/sandbox/players', liveKey],
        ['POST', '/api/sandbox/players/a/hold-next-award', liveKey],
        ['POST', `/api/sandbox/attempts/${newId()}/expire`, liveKey],
        ['POST', '/api/sandbox/players', undefined],
        ['POST', '/api/sandbox/players', `${testKey}x`],
      ].map(([method = '', path = '', key]) => send(method, path, key === undefined ? {} : { 'x-api-key': key })),
    );
    expect(refusals.map(({ status, text }) => [status, text])).toEqual(refusals.map(() => [401, refusals[0]?.text]));
    for (let time = 0; time <= RATE_LIMIT; time += 1) {
      expect((await send('POST', '/api/sandbox/nothing', { 'x-api-key': testKey })).status).toBe(404);
    }
    const { headers } = await use(testKey);
    expect(headers.get('x-ratelimit-limit')).toBe(String(RATE_LIMIT));
    expect(headers.get('x-ratelimit-remaining')).toBe(String(RATE_LIMIT - 1));
  });

  test('a request over the rate limit of /v1 does not use its idempotency key', () =>
    inOneMinute(database, async () => {
      const { testKey } = await makeProgram();
      const headers = { 'x-api-key': testKey, 'content-type': 'application/json' };
      const attempt = JSON.stringify({ challenge_id: newId(), player_ref: 'a' });
      const create = () => send('POST', '/v1/attempts', { ...headers, 'idempotency-key': newId() }, attempt);
      const before = await countOf('idempotency_records');
      for (let time = 1; time < RATE_LIMIT; time += 1) expect((await use(testKey)).status).toBe(404);
      // No challenge service runs.
      expect((await create()).status).toBe(500);
      await expect.poll(() => countOf('idempotency_records')).toBe(before + 1);
      const refused = await Promise.all(Array.from({ length: 20 }, create));
      expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 429));
      expect(await countOf('idempotency_records')).toBe(before + 1);
    }));
});
