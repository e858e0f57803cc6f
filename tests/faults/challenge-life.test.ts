/**
 * A service dies or fails at each step by which a challenge goes live, is suspended, completes its
 * ramp or is reinstated. Afterwards the step has happened completely or not at all: one bar from
 * exactly the samples that count, each settled attempt counted once by the drift monitor, one entry
 * in the history, one event. The partner or operator repeats the request and finds the step done
 * once.
 */
import { randomUUID } from 'node:crypto';
import type { Challenge } from '@laurel/sdk';
import { type ChallengeTerms, createIntegrations, type FailpointAction, push } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { playerDescriptor, type Target } from '../integrations/target.ts';
import { type Developer, eventually, expectStatus, type Hook, type Player, startWorld, type World } from '../world.ts';
import type { FailpointName } from './points.ts';

type Point = FailpointName<'gateway' | 'challenge' | 'integration'>;

const ACTIONS = ['kill', 'throw'] as const satisfies readonly FailpointAction[];

/** Pairs each point with each action. */
function faults<P extends Point>(...points: readonly P[]): { point: P; action: FailpointAction }[] {
  return points.flatMap((point) => ACTIONS.map((action) => ({ point, action })));
}

/** Four scores of two players place the bar at the best one. */
const CALIBRATING: ChallengeTerms = {
  status: 'calibrating',
  threshold: null,
  target_pass_rate: 0.25,
  min_calibration_n: 4,
  min_calibration_players: 2,
};
/** Fifty losses in a row reject this claim, at the first attempt that is judged. */
const EASY_CLAIM: ChallengeTerms = { target_pass_rate: 0.6 };
const JUDGED_FROM = 50;
/** A hundred losses in a row do not reject this claim; the ramp's cap in tier 2 is 50.00. */
const RAMPED: ChallengeTerms = { ...CALIBRATING, target_pass_rate: 0.02, integrity_tier: 2, prize: '80.00' };
const RAMP_ATTEMPTS = 100;
const SEEDING = { distribution: { p5: 1, p25: 2, p50: 3, p75: 4, p95: 5 }, sample_size: 500 };

let world: World;
let developer: Developer;
let hook: Hook;
let player: Player;

beforeAll(async () => {
  world = await startWorld({
    failpoints: true,
    restart: true,
    internalTls: false,
    environment: { gateway: { IDEMPOTENCY_TAKEOVER_SECONDS: '1' } },
  });
  developer = await world.newDeveloper();
  hook = await world.newReceiver(developer);
  player = await world.newPlayer({ partner: developer.program.test, funds: '10000.00' });
});
afterAll(() => world?.[Symbol.asyncDispose]());

function newChallenge(terms: ChallengeTerms): Promise<Challenge> {
  return world.newChallenge(terms, developer.program);
}

/** Repeats the request with its idempotency key until it succeeds: a service may be restarting. */
async function settle(challengeId: string, ref: string, score: number): Promise<void> {
  const { test: partner } = developer.program;
  const [creation, report] = [randomUUID(), randomUUID()];
  const id = await eventually(async () => {
    const created = await partner.createAttempt({ challenge_id: challengeId, player_ref: ref }, creation);
    return created.status === 201 ? created.body.id : undefined;
  }, 'the attempt is created');
  await eventually(async () => {
    const { status } = await partner.reportOutcome(id, { score }, report);
    return status === 200 ? true : undefined;
  }, 'the outcome is recorded');
}

/** Plays this many paid attempts of one player, without a score that clears the bar. */
async function lose(challengeId: string, count: number): Promise<void> {
  for (let left = count; left > 0; left -= 10) {
    await Promise.all(Array.from({ length: Math.min(left, 10) }, () => settle(challengeId, player.ref, 0)));
  }
}

/**
 * Repeats the request while the integration service restarts; an integration created without a
 * response is never used.
 */
async function newListener(challengeId: string): Promise<Target> {
  const settings = { transport: 'push_webhook', descriptor: playerDescriptor({ challenge_id: challengeId }) } as const;
  const integrations = createIntegrations(developer.program.test);
  return await eventually(async () => {
    const made = await integrations.create(settings);
    if (made.status !== 201) return undefined;
    const activated = await integrations.update(made.body.id, { status: 'active' });
    return activated.status === 200 ? { id: made.body.id, secret: made.body.signing_secret ?? '' } : undefined;
  }, 'an integration listens');
}

function stored<Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> {
  return world.stack.database('challenge').query<Row>(text, values);
}

/** The causes in the challenge's history, oldest first. */
async function causesOf(challengeId: string): Promise<readonly string[]> {
  const rows = await stored<{ cause: string }>(
    'select cause from status_changes where challenge_id = $1 order by changed_at, id',
    challengeId,
  );
  return rows.map(({ cause }) => cause);
}

