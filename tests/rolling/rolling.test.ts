/**
 * A deploy and its rollback, step by step, under load: two replicas of each service start with the
 * previous release and end with this checkout, in the order of docs/operations/release.md. Partners
 * repeat a request with its key after a 500 or a refused or reset connection, and see no other
 * failure. Every response of either release is checked against the document that the previous one
 * serves.
 */
import { readFileSync } from 'node:fs';
import { CHECKOUT, SERVICES, type Service } from '@laurel/testing';
import { byService } from '@laurel/topology';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DeliveredEvents, receiveEvents } from '../faults/delivered-events.ts';
import { type EndedLoad, expectAcknowledged, type Load, type ProgramUnderLoad, underLoad } from '../faults/load.ts';
import { startWorld, type World } from '../world.ts';
import { checkOutPreviousRelease, whyNoPreviousRelease } from './previous-release.ts';

const REQUESTS_PER_SECOND = 50;
const REPLICAS = 2;
/** Two seconds of the load, before and after each change. */
const SOME = 2 * REQUESTS_PER_SECOND;
/**
 * The time-out of a partner, not a promise in seconds: each step prints its longest response, and a
 * busy machine stalls for seconds.
 */
const LONGEST_ANSWER_MS = 30_000;
/** The share of the rate that must remain: on a busy machine the load itself stalls. */
const SHARE_KEPT = 0.8;
const WAIT_MS = 240_000;
/** Long enough for a machine with many times as much to do as it has cores. */
const TEST_MS = 600_000;
/**
 * `0` is a refused or reset connection; its request may still be under way at the departing
 * replica.
 */
const RETRIED = ['0', 'internal_error', 'idempotency_in_progress'];
/**
 * The changelog says to stop these before their migrations and not to roll them back: their
 * previous code does not run on the new schemas.
 */
const STOPPED_TO_MIGRATE: readonly ('challenge' | 'tournament')[] = [];

let previous: string;
let world: World;
let delivered: DeliveredEvents;
let loaded: ProgramUnderLoad;

const whyNot = whyNoPreviousRelease();
if (whyNot !== undefined) console.log(`SKIPPED, no release was rolled out: ${whyNot}.`);

/**
 * Plays while `step` runs. Then the databases have every acknowledged request once, and every event
 * is delivered.
 */
async function serving(step: (load: Load) => Promise<void>): Promise<EndedLoad> {
  const load = await underLoad(
    loaded,
    { players: 8, requestsPerSecond: REQUESTS_PER_SECOND, retried: RETRIED, waitMs: WAIT_MS },
    async (now) => {
      await now.more(SOME);
      await step(now);
      await now.more(SOME);
      await now.pushed();
    },
  );
  await delivered.expectAll({ refs: load.refs }, WAIT_MS);
  await expectAcknowledged(world.stack, load);
  const longest = Math.max(...load.latencies);
  console.log(
    `${expect.getState().currentTestName}: ${load.latencies.length} responses, ${load.requestsPerSecond.toFixed(1)} requests/s, ` +
      `sent again after ${JSON.stringify(load.resent)}, the longest response ${Math.round(longest)} ms`,
  );
  expect(load.requestsPerSecond).toBeGreaterThan(SHARE_KEPT * REQUESTS_PER_SECOND);
  expect(longest).toBeLessThan(LONGEST_ANSWER_MS);
  return load;
}

/** Replaces the replicas one at a time; the next begins when the load continues. */
async function replaceAll(load: Load, service: Service, checkout: string): Promise<void> {
  for (let replica = 0; replica < REPLICAS; replica += 1) {
    // An exit with 0 means that the replica has drained. A replica that owes a response for too
    // long exits with 1.
    expect(await world.stack.stop(service, replica)).toBe(0);
    await world.stack.replace(service, replica, checkout);
    await load.more(SOME);
  }
  expectRunning({ [service]: checkout });
}

/**
 * All replicas of these services run the code of that checkout. Two releases may share a version
 * until it is raised, so the processes' own files decide.
 */
