/**
 * The integration service or the contest service dies, fails or loses its reply at each step of a
 * push. Meanwhile the player opens another attempt, and the partner repeats the same body until it
 * succeeds: the report settles the player's first attempt, once, and the other stays open.
 */
import { randomUUID } from 'node:crypto';
import type { FailpointAction } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type PushedIntegration, type Pusher, settledOf, startPusher, verdictOf } from '../integrations/pusher.ts';
import { eventually, expectStatus, startWorld, type World } from '../world.ts';
import { FAILPOINTS, type FailpointName } from './points.ts';

const ACTIONS = ['kill', 'throw', 'lose-reply'] as const satisfies readonly FailpointAction[];
type Point = FailpointName<'integration' | 'challenge'>;
/** How the report names its attempt. */
type Flow = 'by id' | 'by player';

const OF_THE_OWNER = [
  'challenge.outcome.before-commit',
  'challenge.outcome.after-commit',
  'challenge.reply.before-send',
] as const satisfies readonly Point[];
const LISTENING = FAILPOINTS.integration.filter((point) => point.startsWith('integration.listen.'));
/** No push passes these failpoints; integration-polls.test.ts plays them. */
const POLLING = FAILPOINTS.integration.filter((point) => point.startsWith('integration.poll.'));
/** Only a report that names a player passes these failpoints. */
const BINDING = FAILPOINTS.integration.filter((point) => point.startsWith('integration.bind.'));

const FLOWS = ['by id', 'by player'] as const;
/** Only a worker passes these failpoints; challenge-life.test.ts plays them. */
const FORWARDING = FAILPOINTS.integration.filter((point) => point.startsWith('integration.forward.'));
const OF_PUSHES = FAILPOINTS.integration.filter((point) => ![...LISTENING, ...POLLING, ...FORWARDING].includes(point));
const SETTLING = [...OF_PUSHES, ...OF_THE_OWNER];
const CASES = SETTLING.flatMap((point) =>
  FLOWS.filter((flow) => flow === 'by player' || !BINDING.some((binding) => binding === point)).flatMap((flow) =>
    ACTIONS.map((action): { point: Point; flow: Flow; action: FailpointAction } => ({ point, flow, action })),
  ),
);

let world: World;
let pusher: Pusher;
let challengeId: string;
let integrations: Readonly<Record<Flow, PushedIntegration>>;

