/**
 * The containers of docker-compose.yml fail under load, one after the other: killed, hung, cut off,
 * out of memory, restarted, with a full disk. A partner that repeats failed requests with their
 * idempotency keys loses nothing: the databases have every acknowledged change once and unaltered,
 * and all events of the partner arrive.
 */
import { SERVICES } from '@laurel/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type DeliveredEvents, receiveEvents } from '../faults/delivered-events.ts';
import { expectAcknowledged, type Load, type ProgramUnderLoad, underLoad } from '../faults/load.ts';
import { eventually, joinWorld, type SharedWorld } from '../world.ts';
import { type Containers, openContainers } from './containers.ts';
import { DISK_IS_FULL, FAULTS, type Fault, waitUntilWell } from './faults.ts';

const PLAYERS = 4;
/** How many responses to await before a fault, and again after it. */
const ENOUGH = 40;
/** A fault lasts for this many responses, or, if none come, for this many milliseconds. */
const DURING = { answers: 20, longestMs: 6_000 };
const TEST_MS = 300_000;
const WAIT_MS = 200_000;
/** A container without a fault that is not healthy by then is broken. */
const WELL_MS = 60_000;
/**
 * After this many failures the stack itself is broken, and every further test would wait in vain
 * for minutes.
 */
const MAX_FAILURES = 3;
/**
 * The errors of a deployment in trouble, after which a partner repeats a request with its key; `0`
 * is a broken connection.
 */
const RETRIED = ['0', 'internal_error', 'idempotency_in_progress'];

const CONTAINERS = [...SERVICES, 'nats', 'postgres'];

let world: SharedWorld;
let containers: Containers;
let delivered: DeliveredEvents;
let loaded: ProgramUnderLoad;
const failed: string[] = [];

beforeAll(async () => {
  world = await joinWorld();
  containers = openContainers();
  delivered = await receiveEvents(world);
  loaded = { world, program: delivered.developer.program };
});
afterAll(() => world?.[Symbol.asyncDispose]());

beforeEach(async () => {
  if (failed.length >= MAX_FAILURES)
    throw new Error(`not tried, because ${MAX_FAILURES} tests failed: ${failed.join('; ')}`);
  await Promise.all(CONTAINERS.map((name) => waitUntilWell(containers, name, WELL_MS)));
});
afterEach(({ task }) => {
  if (task.result?.state === 'fail' && failed.length < MAX_FAILURES) failed.push(task.name);
});

async function faultUnderLoad({ begin, felt, heal }: Fault, name: string): Promise<Load> {
  return await underLoad(loaded, { players: PLAYERS, retried: RETRIED, waitMs: WAIT_MS }, async (load) => {
    await load.more(ENOUGH);
    try {
      await begin(containers, name);
      await duringFault(load);
      await felt?.(containers, name);
    } finally {
      await heal(containers, name);
    }
    await waitUntilWell(containers, name);
    await load.more(ENOUGH);
    await load.pushed();
  });
}

/** Waits for some responses, or for a fixed time: if the gateway hangs, no response comes. */
async function duringFault(load: Load): Promise<void> {
  const from = load.latencies.length;
  const until = Date.now() + DURING.longestMs;
  await eventually(
    async () => load.latencies.length >= from + DURING.answers || Date.now() > until || undefined,
    'the fault has lasted long enough',
  );
}

async function expectNothingLost(load: Load): Promise<void> {
  expect(load.attempts.length).toBeGreaterThan(0);
  await delivered.expectAll({ refs: load.refs }, WAIT_MS);
  await expectAcknowledged(world.stack, load);
  await world.expectAuditOk();
}

describe.each(CONTAINERS)('%s', { timeout: TEST_MS }, (name) => {
  test.each(FAULTS.map((fault) => [fault.title, fault] as const))(
    `nothing acknowledged is lost when ${name} %s`,
    async (_title, fault) => {
      await expectNothingLost(await faultUnderLoad(fault, name));
    },
  );
});

test.each(['nats', 'postgres'])(
  'no acknowledged request or event is lost when %s has a full disk',
  { timeout: TEST_MS },
  async (name) => {
    await expectNothingLost(await faultUnderLoad(DISK_IS_FULL, name));
  },
);
