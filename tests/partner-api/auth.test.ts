import { randomUUID } from 'node:crypto';
import type { Answer, Partner } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectStatus, startWorld, type World } from '../world.ts';

describe('authentication', () => {
  let world: World;
  /** The 401 of a missing key: every other 401 must be this one. */
  let reference: Answer<unknown>;
  beforeAll(async () => {
    world = await startWorld();
    reference = await world.http.send('GET', '/v1/challenges?player_ref=a');
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  /** Everything but what names the single request. */
  function shape(answer: Answer<unknown>): object {
    const { 'x-request-id': _requestId, date: _date, ...headers } = answer.headers;
    return { status: answer.status, text: answer.text, headers };
  }

  async function expectUniform401(apiKey: string, path = '/v1/challenges?player_ref=a'): Promise<void> {
    const answer = await world.http.send('GET', path, { headers: { 'x-api-key': apiKey } });
    expect(shape(answer)).toEqual(shape(reference));
  }

  /** Flips one character of the key's random part to another of its alphabet. */
  function withTypo(apiKey: string, position: number): string {
    const at = position < 0 ? apiKey.length + position : position;
    return `${apiKey.slice(0, at)}${apiKey[at] === 'a' ? 'b' : 'a'}${apiKey.slice(at + 1)}`;
  }

  test('answers a missing key with the envelope', () => {
    expect(reference.status).toBe(401);
    expect(reference.body).toEqual({ error: { code: 'unauthorized', message: expect.stringMatching(/\S/) } });
  });

  test('answers an accepted key', async () => {
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
  ])('answers a key that is %s like a missing one', (_what, apiKey) => expectUniform401(apiKey));

  test('answers a typo in any place like a missing key', async () => {
    const { apiKey } = world.partner;
    for (const position of [8, 9, 20, 30, -6, -2, -1]) await expectUniform401(withTypo(apiKey, position));
    await expectUniform401(`${apiKey}a`);
    await expectUniform401(apiKey.slice(0, -1));
    await expectUniform401(apiKey.toUpperCase());
  });

  test('answers a key under the prefix of the other environment like a missing one', async () => {
    await expectUniform401(world.partner.apiKey.replace('sk_test_', 'sk_live_'));
    await expectUniform401(world.program.live.apiKey.replace('sk_live_', 'sk_test_'));
  });

  test('answers a well-formed key that nobody has like a missing one', async () => {
    const program = await world.newProgram();
    // The row goes before the key was used once, so that nothing can remember it.
    await world.stack.database('gateway').query('delete from api_keys where program_id = $1', [program.id]);
    await expectUniform401(program.test.apiKey);
    await expectUniform401(program.live.apiKey);
  });

  test('accepts a test key but answers a live key of a program that is not approved like a missing one', async () => {
    const program = await world.newProgram();
    await world.stack.database('gateway').query(`update programs set status = 'draft' where id = $1`, [program.id]);
    await expectUniform401(program.live.apiKey);
    expectStatus(200, await program.test.listChallenges('a'));
  });

  test.each([
    ['suspended', { status: 'suspended' }],
    ['closed', { status: 'closed' }],
    ['scheduled for deletion', { deletion_scheduled: true }],
  ])('stops both keys of a program that is %s at once', async (_what, changes) => {
    const program = await world.newProgram();
    expectStatus(200, await program.test.listChallenges('a'));
    expectStatus(200, await program.live.listChallenges('a'));
    expectStatus(200, await world.operator.updateProgram(program.id, changes));
    await expectUniform401(program.test.apiKey);
    await expectUniform401(program.live.apiKey);
  });

  test('accepts the keys of a suspended program again once it is approved', async () => {
    const program = await world.newProgram();
    expectStatus(200, await world.operator.updateProgram(program.id, { status: 'suspended' }));
    await expectUniform401(program.live.apiKey);
    expectStatus(200, await world.operator.updateProgram(program.id, { status: 'approved' }));
    expectStatus(200, await program.live.listChallenges('a'));
    expectStatus(200, await program.test.listChallenges('a'));
  });

  test('answers every route and method, known or not, alike', async () => {
    const id = randomUUID();
    for (const [method, path] of [
      ['GET', '/v1/challenges'],
      ['POST', '/v1/players'],
      ['POST', '/v1/attempts'],
      ['POST', `/v1/attempts/${id}/outcome`],
      ['GET', `/v1/attempts/${id}`],
      ['GET', '/v1/tournaments'],
      ['GET', `/v1/tournaments/rounds/${id}/leaderboard`],
      ['GET', '/v1/nowhere'],
      ['DELETE', '/v1/attempts'],
    ] as const) {
      const answer = await world.http.send(method, path, { headers: { 'x-api-key': 'sk_test_nonsense' } });
      expect(shape(answer), `${method} ${path}`).toEqual(shape(reference));
    }
  });

  test('changes nothing', async () => {
    const before = await world.digest();
    const stranger: Pick<Partner, 'send'> = {
      send: (method, path, options) => world.http.send(method, path, options),
    };
    const challenge = randomUUID();
    for (const [path, body] of [
      ['/v1/players', { player_ref: 'a', email: 'a@example.com' }],
      ['/v1/attempts', { challenge_id: challenge, player_ref: 'a' }],
    ] as const) {
      expectStatus(401, await stranger.send('POST', path, { body, headers: { 'idempotency-key': randomUUID() } }));
    }
    expect(await world.digest()).toEqual(before);
  });

  test('takes no key from the query or a cookie', async () => {
    const { apiKey } = world.partner;
    expectStatus(
      401,
      await world.http.send('GET', `/v1/challenges?player_ref=a&api_key=${apiKey}&X-API-Key=${apiKey}`),
    );
    const headers = { cookie: `X-API-Key=${apiKey}`, authorization: `Bearer ${apiKey}` };
    expectStatus(401, await world.http.send('GET', '/v1/challenges?player_ref=a', { headers }));
  });

  test('never takes a live key in the sandbox', async () => {
    expectStatus(401, await world.program.live.createPlayer(randomUUID(), '1.00'));
    expectStatus(401, await world.program.live.holdNextAward('a'));
    expectStatus(401, await world.program.live.expireAttempt(randomUUID()));
  });

  test('asks an operator for the token', async () => {
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

  test('shows a key once and stores no key anywhere', async () => {
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

  test('answers a live key like an unknown one', async () => {
    expectStatus(200, await world.program.test.listChallenges('a'));
    const live = await world.program.live.listChallenges('a');
    const missing = await world.http.send('GET', '/v1/challenges?player_ref=a');
    expectStatus(401, live);
    expect(live.text).toBe(missing.text);
  });
});
