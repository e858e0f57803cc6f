import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectError, expectStatus, joinWorld, type SharedWorld } from '../world.ts';

// services/gateway/src/server.test.ts and services/gateway/src/admission/admission.test.ts test
// which texts are not keys, and that all get the same response, byte for byte.
describe('authentication by API key', () => {
  let world: SharedWorld;
  beforeAll(async () => {
    world = await joinWorld();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  test('a valid API key is accepted, in either environment', async () => {
    expectStatus(200, await world.partner.listChallenges('a'));
    expectStatus(200, await world.program.live.listChallenges('a'));
  });

  test('a request without a valid API key gets the error envelope and changes nothing', async () => {
    const player = await world.newPlayer();
    const challenge = await world.newChallenge();
    const entry = { challenge_id: challenge.id, player_ref: player.ref };
    const answers = [];
    for (const headers of [{}, { 'x-api-key': world.partner.apiKey.replace('sk_test_', 'sk_live_') }]) {
      const options = { body: entry, headers: { ...headers, 'idempotency-key': randomUUID() } };
      answers.push(await world.http.send('POST', '/v1/attempts', options));
    }
    for (const answer of answers) {
      expectError(401, 'unauthorized', answer);
      expect(answer.body).toEqual({ error: { code: 'unauthorized', message: expect.stringMatching(/\S/) } });
      expect(answer.text).toBe(answers[0]?.text);
    }
    expect(await world.balance(player)).toBe('100.00');
  });
});
