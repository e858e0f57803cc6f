/**
 * The webhook service dies, fails or is delayed at each of its steps: no event is lost, and none is
 * sent more than three times.
 */
import { randomUUID } from 'node:crypto';
import type { AnswerRequest, DeliveryBody, FailpointAction, ReceiverAnswer } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, expectStatus, startWorld, type World } from '../world.ts';
import { type DeliveredEvents, receiveEvents } from './delivered-events.ts';
import { FAILPOINTS, type FailpointName } from './points.ts';
import { lapseAcknowledgements, lapseLeases, makeRetriesDue } from './waits.ts';

/**
 * How a receiver behaves: it responds; it closes the first send of each delivery without a
 * response; it refuses every send.
 */
const MANNERS = ['answers', 'recovers', 'refuses'] as const;
type Manner = (typeof MANNERS)[number];

const ACTIONS = ['kill', 'throw', 'delay:400', 'lose-reply'] as const satisfies readonly FailpointAction[];
type Action = (typeof ACTIONS)[number];
type Point = FailpointName<'webhook'>;

/**
 * The failpoints between the lease of a send and its record. If the process fails there, the result
 * of the send is unknown, so the log calls it interrupted.
 */
const INTERRUPTING: readonly Point[] = [
  'webhook.lease.after-commit',
  'webhook.send.before-request',
  'webhook.send.after-request',
  'webhook.record.before-commit',
];
/** At these points the send is counted, but its request is not yet written. */
const UNSENT: readonly Point[] = ['webhook.lease.after-commit', 'webhook.send.before-request'];

interface Scope {
  readonly delivered: DeliveredEvents;
  readonly challengeId: string;
}

/**
 * By default each point is played with each manner and one action. From case to case the action
 * moves on, so that each action meets each manner and each kind of step. `LAUREL_FAULTS=all` plays
 * every action.
 */
const CASES = FAILPOINTS.webhook.flatMap((point, row) =>
  MANNERS.flatMap((manner, column) =>
    ACTIONS.filter(
      (_, index) => process.env.LAUREL_FAULTS === 'all' || index === (row + Math.floor(row / 4) + column) % 4,
    ).map((action) => ({ point, action, manner })),
  ),
);

let world: World;
const scopes = new Map<Manner, Scope>();

beforeAll(async () => {
  world = await startWorld({
    failpoints: true,
    restart: true,
    standby: ['webhook'],
    environment: {
      challenge: { OUTBOX_REPUBLISH_AFTER_MS: '200' },
      tournament: { OUTBOX_REPUBLISH_AFTER_MS: '200' },
      // No retry is due before the test makes it due: so a process that dies right after it
      // recorded a send has not begun the next send.
      webhook: { WEBHOOK_RETRY_DELAYS_SECONDS: '3600,3600', WEBHOOK_SWEEP_MS: '100' },
    },
  });
  for (const manner of MANNERS) {
    const delivered = await receiveEvents(world, { answer: answersAs(manner) });
    // Every attempt loses, as the challenge claims, so no drift monitor suspends it.
    const challenge = await world.newChallenge({ target_pass_rate: 0.002 }, delivered.developer.program);
    scopes.set(manner, { delivered, challengeId: challenge.id });
  }
});
afterAll(() => world?.[Symbol.asyncDispose]());

function answersAs(manner: Manner): ReceiverAnswer | AnswerRequest {
  if (manner === 'answers') return { status: 200 };
  if (manner === 'refuses') return { status: 503 };
  const known = new Set<unknown>();
  return ({ headers }) => {
    const id = headers['x-webhook-delivery-id'];
    if (known.has(id)) return { status: 204 };
    known.add(id);
    return 'reset';
  };
}

function scopeOf(manner: Manner): Scope {
  return scopes.get(manner) ?? expect.fail(`no receiver ${manner}`);
}

