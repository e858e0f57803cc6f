/**
 * KEY_PEPPER is replaced while the stack runs, in the steps of docs/operations/rotate-secrets.md.
 * Used keys are hashed again every half minute, for which this test waits;
 * services/gateway/src/change-of-pepper.test.ts tests the steps alone.
 */
import { randomBytes } from 'node:crypto';
import { createHttpClient, createPartner } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, expectStatus, startWorld, type World } from '../world.ts';
import { rollOut } from './roll-out.ts';

/** The worker that hashes keys again runs every half minute. */
const WORKER_MS = 60_000;
const gateway = { service: 'gateway', count: 2 } as const;
const [first, second] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];

let world: World;
beforeAll(async () => {
  world = await startWorld({ replicas: { gateway: gateway.count }, environment: { gateway: { KEY_PEPPER: first } } });
});
afterAll(() => world?.[Symbol.asyncDispose]());

describe('KEY_PEPPER', () => {
  test('an API key works at every step of a rotation of the pepper', async () => {
    const program = await world.newProgram();
    const unused = await world.newProgram();
    const statusesOf = (apiKey: string) =>
      Promise.all(
        world.stack.baseUrls.map(async (baseUrl) => {
          await using http = createHttpClient({ baseUrl, onAnswer: world.contract.check });
          return (await createPartner(http, apiKey).listChallenges('anyone')).status;
        }),
      );
    const works = async () => expect(await statusesOf(program.test.apiKey)).toEqual([200, 200]);
    const versionOf = async (programId: string) => {
      const text = `select pepper_version from api_keys where program_id = $1 and environment = 'test'`;
      const [row] = await world.stack.database('gateway').query<{ pepper_version: number }>(text, [programId]);
      return row?.pepper_version;
    };

    await works();
    await rollOut(world, gateway, { KEY_PEPPERS_ACCEPTED: `2:${second}` }, works);
    expect(await versionOf(program.id)).toBe(1);
    const changed = { KEY_PEPPER: second, KEY_PEPPER_VERSION: '2' };
    await rollOut(world, gateway, { ...changed, KEY_PEPPERS_ACCEPTED: `1:${first}` }, works);
    await eventually(
      async () => ((await versionOf(program.id)) === 2 ? true : undefined),
      'the key that was used is hashed again',
      WORKER_MS,
    );
    await works();
    expect(await versionOf(unused.id)).toBe(1);

    await rollOut(world, gateway, { ...changed, KEY_PEPPERS_ACCEPTED: '' }, works);
    expect(await statusesOf(unused.test.apiKey)).toEqual([401, 401]);
    const warning = 'API keys lie under a pepper that is not configured';
    expect(world.stack.logs('gateway').filter((line) => line.includes(warning))).not.toEqual([]);
    const { body } = expectStatus(200, await world.operator.replaceLiveKey(unused.id));
    expect(await statusesOf(body.live_key)).toEqual([200, 200]);
  }, 240_000);
});
