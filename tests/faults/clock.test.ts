/**
 * Machines with wrong clocks: nothing that affects money depends on them. Each test sets the clock
 * of a service's machine while it runs, and waits until the database's clock triggers something
 * later, so that a wrong result would have had time to happen.
 */

import { randomUUID } from 'node:crypto';
import type { Attempt } from '@laurel/sdk';
import type { Answer, Service } from '@laurel/testing';
import { SERVICE_NAMES } from '@laurel/topology';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  type Developer,
  eventually,
  expectError,
  expectStatus,
  inMinutes,
  type Player,
  startWorld,
  type World,
} from '../world.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const ALL = SERVICE_NAMES;

let world: World;

beforeAll(async () => {
  world = await startWorld({
    // These clocks are wrong from the start. A test that sets a clock starts and ends with a right
    // one.
    clockOffsetMs: {
      wallet: 25 * HOUR_MS,
      challenge: -10 * MINUTE_MS,
      tournament: 125 * MINUTE_MS,
      webhook: -HOUR_MS,
      integration: 15 * MINUTE_MS,
      gateway: HOUR_MS,
    },
    environment: {
      wallet: { PAYOUT_VELOCITY_COUNT: '1' },
      webhook: { WEBHOOK_RETRY_DELAYS_SECONDS: '600,600' },
    },
  });
});
afterAll(() => world?.[Symbol.asyncDispose]());

/**
 * Sets the clocks of the services' machines; resolves once the services have measured them again.
 */
async function setClocks(services: readonly Service[], offsetMs: number): Promise<void> {
  for (const service of services) world.stack.setClock(service, offsetMs);
  for (const service of services) {
    // The test does not ask for readiness, whose result is cached for a second.
    await eventually(
      async () => Math.abs((await shownDifference(service)) - offsetMs / 1_000) < 1 || undefined,
      `${service} has measured again`,
    );
    expect(await isReady(service)).toBe(true);
  }
}

async function isReady(service: Service): Promise<boolean> {
  return (await fetch(`${world.stack.adminUrls(service)[0]}/readyz`)).ok;
}

/** The clock difference that the service reports, in seconds. */
async function shownDifference(service: Service): Promise<number> {
  const page = await (await fetch(`${world.stack.adminUrls(service)[0]}/metrics`)).text();
  return Number(/^laurel_clock_difference_seconds\{[^}]*\} (\S+)$/m.exec(page)?.[1]);
}

function countLogged(service: Service, part: string): number {
  return world.stack.logs(service).filter((line) => line.includes(part)).length;
}

function attempt(challengeId: string, { ref }: Pick<Player, 'ref'>): Promise<Answer<Attempt>> {
  return world.partner.createAttempt({ challenge_id: challengeId, player_ref: ref });
}

async function openAttempt(): Promise<string> {
  const challenge = await world.newChallenge();
  return expectStatus(201, await attempt(challenge.id, await world.newPlayer())).body.id;
}

/**
 * Creates an attempt whose hour, by the database's clock, ends in half a second. Resolves when the
 * service has expired the attempt.
 */
async function seeAnAttemptExpire(): Promise<void> {
  const attemptId = await openAttempt();
  await world.stack
    .database('challenge')
    .query(`update attempts set created_at = clock_timestamp() - interval '1 hour' + interval '500 ms' where id = $1`, [
      attemptId,
    ]);
  await eventually(
    async () => ((await statusOf('challenge', 'attempts', attemptId)) === 'expired' ? true : undefined),
    'the sweeper ends an attempt whose hour is over',
  );
}

/**
 * Opens a round that, by the database's clock, ends in half a second. Resolves when the service has
 * closed the round.
 */
async function seeARoundClose(): Promise<void> {
  const { id } = await world.newRound();
  await world.stack.database('tournament').query(
    `update rounds set entries_close_at = clock_timestamp(), closes_at = clock_timestamp() + interval '500 ms'
     where id = $1`,
    [id],
  );
  await eventually(
    async () => ((await statusOf('tournament', 'rounds', id)) === 'cancelled' ? true : undefined),
    'the worker closes a round that is over',
  );
}