/** A paid attempt without its outcome, and the outcome that causes an event. */
async function newAttempt({ delivered, challengeId }: Scope) {
  const partner = delivered.developer.program.test;
  const ref = `hooked-${randomUUID()}`;
  expectStatus(201, await partner.createPlayer(ref, '20.00'));
  const { id } = expectStatus(201, await partner.createAttempt({ challenge_id: challengeId, player_ref: ref })).body;
  const lose = async () => void expectStatus(200, await partner.reportOutcome(id, { score: 1 }));
  return { ref, id, lose };
}

/** Resolves once the armed point has fired, and the killed process runs again. */
async function untilFired(point: Point, action: Action, died: Promise<void>): Promise<void> {
  await eventually(async () => world.stack.isFired(point) || undefined, `${point} was hit`);
  if (action === 'kill') await died;
  await world.stack.ready();
}

/**
 * The newest deliveries in the log; for a moment the portal may respond that the killed service is
 * unavailable.
 */
async function readLog({ delivered }: Scope): Promise<readonly DeliveryBody[]> {
  return eventually(async () => {
    const { status, body } = await delivered.developer.portal.listDeliveries(delivered.hook.endpoint.id, {
      limit: 100,
    });
    return status === 200 ? body.data : undefined;
  }, 'the portal shows the log');
}

/** The one delivery of the attempt in the log, and how often it arrived. */
async function deliveryOf(scope: Scope, attemptId: string): Promise<{ delivery: DeliveryBody; arrived: number }> {
  const { hook } = scope.delivered;
  const { deliveryId } = await hook.event('attempt.settled', attemptId);
  const delivery = (await readLog(scope)).find(({ id }) => id === deliveryId) ?? expect.fail('no delivery in the log');
  const rows = await world.stack
    .database('webhook')
    .query('select attempts from deliveries where id = $1', [deliveryId]);
  expect(rows).toEqual([{ attempts: delivery.attempts.length }]);
  expect(delivery.attempts.map(({ number }) => number)).toEqual(delivery.attempts.map((_, index) => index + 1));
  expect(delivery.attempts.length).toBeLessThanOrEqual(3);
  return { delivery, arrived: hook.sendsOf(deliveryId).length };
}

const kindsOf = ({ attempts }: DeliveryBody) => attempts.map(({ error_kind }) => error_kind);

describe('a fault at each step of the webhook service', () => {
  test.each(CASES)(
    'a delivery is sent at most three times after a fault: $point, $action, a receiver that $manner',
    async ({ point, action, manner }) => {
      const { stack } = world;
      const scope = scopeOf(manner);
      await stack.ready();
      const attempt = await newAttempt(scope);

      const died = stack.onExit('webhook');
      stack.arm(point, action);
      await attempt.lose();
      await untilFired(point, action, died);
      await using _ = makeRetriesDue(stack);
      const isInterrupted = INTERRUPTING.includes(point) && !action.startsWith('delay');
      if (isInterrupted) await lapseLeases(stack, { number: 1 });
      if (action === 'kill') await lapseAcknowledgements(stack);

      await scope.delivered.expectAll({ refs: [attempt.ref] });
      const { delivery, arrived } = await deliveryOf(scope, attempt.id);
      const isUnsent = isInterrupted && UNSENT.includes(point);
      expect(arrived).toBe(delivery.attempts.length - (isUnsent ? 1 : 0));
      const failure = manner === 'refuses' ? 'http_5xx' : 'protocol';
      const ends = {
        answers: [null],
        recovers: [failure, null],
        refuses: [failure, failure, failure],
      }[manner];
      // The first send that arrived was interrupted after its response; the next one gets the
      // second response.
      const expected = isInterrupted ? ['interrupted', ...ends.slice(isUnsent || manner === 'answers' ? 0 : 1)] : ends;
      expect(kindsOf(delivery)).toEqual(expected.slice(0, 3));
      expect(delivery.status).toBe(manner === 'refuses' ? 'failed' : 'delivered');
    },
  );
});

