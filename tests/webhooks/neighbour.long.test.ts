/**
 * Test endpoints take as many slots as they can. Meanwhile a partner's live events must arrive
 * almost as fast as without that load.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type Receiver, startReceiver } from '@laurel/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Developer, type EventBody, expectStatus, startWorld, type World } from '../world.ts';
import { playAttempt } from './play.ts';

/**
 * The number of developers whose endpoints take slots. Together these endpoints may have 160 sends
 * under way, which is more than an environment has slots.
 */
const FLOODERS = 2;
const ENDPOINTS = 20;
/** An endpoint that responds within a second counts as prompt, and may take its four slots. */
const PROMPT_ENOUGH_MS = 800;
/**
 * This many events of each flooder keep its endpoints busy for longer than the neighbour is
 * measured.
 */
const EVENTS_OF_FLOODER = 100;
const SAMPLES = 20;
/**
 * The promise: a neighbour's slowest event takes at most this many times as long as without the
 * flood.
 */
const FACTOR = 3;
/** Below this, other processes of the machine determine the time of an event. */
const FLOOR_MS = 100;
/**
 * The machine itself may be busy in one of two measurements, so the promise must hold in one of
 * this many rounds.
 */
const ROUNDS = 3;
const DRAINED_WITHIN_MS = 60_000;

let world: World;
let flooders: readonly Developer[];
let neighbour: Developer;
let slow: Receiver;
let prompt: Receiver;
beforeAll(async () => {
  world = await startWorld();
  const { ca } = world.stack;
  slow = await startReceiver({ ca, answer: () => ({ after: delay(PROMPT_ENOUGH_MS) }) });
  prompt = await startReceiver({ ca });
  neighbour = await world.newDeveloper();
  expectStatus(201, await neighbour.portal.createEndpoint({ url: prompt.url, environment: 'live' }));
  flooders = await Promise.all(Array.from({ length: FLOODERS }, () => world.newDeveloper()));
  for (const { id, portal } of flooders) {
    for (let index = 0; index < ENDPOINTS; index += 1) {
      expectStatus(201, await portal.createEndpoint({ url: `${slow.url}/${id}/${index}`, environment: 'test' }));
    }
  }
  // Each endpoint has responded once, and counts as prompt.
  await Promise.all(flooders.map((owner) => playAttempt(world, owner)));
  await slow.nth(FLOODERS * ENDPOINTS);
});
afterAll(async () => {
  await prompt?.[Symbol.asyncDispose]();
  await slow?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

/** The time of the slowest live event, from its instant to its arrival. */
async function slowestEventMs(): Promise<number> {
  const before = prompt.requests.length;
  for (let event = 1; event <= SAMPLES; event += 1) {
    await playAttempt(world, neighbour, { environment: 'live' });
    await prompt.nth(before + event);
  }
  const waits = prompt.requests.slice(before).map(({ body, receivedAt }) => {
    const { timestamp } = JSON.parse(body.toString()) as EventBody;
    return receivedAt - Date.parse(timestamp);
  });
  return Math.max(...waits);
}

async function flood(): Promise<void> {
  for (let event = 0; event < EVENTS_OF_FLOODER; event += 1) {
    await Promise.all(flooders.map((owner) => playAttempt(world, owner)));
  }
}

test('live events stay within three times their usual time while test endpoints hold all their slots', async () => {
  const measured: { quiet: number; flooded: number; sentToFlooders: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const quiet = await slowestEventMs();
    const flooding = flood();
    // By then more events are due than there are slots.
    await slow.nth(slow.requests.length + FLOODERS * ENDPOINTS * 4);
    const before = slow.requests.length;
    const flooded = await slowestEventMs();
    measured.push({ quiet, flooded, sentToFlooders: slow.requests.length - before });
    await flooding;
    expect(slow.requests.length - before).toBeGreaterThan(FLOODERS * ENDPOINTS);
    // The next round begins after the rest of the flood.
    await slow.nth(FLOODERS * ENDPOINTS * (1 + (round + 1) * EVENTS_OF_FLOODER), DRAINED_WITHIN_MS);
    if (flooded <= FACTOR * Math.max(quiet, FLOOR_MS)) return;
  }
  expect.fail(`live events were not within ${FACTOR} times: ${JSON.stringify(measured)}`);
});