function expectRunning(checkouts: Partial<Record<Service, string>>): void {
  for (const service of SERVICES) {
    const checkout = checkouts[service];
    if (checkout === undefined) continue;
    const mains = world.stack
      .pids(service)
      .map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').at(-2));
    expect(mains).toEqual(Array.from({ length: REPLICAS }, () => `${checkout}services/${service}/src/main.ts`));
  }
}

/**
 * Expects that no connection was refused or reset: only the replacement of a gateway causes that.
 */
function expectConnected({ resent }: Load): void {
  expect(Object.keys(resent).filter((failure) => failure !== 'internal_error')).toEqual([]);
}

const isStopped = (service: Service) => STOPPED_TO_MIGRATE.some((stopped) => stopped === service);
const REPLACED = SERVICES.filter((service) => !isStopped(service));

/**
 * Stops a service for its migration, as the changelog says. Meanwhile the attempts of the other
 * contest service go on.
 */
async function stopToMigrate(load: Load, service: Service): Promise<void> {
  const ofOthers = () => load.attempts.filter(({ contestService }) => contestService !== service).length;
  for (let replica = 0; replica < REPLICAS; replica += 1) expect(await world.stack.stop(service, replica)).toBe(0);
  const before = ofOthers();
  await world.stack.migrate(service, CHECKOUT);
  await load.more(SOME);
  expect(load.resent.internal_error).toBeGreaterThan(0);
  expect(ofOthers()).toBeGreaterThan(before);
  for (let replica = 0; replica < REPLICAS; replica += 1) await world.stack.replace(service, replica, CHECKOUT);
  expectRunning({ [service]: CHECKOUT });
}

describe.skipIf(whyNot !== undefined)('a release', { timeout: TEST_MS }, () => {
  beforeAll(async () => {
    previous = checkOutPreviousRelease();
    world = await startWorld({ checkout: previous, replicas: byService(() => REPLICAS) });
    delivered = await receiveEvents(world);
    loaded = { world, program: delivered.developer.program };
  }, 600_000);
  afterAll(() => world?.[Symbol.asyncDispose]());

  test('the previous release serves', async () => {
    expectRunning(byService(() => previous));
    expectConnected(await serving(async () => {}));
  });

  test('the new gateway serves with the services of the previous release', async () => {
    await serving(async (load) => {
      await world.stack.migrate('gateway', CHECKOUT);
      await replaceAll(load, 'gateway', CHECKOUT);
      expectRunning(byService((service) => (service === 'gateway' ? CHECKOUT : previous)));
      await replaceAll(load, 'gateway', previous);
    });
  });

  test('the services serve during the migrations without a failed connection', async () => {
    const load = await serving(async (now) => {
      for (const service of REPLACED) {
        await world.stack.migrate(service, CHECKOUT);
        await now.more(SOME / 2);
      }
    });
    expectConnected(load);
  });

  for (const service of SERVICES) {
    if (service === 'gateway') continue;
    if (isStopped(service)) {
      test(`requests that need ${service} during its migration succeed later with their keys`, async () => {
        const { resent } = await serving((load) => stopToMigrate(load, service));
        expect(Object.keys(resent)).toEqual(['internal_error']);
      });
    } else {
      test(`replacing ${service} replica by replica fails no connection of a client`, async () => {
        expectConnected(await serving((load) => replaceAll(load, service, CHECKOUT)));
      });
    }
  }

  test('the gateway of the previous release serves with the new services', async () => {
    expectRunning(byService((service) => (service === 'gateway' ? previous : CHECKOUT)));
    expectConnected(await serving(async () => {}));
  });

  test('the gateway is replaced replica by replica', async () => {
    await serving((load) => replaceAll(load, 'gateway', CHECKOUT));
    await world.expectAuditOk();
  });

  test('the release is rolled back in the opposite order, on the new schemas', async () => {
    await serving(async (load) => {
      for (const service of REPLACED.toReversed()) await replaceAll(load, service, previous);
    });
    expectRunning(byService((service) => (isStopped(service) ? CHECKOUT : previous)));
  });

  test('the audit finds no violation after the release is rolled out again', async () => {
    await serving(async (load) => {
      for (const service of REPLACED) await replaceAll(load, service, CHECKOUT);
    });
    expectRunning(byService(() => CHECKOUT));
    await world.allWritten();
    await world.expectAuditOk();
  });
});