describe('kill -9 of the webhook service between a send and its record', () => {
  test.each(['webhook.send.after-request', 'webhook.record.before-commit'] as const)(
    'a delivery fails without a fourth send after kill -9 of the webhook service three times at %s',
    async (point) => {
      const { stack } = world;
      const scope = scopeOf('answers');
      const attempt = await newAttempt(scope);
      for (const number of [1, 2, 3]) {
        const died = stack.onExit('webhook');
        stack.arm(point, 'kill');
        await (number === 1 ? attempt.lose() : lapseLeases(stack, { number: number - 1 }));
        await untilFired(point, 'kill', died);
      }
      stack.arm(point, 'kill');
      await lapseLeases(stack, { number: 3 });
      await lapseAcknowledgements(stack);
      await scope.delivered.expectAll({ refs: [attempt.ref] });
      expect(stack.disarm(point), 'a fourth send was begun').toBe(false);
      const { delivery, arrived } = await deliveryOf(scope, attempt.id);
      expect([delivery.status, delivery.next_attempt_at, arrived]).toEqual(['failed', null, 3]);
      expect(kindsOf(delivery)).toEqual(['interrupted', 'interrupted', 'interrupted']);
    },
  );

  test('a delivery succeeds at its third send after kill -9 of the webhook service during the first two', async () => {
    const { stack } = world;
    const scope = scopeOf('answers');
    const attempt = await newAttempt(scope);
    for (const number of [1, 2]) {
      const died = stack.onExit('webhook');
      stack.arm('webhook.send.after-request', 'kill');
      await (number === 1 ? attempt.lose() : lapseLeases(stack, { number: number - 1 }));
      await untilFired('webhook.send.after-request', 'kill', died);
    }
    await lapseLeases(stack, { number: 2 });
    await lapseAcknowledgements(stack);
    await scope.delivered.expectAll({ refs: [attempt.ref] });
    const { delivery, arrived } = await deliveryOf(scope, attempt.id);
    expect([delivery.status, arrived, ...kindsOf(delivery)]).toEqual([
      'delivered',
      3,
      'interrupted',
      'interrupted',
      null,
    ]);
  });
});

test('kill -9 of the webhook service under load loses no event and makes no fourth send', async () => {
  const { stack } = world;
  const scope = scopeOf('recovers');
  await using _ = makeRetriesDue(stack);
  const attempts = await Promise.all(Array.from({ length: 60 }, () => newAttempt(scope)));
  const kills = async () => {
    // After one interruption a delivery has two more sends; the receiver refuses only the first
    // send.
    await eventually(async () => scope.delivered.hook.receiver.requests.length > 20 || undefined, 'the load is on');
    await stack.kill('webhook');
    const diedAt = new Date();
    await stack.ready();
    await lapseLeases(stack, { begunBefore: diedAt });
  };
  await Promise.all([kills(), ...attempts.map(({ lose }) => lose())]);
  await lapseAcknowledgements(stack);
  await scope.delivered.expectAll({ refs: attempts.map(({ ref }) => ref) });
  const ids = new Set(attempts.map(({ id }) => id));
  const requests = scope.delivered.hook.requests().filter(({ json }) => ids.has(String(json.data.attempt_id)));
  const deliveryIds = new Set(requests.map(({ deliveryId }) => deliveryId));
  const deliveries = (await readLog(scope)).filter(({ id }) => deliveryIds.has(id));
  expect(deliveries).toHaveLength(attempts.length);
  expect(new Set(deliveries.map(({ status }) => status))).toEqual(new Set(['delivered']));
});

test('no send is left after the faults of the webhook service', async () => {
  const rows = await world.stack
    .database('webhook')
    .query(`select max(attempts) as most, count(*) filter (where status = 'pending')::int as pending from deliveries`);
  expect(rows).toEqual([{ most: 3, pending: 0 }]);
  await world.expectAuditOk();
});
