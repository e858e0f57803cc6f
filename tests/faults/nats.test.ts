/**
 * NATS starts late, dies, hangs and loses its store while paid attempts continue: partners notice
 * nothing, and no event is lost.
 */
import { startNats } from '@laurel/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eventually, startWorld, type World } from '../world.ts';
import { withBroker } from './broker.ts';
import { type DeliveredEvents, receiveEvents } from './delivered-events.ts';
import { expectAcknowledged, type Load, type ProgramUnderLoad, underLoad as playUnderLoad } from './load.ts';
import { lapseAcknowledgements } from './waits.ts';

const PLAYERS = 6;
/** Fewer responses than this are not a load; `LAUREL_FAULTS=all` plays far more. */
const ENOUGH = process.env.LAUREL_FAULTS === 'all' ? 800 : 40;
/** Anything that waits for NATS waits at least a second (the timeouts of libs/events). */
const NOT_TIED_TO_NATS_MS = 500;
/**
 * The limit of a test and of each wait, whose error says what it waited for. The arrival of an
 * event is not a promise in seconds: on a machine with eight times as much to do as it has cores, a
 * hundred requests and a restart take most of a minute.
 */
const TEST_MS = 300_000;
const WAIT_MS = 240_000;

let nats: Awaited<ReturnType<typeof startNats>>;
let world: World;
let delivered: DeliveredEvents;
let loaded: ProgramUnderLoad;

beforeAll(async () => {
  nats = await startNats({ tls: true });
  await nats.stop();
  const ofContests = { OUTBOX_REPUBLISH_AFTER_MS: '200', PENDING_GRACE_SECONDS: '3' };
  world = await startWorld({
    nats,
    failpoints: true,
    restart: true,
    environment: {
      challenge: ofContests,
      tournament: ofContests,
      webhook: { WEBHOOK_SWEEP_MS: '100' },
      gateway: { IDEMPOTENCY_TAKEOVER_SECONDS: '1' },
    },
  });
  delivered = await receiveEvents(world);
  loaded = { world, program: delivered.developer.program };
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await nats?.[Symbol.asyncDispose]();
});

/** Plays paid attempts, each player one after the other, while `disturb` runs. */
function underLoad(disturb: (load: Load) => Promise<void>, retried: readonly string[] = []): Promise<Load> {
  return playUnderLoad(loaded, { players: PLAYERS, retried, waitMs: WAIT_MS }, disturb);
}

/** Waits until all events are delivered and both outboxes are empty. */
async function expectAllDelivered(load: Load): Promise<void> {
  await delivered.expectAll({ refs: load.refs }, WAIT_MS);
  await expectAcknowledged(world.stack, load);
}

function expectUnhurt({ latencies }: Load): void {
  expect(latencies.toSorted((one, other) => one - other)[latencies.length >> 1]).toBeLessThan(NOT_TIED_TO_NATS_MS);
}

const readiness = async () => (await fetch(`${world.stack.adminUrls('gateway')[0]}/readyz`)).status;
const deleteStream = async () => {
  await streamIsThere();
  return await withBroker(world.stack, ({ streams }, stream) => streams.delete(stream));
};
const purgeStream = async () => {
  await streamIsThere();
  return await withBroker(world.stack, ({ streams }, stream) => streams.purge(stream));
};

/** Waits for the stream, which the webhook service recreates on its own schedule. */
function streamIsThere(): Promise<unknown> {
  return eventually(
    () => withBroker(world.stack, ({ streams }, stream) => streams.info(stream)).catch(() => undefined),
    'there is a stream',
    WAIT_MS,
  );
}

test('every event of paid attempts arrives when NATS starts after the stack', {
  timeout: TEST_MS,
}, async () => {
  const load = await underLoad((now) => now.more(ENOUGH));
  expect(delivered.hook.receiver.requests).toHaveLength(0);
  await nats.start();
  await expectAllDelivered(load);
  expectUnhurt(load);
});

describe('paid attempts during failures of NATS', { timeout: TEST_MS }, () => {
  beforeEach(() => nats.start());

  test.each([
    ['is killed with SIGKILL and comes back', () => nats.kill(), () => nats.start()],
    ['loses its store', () => nats.wipe(), () => nats.start()],
    ['hangs', async () => nats.pause(), async () => nats.resume()],
  ])('every event of paid attempts arrives when NATS %s', async (_title, end, begin) => {
    const load = await underLoad(async (now) => {
      await now.more(ENOUGH);
      await end();
      await now.more(ENOUGH);
      await begin();
      await now.more(ENOUGH);
    });
    await lapseAcknowledgements(world.stack, WAIT_MS);
    await expectAllDelivered(load);
    expectUnhurt(load);
  });

  test.each([
    ['deleted', deleteStream],
    ['purged', purgeStream],
  ])('every event of paid attempts arrives when the stream is %s repeatedly', async (_title, disturb) => {
    const load = await underLoad(async (now) => {
      for (let times = 0; times < 3; times += 1) {
        await now.more(ENOUGH / 2);
        await disturb();
      }
      await now.more(ENOUGH);
    });
    await lapseAcknowledgements(world.stack, WAIT_MS);
    await expectAllDelivered(load);
    expectUnhurt(load);
  });

  test('every event of paid attempts arrives when the stream is purged while the webhook service is down', async () => {
    const load = await underLoad(async (now) => {
      await now.more(ENOUGH);
      await world.stack.stop('webhook');
      await now.more(ENOUGH);
      expect((await purgeStream()).purged).toBeGreaterThan(0);
      // A load balancer must not remove the gateways because NATS is down.
      expect(await readiness()).toBe(200);
      await world.stack.restart('webhook');
      await now.more(ENOUGH);
    });
    await expectAllDelivered(load);
    expectUnhurt(load);
  });

  test('every event of paid attempts arrives when NATS, its store and the webhook service fail together', async () => {
    const load = await underLoad(async (now) => {
      await now.more(ENOUGH);
      await Promise.all([nats.wipe(), world.stack.stop('webhook')]);
      await now.more(ENOUGH);
      await nats.start();
      await now.more(ENOUGH);
      await world.stack.restart('webhook');
    });
    await lapseAcknowledgements(world.stack, WAIT_MS);
    await expectAllDelivered(load);
    expectUnhurt(load);
  });

  test.each(['challenge', 'tournament'] as const)(
    'no event is lost when the %s service dies',
    async (contestService) => {
      const points = [
        `${contestService}.outbox.before-publish`,
        `${contestService}.outcome.after-commit`,
        `${contestService}.outbox.after-publish`,
      ];
      const load = await underLoad(
        async (now) => {
          for (const point of points) {
            await now.more(ENOUGH / 4);
            const died = world.stack.onExit(contestService);
            world.stack.arm(point, 'kill');
            await died;
            await world.stack.ready();
          }
          await now.more(ENOUGH);
        },
        // The partner's request fails while the service is down, and is repeated.
        ['0', 'internal_error', 'idempotency_in_progress'],
      );
      await expectAllDelivered(load);
    },
  );
});

test('the audit finds no violation after the failures of NATS', () => world.expectAuditOk());