async function statusOf(service: Service, table: 'attempts' | 'rounds', id: string): Promise<string | undefined> {
  const [row] = await world.stack
    .database(service)
    .query<{ status: string }>(`select status from ${table} where id = $1`, [id]);
  return row?.status;
}

describe('services that start with wrong clocks', () => {
  test('services that start with wrong clocks log the difference once', async () => {
    const ahead = {
      wallet: 90_000,
      challenge: -600,
      tournament: 7_500,
      webhook: -3_600,
      integration: 900,
      gateway: 3_600,
    };
    for (const service of ALL) {
      expect(await isReady(service)).toBe(true);
      expect(Math.abs((await shownDifference(service)) - ahead[service])).toBeLessThan(1);
      expect(countLogged(service, "differs from the database's")).toBe(1);
    }
  });

  test('services that start with wrong clocks write timestamps of the database', async () => {
    const player = await world.newPlayer();
    const challenge = await world.newChallenge();
    const before = Date.now();
    const created = expectStatus(201, await attempt(challenge.id, player)).body;
    const { award } = expectStatus(200, await world.partner.reportOutcome(created.id, { score: 100 })).body;
    const after = Date.now();
    expect(award).toMatchObject({ payout_status: 'paid' });
    for (const instant of [created.created_at, award?.paid_at]) {
      expect(Date.parse(instant ?? '')).toBeGreaterThanOrEqual(before - 500);
      expect(Date.parse(instant ?? '')).toBeLessThanOrEqual(after + 500);
    }
    expect(await world.balance(player)).toBe('104.00');
  });

  test('services that start with wrong clocks accept entries and scores of a round', async () => {
    const round = await world.newRound();
    const player = await world.newPlayer();
    expect(await world.playRound(round.id, player, 10)).toMatchObject({ score: 10 });
    expect(await world.balance(player)).toBe('99.00');
  });

  test('services whose clocks become right again log that once', async () => {
    await setClocks(ALL, 0);
    for (const service of ALL) {
      await eventually(
        async () => (countLogged(service, "is the database's again") === 1 ? true : undefined),
        `${service} logs that its clock is right`,
      );
      expect(Math.abs(await shownDifference(service))).toBeLessThan(1);
    }
  });
});

