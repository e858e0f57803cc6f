import { randomUUID } from 'node:crypto';
import { createHttpClient, createPartner, type HttpClient, type Partner } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectError, expectStatus, startWorld, type World } from '../world.ts';

describe('the live key of a program', () => {
  let world: World;
  let gateways: HttpClient[];
  beforeAll(async () => {
    world = await startWorld({ replicas: { gateway: 2 } });
    gateways = world.stack.baseUrls.map((baseUrl) => createHttpClient({ baseUrl, onAnswer: world.contract.check }));
  });
  afterAll(async () => {
    await Promise.all((gateways ?? []).map((gateway) => gateway[Symbol.asyncDispose]()));
    await world?.[Symbol.asyncDispose]();
  });

  const statusesOf = (apiKey: string) =>
    Promise.all(gateways.map(async (http) => (await createPartner(http, apiKey).listChallenges('anyone')).status));
  const keysOf = async (programId: string) =>
    expectStatus(
      200,
      await world.operator.send<{ keys: { environment: string; last4: string }[] }>('GET', `/programs/${programId}`),
    ).body.keys.map(({ environment, last4 }) => [environment, last4]);
  const apiKeyOf = ({ apiKey }: Partner) => apiKey;

  test('a new live key works immediately at every gateway, and the leaked key at none', async () => {
    const program = await world.newProgram();
    const [leaked, testKey] = [apiKeyOf(program.live), apiKeyOf(program.test)];
    expect(await statusesOf(leaked)).toEqual([200, 200]);
    const { body } = expectStatus(200, await world.operator.replaceLiveKey(program.id));
    expect(body).toEqual({ live_key: expect.stringMatching(/^sk_live_[0-9A-Za-z]{49}$/) });
    expect(await statusesOf(leaked)).toEqual([401, 401]);
    expect(await statusesOf(body.live_key)).toEqual([200, 200]);
    expect(await statusesOf(testKey)).toEqual([200, 200]);
    expect(await keysOf(program.id)).toEqual([
      ['test', testKey.slice(-4)],
      ['live', body.live_key.slice(-4)],
    ]);
    // A paid create whose idempotency lock names the old API key by its id: it is refused too, and
    // locks nothing.
    const attempt = { challenge_id: randomUUID(), player_ref: 'anyone' };
    for (const http of gateways) {
      expectStatus(401, await createPartner(http, leaked).createAttempt(attempt, randomUUID()));
    }
  });

  test('exactly one live key works after 10 parallel replacements', async () => {
    const program = await world.newProgram();
    const player = await world.newPlayer({ environment: 'live', partner: program.live });
    const answers = await Promise.all(Array.from({ length: 10 }, () => world.operator.replaceLiveKey(program.id)));
    const keys = answers.map((answer) => expectStatus(200, answer).body.live_key);
    const statuses = await Promise.all(keys.map(statusesOf));
    expect(statuses.map(String).sort()).toEqual([String([200, 200]), ...Array<string>(9).fill(String([401, 401]))]);
    const working = keys.find((_, index) => statuses[index]?.[0] === 200) ?? '';
    const partner = createPartner(world.http, working);
    expectStatus(200, await partner.listChallenges(player.ref));
    expect(await keysOf(program.id)).toContainEqual(['live', working.slice(-4)]);
  });

  test('an approval whose answer was lost can be repeated until its key is used', async () => {
    const { id } = expectStatus(201, await world.operator.createProgram('Lost answer')).body;
    const approve = () => world.operator.approveProgram(id);
    const lost = expectStatus(200, await approve()).body.live_key;
    const { live_key: liveKey } = expectStatus(200, await approve()).body;
    expect(await statusesOf(lost)).toEqual([401, 401]);
    expect(await statusesOf(liveKey)).toEqual([200, 200]);
    expectError(409, 'conflict', await approve());
    expect(await statusesOf(liveKey)).toEqual([200, 200]);
    expect(await keysOf(id)).toContainEqual(['live', liveKey.slice(-4)]);
    const log = await world.operator.send<{ data: { outcome: string; after: { keys: { last4: string }[] } | null }[] }>(
      'GET',
      `/actions?subject=program:${id}&action=approve_program`,
    );
    expect(expectStatus(200, log).body.data.map(({ outcome, after }) => [outcome, after?.keys[1]?.last4])).toEqual([
      ['refused', undefined],
      ['done', liveKey.slice(-4)],
      ['done', lost.slice(-4)],
    ]);
  });

  test('a program without a working live key cannot replace it', async () => {
    const draft = expectStatus(201, await world.operator.createProgram('Draft')).body;
    expectError(409, 'conflict', await world.operator.replaceLiveKey(draft.id));
    const { id, live } = await world.newProgram();
    for (const status of ['suspended', 'closed']) {
      expectStatus(200, await world.operator.updateProgram(id, { status }));
      expectError(409, 'conflict', await world.operator.replaceLiveKey(id));
    }
    expectStatus(200, await world.operator.updateProgram(id, { status: 'approved' }));
    expect(await statusesOf(apiKeyOf(live))).toEqual([200, 200]);
    for (const unknown of [randomUUID(), 'nonsense']) {
      expectError(404, 'not_found', await world.operator.replaceLiveKey(unknown));
    }
  });
});
