/**
 * Two replicas of a process that runs all services are replaced and killed, and lose PostgreSQL and
 * NATS, under load. Afterwards the responses that partners got, the databases and the events agree.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@laurel/local-infrastructure/embedded-postgres';
import { freePorts, startNats, type TestNats } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DeliveredEvents, receiveEvents } from '../faults/delivered-events.ts';
import { expectAcknowledged, type Load, underLoad } from '../faults/load.ts';
import { lapseAcknowledgements, lapseLeases } from '../faults/waits.ts';
import { startWorld, type World } from '../world.ts';

const PLAYERS = 6;
/** Responses between two faults. */
const SOME = 40;
const TEST_MS = 180_000;
const WAIT_MS = 120_000;

describe('two replicas of the process of all services', { timeout: TEST_MS }, () => {
  let directory: string;
  let port: number;
  let postgres: EmbeddedPostgres;
  let nats: TestNats;
  let world: World;
  let delivered: DeliveredEvents;

  /** fsync is on (the default): an acknowledged commit must be on disk. */
  const startPostgres = () =>
    startEmbeddedPostgres({ dataDirectory: directory, port, logFile: join(directory, 'postgres.log') });

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'laurel-one-process-'));
    port = (await freePorts(1))[0] ?? 0;
    [postgres, nats] = await Promise.all([startPostgres(), startNats()]);
    const owner = { OUTBOX_REPUBLISH_AFTER_MS: '200', PENDING_GRACE_SECONDS: '3' };
    world = await startWorld({
      shape: 'one-process',
      replicas: { gateway: 2 },
      postgresUrl: postgres.superuserUrl,
      nats,
      restart: true,
      environment: {
        challenge: owner,
        tournament: owner,
        webhook: { WEBHOOK_SWEEP_MS: '100' },
        gateway: { IDEMPOTENCY_TAKEOVER_SECONDS: '1' },
      },
    });
    delivered = await receiveEvents(world);
  }, TEST_MS);
  afterAll(async () => {
    await world?.[Symbol.asyncDispose]();
    await nats?.[Symbol.asyncDispose]();
    await postgres?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  /** Plays until `disturb` has ended. A partner repeats a broken-off request with the same key. */
  async function expectNothingLost(disturb: (load: Load) => Promise<void>): Promise<void> {
    const loaded = { world, program: delivered.developer.program };
    const retried = ['0', 'internal_error', 'idempotency_in_progress'];
    let endedAt = new Date();
    const load = await underLoad(loaded, { players: PLAYERS, retried, waitMs: WAIT_MS }, async (now) => {
      await now.more(SOME);
      await disturb(now);
      endedAt = new Date();
      await now.more(SOME);
    });
    await lapseLeases(world.stack, { begunBefore: endedAt });
    await lapseAcknowledgements(world.stack, WAIT_MS);
    await delivered.expectAll({ refs: load.refs }, WAIT_MS);
    await expectAcknowledged(world.stack, load);
    await world.expectAuditOk();
  }

  test('a rolling restart of both replicas loses no acknowledged request or event', () =>
    expectNothingLost(async (load) => {
      for (const replica of [0, 1]) {
        expect(await world.stack.stop('gateway', replica)).toBe(0);
        await load.more(SOME / 2);
        await world.stack.restart('gateway', replica);
      }
    }));

  test('a killed replica loses no acknowledged request or event', () =>
    expectNothingLost(async (load) => {
      for (const replica of [0, 1]) {
        await world.stack.kill('gateway', replica);
        await load.more(SOME / 2);
        await world.stack.ready();
      }
    }));

  test('an immediate stop of PostgreSQL loses no acknowledged request or event', () =>
    expectNothingLost(async () => {
      process.kill(postgres.pid, 'SIGQUIT');
      await postgres.exited;
      postgres = await startPostgres();
    }));

  test('every event arrives after NATS was down or lost its store', () =>
    expectNothingLost(async (load) => {
      await nats.kill();
      await load.more(SOME);
      await nats.start();
      await load.more(SOME);
      await nats.wipe();
      await load.more(SOME);
      await nats.start();
    }));
});
