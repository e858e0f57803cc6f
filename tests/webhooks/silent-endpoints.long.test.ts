/**
 * Endpoints that never respond delay no other endpoint, from play to the partners' servers. The
 * seconds are a promise on a machine that does nothing else, so `npm run test:long` runs one file
 * at a time; services/webhook/src/workers/fairness.long.test.ts tests that nothing waits at all.
 */
import { startReceiver } from '@laurel/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EventBody, eventually, expectStatus, startWorld, type World } from '../world.ts';
import { playAttempt } from './play.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({ environment: { webhook: { WEBHOOK_RETRY_DELAYS_SECONDS: '60,300' } } });
});
afterAll(() => world?.[Symbol.asyncDispose]());

test('the healthy half of 200 endpoints has every event within two seconds while the other half never answers', async () => {
  const OF_EACH = 10;
  const WAVES = 5;
  const developers = await Promise.all(Array.from({ length: 10 }, () => world.newDeveloper()));
  await using silent = await startReceiver({ ca: world.stack.ca, answer: 'never' });
  await using healthy = await startReceiver({ ca: world.stack.ca });
  const silentEndpoints = await Promise.all(
    developers.map(async (owner) => {
      const register = async (url: string) => expectStatus(201, await owner.portal.createEndpoint({ url })).body.id;
      const path = (index: number) => `${owner.id}/${index}`;
      for (let index = 1; index < OF_EACH; index += 1) await register(`${silent.url}/${path(index)}`);
      for (let index = 0; index < OF_EACH; index += 1) await register(`${healthy.url}/${path(index)}`);
      return { owner, endpointId: await register(`${silent.url}/${path(0)}`) };
    }),
  );
  const hasTimedOut = async ({ owner, endpointId }: (typeof silentEndpoints)[number]) => {
    const { data } = expectStatus(200, await owner.portal.listDeliveries(endpointId)).body;
    return data.some(({ attempts }) => attempts[0]?.error_kind === 'timeout') || undefined;
  };

  const endpointsOfEach = developers.length * OF_EACH;
  for (let wave = 1; wave <= WAVES; wave += 1) {
    // Until the last wave the service does not know which endpoints never respond.
    if (wave === WAVES)
      for (const endpoint of silentEndpoints) await eventually(() => hasTimedOut(endpoint), 'a send has timed out');
    await Promise.all(developers.map((owner) => playAttempt(world, owner)));
    await healthy.nth(wave * endpointsOfEach);
  }

  expect(new Set(silent.requests.map(({ path }) => path)).size).toBe(endpointsOfEach);
  const events = healthy.requests.map(({ path, body, receivedAt }) => {
    const { timestamp, data } = JSON.parse(body.toString()) as EventBody;
    return { addressed: `${path} ${data.attempt_id}`, seconds: (receivedAt - Date.parse(timestamp)) / 1_000 };
  });
  expect(new Set(events.map(({ addressed }) => addressed)).size).toBe(WAVES * endpointsOfEach);
  expect(events).toHaveLength(WAVES * endpointsOfEach);
  // The first wave also opens a connection to each of 200 endpoints; even then no event waits for
  // the 5 s of a silent endpoint.
  expect(Math.max(...events.slice(0, endpointsOfEach).map(({ seconds }) => seconds))).toBeLessThan(5);
  expect(Math.max(...events.slice(endpointsOfEach).map(({ seconds }) => seconds))).toBeLessThan(2);
});