/** The number of attempts that the monitor has counted, once none waits to be counted. */
async function countedOf(challengeId: string): Promise<number> {
  return await eventually(async () => {
    const [row] = await stored<{ attempts: number }>(
      `select m.attempts::int from drift_monitors m where m.challenge_id = $1
         and not exists (select from unmonitored_outcomes u where m.challenge_id = any(u.challenge_ids))`,
      challengeId,
    );
    return row?.attempts;
  }, 'every outcome is counted');
}

async function read(challengeId: string): Promise<Challenge> {
  return await eventually(async () => {
    const { status, body } = await world.operator.getChallenge(challengeId);
    return status === 200 ? body : undefined;
  }, 'the challenge is read');
}

async function untilStatus(challengeId: string, wanted: string): Promise<Challenge> {
  return await eventually(async () => {
    const challenge = await read(challengeId);
    return challenge.status === wanted ? challenge : undefined;
  }, `the challenge is ${wanted}`);
}

async function fired(point: Point): Promise<void> {
  await eventually(async () => world.stack.isFired(point) || undefined, `${point} was hit`);
  await world.stack.ready();
}

describe('going live on observed scores', () => {
  test.each(faults('challenge.outcome.before-commit', 'challenge.outcome.after-commit', 'gateway.outcome.after-call'))(
    'an observed score that completes a calibration counts once after a fault: $point, $action',
    async ({ point, action }) => {
      await world.stack.ready();
      const { id } = await newChallenge(CALIBRATING);
      const [one, other] = [randomUUID(), randomUUID()];
      await settle(id, one, 10);
      await settle(id, one, 20);
      await settle(id, other, 30);
      world.stack.arm(point, action);
      await settle(id, other, 40);
      expect(world.stack.isFired(point)).toBe(true);
      await world.stack.ready();
      expect(await read(id)).toMatchObject({ status: 'live', threshold: 40, calibration_source: 'observed' });
      expect(await stored('select score from bar_samples where challenge_id = $1 order by score', id)).toEqual(
        [10, 20, 30, 40].map((score) => ({ score })),
      );
      expect(await causesOf(id)).toEqual(['calibrated']);
    },
  );
});

describe('going live on listened scores', () => {
  test.each(
    faults(
      'integration.forward.before-call',
      'integration.forward.after-call',
      'challenge.calibrate.before-commit',
      'challenge.calibrate.after-commit',
    ),
  )(
    'a listened sample that completes a calibration counts once after a fault: $point, $action',
    async ({ point, action }) => {
      await world.stack.ready();
      const { id } = await newChallenge(CALIBRATING);
      const target = await newListener(id);
      const listen = async (ref: string, score: number) => {
        const body = JSON.stringify({ id: randomUUID(), player: ref, score });
        await eventually(async () => {
          const { status } = await push(world.http, target, body);
          return status === 200 ? true : undefined;
        }, 'the push is answered');
      };
      await listen('one', 10);
      await listen('one', 20);
      await listen('other', 30);
      await eventually(async () => {
        const { calibration } = await read(id);
        return calibration?.collected === 3 ? true : undefined;
      }, 'three samples are recorded');
      world.stack.arm(point, action);
      await listen('other', 40);
      await fired(point);
      expect(await untilStatus(id, 'live')).toMatchObject({ threshold: 40, calibration_source: 'listened' });
      expect(await stored('select score from bar_samples where challenge_id = $1 order by score', id)).toEqual(
        [10, 20, 30, 40].map((score) => ({ score })),
      );
      expect(await causesOf(id)).toEqual(['calibrated']);
    },
  );
});

describe('going live on a seeded distribution', () => {
  const cases = faults(
    'gateway.seed.before-call',
    'gateway.seed.after-call',
    'challenge.seed.before-commit',
    'challenge.seed.after-commit',
  ).flatMap((fault) => [true, false].map((retries) => ({ ...fault, retries })));

  test.each(cases)(
    'a seeding takes effect once after a fault: $point, $action, the partner retries: $retries',
    async ({ point, action, retries }) => {
      await world.stack.ready();
      const { id } = await newChallenge(RAMPED);
      const key = randomUUID();
      const seed = () => developer.program.test.seedChallenge(id, SEEDING, key);
      world.stack.arm(point, action);
      const first = await seed();
      expect(world.stack.isFired(point)).toBe(true);
      expect([0, 500]).toContain(first.status);
      await world.stack.ready();
      if (retries) {
        const answer = await eventually(async () => {
          const again = await seed();
          return again.status === 201 ? again : undefined;
        }, 'the seeding is answered');
        expect(expectStatus(201, await seed()).text).toBe(answer.text);
      }
      const challenge = await read(id);
      const isSeeded = retries || point === 'challenge.seed.after-commit' || point === 'gateway.seed.after-call';
      expect(challenge).toMatchObject(
        isSeeded
          ? { status: 'live', threshold: 5, calibration_source: 'partner_seeded', prize: '50.00' }
          : { status: 'calibrating', threshold: null },
      );
      expect(await causesOf(id)).toEqual(isSeeded ? ['seeded'] : []);
      expect(await stored('select sample_size::int from seeded_distributions where challenge_id = $1', id)).toEqual(
        isSeeded ? [{ sample_size: 500 }] : [],
      );
    },
  );
});