describe('a clock that is set ahead', () => {
  afterEach(() => setClocks(ALL, 0));

  test('a tournament service whose clock is 2 h 5 min ahead closes no round that is due in two hours', async () => {
    const tournament = await world.newTournament();
    const opened = await world.operator.openRound(tournament.id, { closes_at: inMinutes(120) });
    const round = expectStatus(201, opened).body;
    const [winner, runner] = [await world.newPlayer(), await world.newPlayer()];
    await world.playRound(round.id, winner, 10);
    const entered = await world.partner.createAttempt({ tournament_round_id: round.id, player_ref: runner.ref });
    const attemptId = expectStatus(201, entered).body.id;

    await setClocks(['tournament'], 125 * MINUTE_MS);
    await seeARoundClose();

    expect(await statusOf('tournament', 'rounds', round.id)).toBe('open');
    expect(expectStatus(200, await world.partner.getAttempt(attemptId)).body.status).toBe('open');
    expect(await world.balance(winner)).toBe('99.00');
    expectStatus(200, await world.partner.reportOutcome(attemptId, { score: 11 }));
    await world.playRound(round.id, await world.newPlayer(), 12);
  });

  test('a challenge service whose clock is 62 min ahead does not expire a fresh attempt', async () => {
    const attemptId = await openAttempt();
    await setClocks(['challenge'], 62 * MINUTE_MS);
    await seeAnAttemptExpire();

    expect(expectStatus(200, await world.partner.getAttempt(attemptId)).body.status).toBe('open');
    expectStatus(200, await world.partner.reportOutcome(attemptId, { score: 100 }));
  });

  test('a challenge service whose clock is 25 h ahead refuses a second attempt under a daily cap of one', async () => {
    const challenge = await world.newChallenge({ daily_attempt_cap: 1 });
    const player = await world.newPlayer();
    expectStatus(201, await attempt(challenge.id, player));
    await setClocks(['challenge'], 25 * HOUR_MS);
    expectError(409, 'attempt_cap_reached', await attempt(challenge.id, player));
  });

  test('a wallet whose clock is 25 h ahead ends no self-exclusion', async () => {
    const excluded = await world.newPlayer();
    const until = { self_excluded_until: inMinutes(60) };
    expectStatus(200, await world.operator.updateAccount(excluded.accountId, until));
    const winner = await world.newPlayer();
    const win = async () => {
      const { id } = expectStatus(201, await attempt((await world.newChallenge()).id, winner)).body;
      return expectStatus(200, await world.partner.reportOutcome(id, { score: 100 })).body.award?.payout_status;
    };
    expect(await win()).toBe('paid');

    await setClocks(['wallet'], 25 * HOUR_MS);
    expectError(403, 'blocked', await attempt((await world.newChallenge()).id, excluded));
    expect(await win()).toBe('held');
    expect(await world.balance(excluded)).toBe('100.00');
  });

  test('a gateway whose clock is 25 h ahead deletes no idempotency key and no session', async () => {
    const challenge = await world.newChallenge();
    const player = await world.newPlayer();
    const developer = await world.newDeveloper();
    const key = randomUUID();
    const body = { challenge_id: challenge.id, player_ref: player.ref };
    const first = expectStatus(201, await world.partner.createAttempt(body, key));
    await world.allWritten();

    await setClocks(['gateway'], 25 * HOUR_MS);
    const again = expectStatus(201, await world.partner.createAttempt(body, key));
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(again.text).toBe(first.text);
    expect(await world.balance(player)).toBe('99.00');
    expectStatus(200, await developer.portal.listEndpoints());
  });

  test('a webhook service whose clock is 2 h ahead retries no delivery early', async () => {
    const developer: Developer = await world.newDeveloper();
    const hook = await world.newReceiver(developer, { answer: { status: 500 }, events: ['attempt.settled'] });
    const send = async () => {
      const challenge = await world.newChallenge({}, developer.program);
      const player = await world.newPlayer({ partner: developer.program.test });
      const entry = { challenge_id: challenge.id, player_ref: player.ref };
      const { id } = expectStatus(201, await developer.program.test.createAttempt(entry)).body;
      expectStatus(200, await developer.program.test.reportOutcome(id, { score: 1 }));
      const { deliveryId } = await hook.event('attempt.settled', id);
      // The send has ended: the statement that records its end schedules the next one.
      await hook.delivery(deliveryId, ({ attempts: [first] }) => first !== undefined && first.duration_ms !== null);
      return deliveryId;
    };
    const [waiting, due] = [await send(), await send()];

    await setClocks(['webhook'], 2 * HOUR_MS);
    await world.stack
      .database('webhook')
      .query(`update deliveries set next_attempt_at = clock_timestamp() + interval '500 ms' where id = $1`, [due]);
    await eventually(async () => hook.sendsOf(due)[1], 'what is due by the database is sent');
    expect(hook.sendsOf(waiting)).toHaveLength(1);
  });
});

describe('clocks that are set ten minutes back', () => {
  afterEach(() => setClocks(ALL, 0));

  test('services whose clocks are ten minutes back end attempts and rounds by the database’s time', async () => {
    await setClocks(ALL, -10 * MINUTE_MS);
    const attemptId = await openAttempt();
    const round = await world.newRound();
    await world.playRound(round.id, await world.newPlayer(), 10);
    await seeAnAttemptExpire();
    await seeARoundClose();
    expect(expectStatus(200, await world.partner.getAttempt(attemptId)).body.status).toBe('open');
  });
});

test('the audit finds no violation after all wrong clocks', async () => {
  await world.expectAuditOk();
});
