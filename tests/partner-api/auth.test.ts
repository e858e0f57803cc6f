import { randomUUID } from 'node:crypto';
import type { Answer, Partner } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectStatus, startWorld, type World } from '../world.ts';

describe('authentication by API key', () => {
  let world: World;
  /** The 401 of a missing key: every other 401 must equal it. */
  let reference: Answer<unknown>;
  beforeAll(async () => {
    world = await startWorld();
    reference = await world.http.send('GET', '/v1/challenges?player_ref=a');
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  /** Everything that does not identify the single request. */
  function shape(answer: Answer<unknown>): object {
    const { 'x-request-id': _requestId, date: _date, ...headers } = answer.headers;
    return { status: answer.status, text: answer.text, headers };
  }

  async function expectUniform401(apiKey: string, path = '/v1/challenges?player_ref=a'): Promise<void> {
    const answer = await world.http.send('GET', path, { headers: { 'x-api-key': apiKey } });
    expect(shape(answer)).toEqual(shape(reference));
  }

  /** Replaces one character of the key's random part by another of its alphabet. */
  function withTypo(apiKey: string, position: number): string {
    const at = position < 0 ? apiKey.length + position : position;
    return `${apiKey.slice(0, at)}${apiKey[at] === 'a' ? 'b' : 'a'}${apiKey.slice(at + 1)}`;
  }

  test('a missing API key is answered with the error envelope', () => {
    expect(reference.status).toBe(401);
    expect(reference.body).toEqual({ error: { code: 'unauthorized', message: expect.stringMatching(/\S/) } });
  });

  test('a valid API key is accepted', async () => {
    expectStatus(200, await world.partner.listChallenges('a'));
    expectStatus(200, await world.program.live.listChallenges('a'));
  });

  test.each([
    ['empty', ''],
    ['a word', 'nonsense'],
    ['a prefix alone', 'sk_test_'],
    ['a prefix and too little', 'sk_test_abc'],
    ['a prefix and letters', `sk_test_${'a'.repeat(43)}`],
    ['a prefix and letters, with a tail', `sk_test_${'A'.repeat(49)}`],
    ['an unknown prefix', `sk_prod_${'a'.repeat(49)}`],
    ['very long', `sk_test_${'a'.repeat(4_000)}`],
    ['Latin-1', 'sk_test_ÿ'],
    ['two keys', 'sk_test_a, sk_test_b'],
    ['a bearer', 'Bearer sk_test_a'],
    ['an SQL injection', "sk_test_' or '1'='1"],
  ])('an API key that is %s is answered like a missing one', (_what, apiKey) => expectUniform401(apiKey));

  test('an API key with a typo in any position is answered like a missing one', async () => {
    const { apiKey } = world.partner;
    for (const position of [8, 9, 20, 30, -6, -2, -1]) await expectUniform401(withTypo(apiKey, position));
    await expectUniform401(`${apiKey}a`);
    await expectUniform401(apiKey.slice(0, -1));
    await expectUniform401(apiKey.toUpperCase());
  });

  test('an API key under the prefix of the other environment is answered like a missing one', async () => {
    await expectUniform401(world.partner.apiKey.replace('sk_test_', 'sk_live_'));
    await expectUniform401(world.program.live.apiKey.replace('sk_live_', 'sk_test_'));
  });

  test('a well-formed API key that does not exist is answered like a missing one', async () => {
    const program = await world.newProgram();
    // The row is deleted before the key was used once, so that no cache can hold it.
    await world.stack.database('gateway').query('delete from api_keys where program_id = $1', [program.id]);
    await expectUniform401(program.test.apiKey);
    await expectUniform401(program.live.apiKey);
  });

  test('a test key works but a live key of a program that is not approved is answered like a missing one', async () => {
    const program = await world.newProgram();
    await world.stack.database('gateway').query(`update programs set status = 'draft' where id = $1`, [program.id]);
    await expectUniform401(program.live.apiKey);
    expectStatus(200, await program.test.listChallenges('a'));
  });

  test.each([
    ['suspended', { status: 'suspended' }],
    ['closed', { status: 'closed' }],
    ['scheduled for deletion', { deletion_scheduled: true }],
  ])('both keys of a program that is %s stop working immediately', async (_what, changes) => {
    const program = await world.newProgram();
    expectStatus(200, await program.test.listChallenges('a'));
    expectStatus(200, await program.live.listChallenges('a'));
    expectStatus(200, await world.operator.updateProgram(program.id, changes));
    await expectUniform401(program.test.apiKey);
    await expectUniform401(program.live.apiKey);
  });

  test('the keys of a suspended program work again once it is approved', async () => {
    const program = await world.newProgram();
    expectStatus(200, await world.operator.updateProgram(program.id, { status: 'suspended' }));
    await expectUniform401(program.live.apiKey);
    expectStatus(200, await world.operator.updateProgram(program.id, { status: 'approved' }));
    expectStatus(200, await program.live.listChallenges('a'));
    expectStatus(200, await program.test.listChallenges('a'));
  });

  test('every route and method, known or not, answers the same 401', async () => {
    const id = randomUUID();
    for (const [method, path] of [
      ['GET', '/v1/challenges'],
      ['POST', `/v1/challenges/${id}/distribution`],
      ['POST', '/v1/players'],
      ['POST', '/v1/attempts'],
      ['POST', `/v1/attempts/${id}/outcome`],
      ['GET', `/v1/attempts/${id}`],
      ['GET', '/v1/tournaments'],
      ['GET', `/v1/tournaments/rounds/${id}/leaderboard`],
      ['POST', '/v1/integrations'],
      ['GET', '/v1/integrations'],
      ['PATCH', `/v1/integrations/${id}`],
      ['POST', `/v1/integrations/${id}/rotate-secret`],
      ['DELETE', `/v1/integrations/${id}/previous-secret`],
      ['GET', '/v1/nowhere'],
      ['DELETE', '/v1/attempts'],
    ] as const) {
      const answer = await world.http.send(method, path, { headers: { 'x-api-key': 'sk_test_nonsense' } });
      expect(shape(answer), `${method} ${path}`).toEqual(shape(reference));
    }
  });

  test('a request without a valid API key changes nothing', async () => {
    const before = await world.digest();
    const unauthenticated: Pick<Partner, 'send'> = {
      send: (method, path, options) => world.http.send(method, path, options),
    };
    const challenge = randomUUID();
    const distribution = { p5: 1, p25: 2, p50: 3, p75: 4, p95: 5 };
    for (const [path, body] of [
      [`/v1/challenges/${challenge}/distribution`, { distribution, sample_size: 500 }],
      ['/v1/players', { player_ref: 'a', email: 'a@example.com' }],
      ['/v1/attempts', { challenge_id: challenge, player_ref: 'a' }],
    ] as const) {
      expectStatus(
        401,
        await unauthenticated.send('POST', path, { body, headers: { 'idempotency-key': randomUUID() } }),
      );
    }
    expect(await world.digest()).toEqual(before);
  });

  test('an API key in the query or a cookie is not accepted', async () => {
    const { apiKey } = world.partner;
    expectStatus(
      401,
      await world.http.send('GET', `/v1/challenges?player_ref=a&api_key=${apiKey}&X-API-Key=${apiKey}`),
    );
    const headers = { cookie: `X-API-Key=${apiKey}`, authorization: `Bearer ${apiKey}` };
    expectStatus(401, await world.http.send('GET', '/v1/challenges?player_ref=a', { headers }));
  });

  test('a live key is never accepted in the sandbox', async () => {
    const { send } = world.program.live;
    const body = { player_ref: randomUUID(), funds: '1.00' };
    expectStatus(401, await send('POST', '/api/sandbox/players', { body }));
    expectStatus(401, await send('POST', '/api/sandbox/players/a/hold-next-award'));
    expectStatus(401, await send('POST', `/api/sandbox/attempts/${randomUUID()}/expire`));
  });

  test('the operator API requires the operator token', async () => {
    for (const authorization of ['', 'Bearer', 'Bearer nonsense', `Basic ${world.stack.operatorToken}`]) {
      const answer = await world.http.send('GET', '/api/operator/audit', { headers: { authorization } });
      expectStatus(401, answer);
    }
    expectStatus(401, await world.http.send('GET', '/api/operator/audit'));
    expectStatus(
      401,
      await world.http.send('GET', '/api/operator/audit', { headers: { 'x-api-key': world.partner.apiKey } }),
    );
  });

  test('a new key is shown once and stored nowhere in plain text', async () => {
    const list = expectStatus(200, await world.operator.send('GET', `/programs/${world.program.id}`));
    for (const { apiKey } of [world.program.test, world.program.live]) {
      expect(list.text).not.toContain(apiKey);
      for (const table of await world.stack
        .database('gateway')
        .query<{ name: string }>(
          `select table_name as name from information_schema.tables where table_schema = 'public'`,
        )) {
        const rows = await world.stack
          .database('gateway')
          .query(`select 1 from "${table.name}" t where strpos(t::text, $1) > 0`, [apiKey]);
        expect(rows, table.name).toEqual([]);
      }
      expect(world.stack.logs('gateway').filter((line) => line.includes(apiKey))).toEqual([]);
    }
  });
});

describe('a deployment that accepts only sandbox keys', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ environment: { gateway: { ACCEPTED_ENVIRONMENTS: 'test' } } });
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  test('a deployment that accepts only sandbox keys answers a live key like an unknown one', async () => {
    expectStatus(200, await world.program.test.listChallenges('a'));
    const live = await world.program.live.listChallenges('a');
    const missing = await world.http.send('GET', '/v1/challenges?player_ref=a');
    expectStatus(401, live);
    expect(live.text).toBe(missing.text);
  });
});