describe('a suspension by the drift monitor', () => {
  test.each(
    faults('challenge.monitor.before-commit', 'challenge.monitor.after-commit', 'challenge.outbox.before-publish'),
  )('$point, $action', async ({ point, action }) => {
    await world.stack.ready();
    const { id } = await newChallenge(EASY_CLAIM);
    await lose(id, JUDGED_FROM - 1);
    expect(await countedOf(id)).toBe(JUDGED_FROM - 1);
    await world.allAcknowledged();
    world.stack.arm(point, action);
    await lose(id, 1);
    await fired(point);
    await untilStatus(id, 'suspended');
    expect(await causesOf(id)).toEqual(['drift']);
    expect(await stored('select attempts::int, passes::int from status_changes where challenge_id = $1', id)).toEqual([
      { attempts: JUDGED_FROM, passes: 0 },
    ]);
    expect(await countedOf(id)).toBe(JUDGED_FROM);
    await hook.event('challenge.suspended', id);
    await world.allDelivered();
    const events = hook
      .requests()
      .filter(({ json }) => json.event === 'challenge.suspended' && json.data.challenge_id === id);
    expect(new Set(events.map(({ deliveryId }) => deliveryId)).size).toBe(1);
  });
});

describe('the completion of a ramp', () => {
  test.each(faults('challenge.monitor.before-commit', 'challenge.monitor.after-commit'))(
    '$point, $action',
    async ({ point, action }) => {
      await world.stack.ready();
      const { id } = await newChallenge(RAMPED);
      expectStatus(201, await developer.program.test.seedChallenge(id, SEEDING));
      await lose(id, RAMP_ATTEMPTS - 1);
      expect(await countedOf(id)).toBe(RAMP_ATTEMPTS - 1);
      expect(await read(id)).toMatchObject({ prize: '50.00', ramp: { attemptsSeen: RAMP_ATTEMPTS - 1 } });
      world.stack.arm(point, action);
      await lose(id, 1);
      await fired(point);
      const lifted = await eventually(async () => {
        const challenge = await read(id);
        return challenge.prize === '80.00' ? challenge : undefined;
      }, 'the ramp is completed');
      expect(lifted).not.toHaveProperty('ramp');
      expect(await countedOf(id)).toBe(RAMP_ATTEMPTS);
      expect(await causesOf(id)).toEqual(['seeded', 'ramp']);
      const { body } = expectStatus(
        201,
        await developer.program.test.createAttempt({ challenge_id: id, player_ref: player.ref }),
      );
      expect(await stored('select prize_cents::int from attempts where id = $1', body.id)).toEqual([
        { prize_cents: 8_000 },
      ]);
    },
  );
});

describe('a reinstatement', () => {
  test.each(faults('challenge.status.before-commit', 'challenge.status.after-commit'))(
    '$point, $action',
    async ({ point, action }) => {
      await world.stack.ready();
      const { id } = await newChallenge(EASY_CLAIM);
      await lose(id, JUDGED_FROM);
      await untilStatus(id, 'suspended');
      const reinstate = () =>
        world.operator.updateChallenge(id, { status: 'live', note: 'The season has begun anew.' });
      world.stack.arm(point, action);
      const first = await reinstate();
      expect(world.stack.isFired(point)).toBe(true);
      expect([0, 500]).toContain(first.status);
      await world.stack.ready();
      await eventually(async () => ((await reinstate()).status === 200 ? true : undefined), 'it is reinstated');
      expect(await read(id)).toMatchObject({ status: 'live', threshold: 100 });
      expect(await causesOf(id)).toEqual(['drift', 'operator']);
      expect(await countedOf(id)).toBe(0);
      await lose(id, 1);
      expect(await countedOf(id)).toBe(1);
    },
  );
});

test('the audit finds no violation after the faults in the life of challenges', async () => {
  await world.stack.ready();
  await world.expectAuditOk();
});