beforeAll(async () => {
  world = await startWorld({ failpoints: true, restart: true, internalTls: false });
  pusher = await startPusher(world);
  challengeId = (await world.newChallenge()).id;
  integrations = { 'by id': await pusher.newIntegration(), 'by player': await newIntegrationByPlayer(challengeId) };
});
afterAll(async () => {
  await pusher?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

function newIntegrationByPlayer(id: string) {
  const attempt = { player_ref: '/player', challenge_id: { const: id }, pick: 'oldest' };
  return pusher.newIntegration({ descriptor: { version: 1, map: { attempt, score: '/score', dedupe: '/id' } } });
}

/**
 * Repeats the request with its key: for a moment the gateway may not reach a contest service that
 * was killed.
 */
async function openAttempt(ref: string): Promise<string> {
  const key = randomUUID();
  return await eventually(async () => {
    const { status, body } = await world.partner.createAttempt({ challenge_id: challengeId, player_ref: ref }, key);
    return status === 201 ? body.id : undefined;
  }, 'the attempt is created');
}

/**
 * Pushes once; undefined if the push got no response or the service failed: the partner repeats it.
 */
async function pushOnce(integration: PushedIntegration, body: object) {
  const result = await pusher.push(integration, body).catch(() => undefined);
  return result?.$case === 'failure' ? undefined : result;
}

describe('a fault at each step of a push', () => {
  test.each(CASES)(
    'a push $flow settles one attempt once after a fault: $point, $action',
    async ({ point, flow, action }) => {
      const { stack } = world;
      await stack.ready();
      const player = await world.newPlayer();
      const id = await openAttempt(player.ref);
      const body = flow === 'by id' ? { attempt_id: id, score: 1 } : { id: randomUUID(), player: player.ref, score: 1 };

      stack.arm(point, action);
      // Repeats the push until it reaches the point: a service that the previous case killed may
      // not be reachable yet.
      const { first } = await eventually(async () => {
        const answer = await pushOnce(integrations[flow], body);
        return stack.isFired(point) ? { first: answer } : undefined;
      }, `${point} was hit`);
      await stack.ready();
      const second = await openAttempt(player.ref);
      const again = await eventually(() => pushOnce(integrations[flow], body), 'the push is answered');

      // Until the pair (report, attempt) is committed no attempt is settled, so the first attempt
      // is still the oldest open one.
      const settled = settledOf(again);
      expect(settled).toMatchObject({ attemptId: id, score: 1 });
      if (first !== undefined)
        expect(again).toEqual({ $case: 'settled', value: { ...settledOf(first), repeated: true } });
      expect(await eventually(() => pushOnce(integrations[flow], body), 'the push is answered')).toEqual({
        $case: 'settled',
        value: { ...settled, repeated: true },
      });
      const [read, other] = [await world.partner.getAttempt(id), await world.partner.getAttempt(second)];
      expect(expectStatus(200, read).body.outcome).toMatchObject({ score: 1, receipt_id: settled.receiptId });
      expect(expectStatus(200, other).body.outcome).toBeNull();
      const receipts = await stack
        .database('challenge')
        .query('select attempt_id from outcomes where attempt_id = any($1::uuid[])', [[id, second]]);
      expect(receipts).toEqual([{ attempt_id: id }]);
      const pairs = await stack
        .database('integration')
        .query('select attempt_id from report_attempts where attempt_id = any($1::uuid[])', [[id, second]]);
      expect(pairs).toEqual(flow === 'by id' ? [] : [{ attempt_id: id }]);
    },
  );
});

describe('a fault at each step of listening', () => {
  test.each(LISTENING.flatMap((point) => ACTIONS.map((action) => ({ point, action }))))(
    'a score without an attempt becomes one sample, whatever fails: $point, $action',
    async ({ point, action }) => {
      const { stack } = world;
      await stack.ready();
      const challenge = await world.newChallenge({ status: 'calibrating', threshold: null });
      const integration = await newIntegrationByPlayer(challenge.id);
      const body = { id: randomUUID(), player: `p-${randomUUID()}`, score: 1 };
      stack.arm(point, action);
      await eventually(async () => {
        await pushOnce(integration, body);
        return stack.isFired(point) || undefined;
      }, `${point} was hit`);
      await stack.ready();
      expect(verdictOf(await eventually(() => pushOnce(integration, body), 'the push is answered'))).toBe('listened');
      const samples = await stack
        .database('integration')
        .query('select score from listened_samples where challenge_id = $1', [challenge.id]);
      expect(samples).toEqual([{ score: 1 }]);
    },
  );
});

test('a push fails if the contest service of any of its records is unreachable', async () => {
  const { stack } = world;
  const [player, round] = [await world.newPlayer(), await world.newRound()];
  const id = await openAttempt(player.ref);
  const entry = { tournament_round_id: round.id, player_ref: player.ref };
  const entered = expectStatus(201, await world.partner.createAttempt(entry)).body.id;
  const body = [
    { attempt_id: id, score: 1 },
    { attempt_id: entered, score: 2 },
  ];
  await stack.stop('tournament');
  expect((await pusher.push(integrations['by id'], body))?.$case).toBe('failure');
  expect(expectStatus(200, await world.partner.getAttempt(id)).body.outcome).toMatchObject({ score: 1 });
  await stack.restart('tournament');
  const answer = await eventually(() => pushOnce(integrations['by id'], body), 'the push is answered');
  expect(verdictOf(answer)).toBe('duplicate,settled');
});

test('the audit finds no violation after the faults of pushes', async () => {
  await world.stack.ready();
  await world.expectAuditOk();
});
