/**
 * docker-compose.one-process.yml beside the stack of docker-compose.yml: its container starts on
 * the same databases and NATS as the six services, and a partner may use either.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { CHECKOUT, createHttpClient, createPartner } from '@laurel/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, expectStatus, joinWorld, type SharedWorld } from '../world.ts';
import { type Containers, openContainers } from './containers.ts';

const START_MS = 120_000;
const NAME = 'one-process';

let world: SharedWorld;
let containers: Containers;

beforeAll(async () => {
  world = await joinWorld();
  containers = openContainers();
});
afterAll(async () => {
  await compose('rm', '--stop', '--force', NAME);
  await world?.[Symbol.asyncDispose]();
});

async function compose(...command: readonly string[]): Promise<void> {
  const { oneProcess, environment } = containers.description;
  const [program, ...first] = oneProcess;
  await promisify(execFile)(program, [...first, ...command], {
    cwd: CHECKOUT,
    env: { ...process.env, ...environment },
  });
}

test('one container of all services serves a partner on the existing six databases', async () => {
  await compose('up', '--detach', '--no-deps', '--no-build', NAME);
  await eventually(
    async () => {
      const { isRunning, isHealthy } = await containers.stateOf(NAME);
      return (isRunning && isHealthy) || undefined;
    },
    'the container is healthy',
    START_MS,
  );
  const id = await containers.idOf(NAME);
  expect(await containers.docker('exec', id, 'id', '-un')).toBe('node');
  const address = await containers.docker('port', id, '8080/tcp');
  await using http = createHttpClient({ baseUrl: `http://${address}` });
  for (const path of ['/healthz', '/docs/', '/portal/', '/openapi.json']) {
    expect([path, (await fetch(`http://${address}${path}`)).status]).toEqual([path, 200]);
  }

  const partner = createPartner(http, world.partner.apiKey);
  const player = await world.newPlayer({ funds: '10.00' });
  const challenge = await world.newChallenge();
  const creation = { challenge_id: challenge.id, player_ref: player.ref };
  const { body: attempt } = expectStatus(201, await partner.createAttempt(creation));
  const { body: outcome } = expectStatus(200, await world.partner.reportOutcome(attempt.id, { score: 1 }));
  const { body: read } = expectStatus(200, await partner.getAttempt(attempt.id));
  expect(read.outcome).toEqual(outcome);
  expect(await world.balance(player)).toBe('9.00');
}, 180_000);
