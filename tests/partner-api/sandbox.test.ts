import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Developer,
  expectError,
  expectStatus,
  type Hook,
  inMinutes,
  type Program,
  startWorld,
  type World,
} from '../world.ts';

describe('/api/sandbox', () => {
  let world: World;
  beforeAll(async () => {
    // No automatic retry while a test runs.
    world = await startWorld({ environment: { webhook: { WEBHOOK_RETRY_DELAYS_SECONDS: '3600,3600' } } });
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  test('the sandbox creates a player who can play immediately', async () => {
    const challenge = await world.newChallenge({ fee: '40.00' });
    const ref = randomUUID();
    const link = expectStatus(201, await world.partner.createPlayer(ref, '100.00'));
    expect(link.body).toEqual({
      player_ref: ref,
      linked: true,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    const entry = { challenge_id: challenge.id, player_ref: ref };
    expectStatus(201, await world.partner.createAttempt(entry));
    expectStatus(201, await world.partner.createAttempt(entry));
    expectError(402, 'insufficient_funds', await world.partner.createAttempt(entry));
    expect(expectStatus(201, await world.partner.createPlayer(ref, '20.00')).body).toEqual(link.body);
    expectStatus(201, await world.partner.createAttempt(entry));
  });

  test('a sandbox player has no money unless the request has funds', async () => {
    const challenge = await world.newChallenge();
    const ref = randomUUID();
    expectStatus(201, await world.partner.createPlayer(ref));
    const answer = await world.partner.createAttempt({ challenge_id: challenge.id, player_ref: ref });
    expectError(402, 'insufficient_funds', answer);
  });

  test('the sandbox serves refs with any character in the path', async () => {
    for (const ref of ['a/b', 'ü 選手', '50%', 'a?b#c', '%2F']) {
      expectStatus(201, await world.partner.createPlayer(ref, '1.00'));
      expectStatus(204, await world.partner.holdNextAward(ref));
    }
  });

  test('the sandbox cannot close a round twice or before the round has begun', async () => {
    const tournament = await world.newTournament();
    const times = { opens_at: inMinutes(30), closes_at: inMinutes(60) };
    const early = expectStatus(201, await world.operator.openRound(tournament.id, times)).body;
    expectError(409, 'conflict', await world.partner.closeEntries(early.id));
    expectError(409, 'conflict', await world.partner.closeRound(early.id));
    const round = await world.newRound();
    expectStatus(200, await world.partner.closeRound(round.id));
    expectError(409, 'conflict', await world.partner.closeRound(round.id));
    expectError(409, 'conflict', await world.partner.closeEntries(round.id));
  });

  test('expiring an unknown attempt in the sandbox is 404', async () => {
    for (const id of [randomUUID(), 'nonsense']) {
      expectError(404, 'not_found', await world.partner.send('POST', `/api/sandbox/attempts/${id}/expire`));
    }
  });

  describe('retry-now of a webhook delivery', () => {
    /** The id of the delivery to the hook about a lost attempt of this program. */
    async function deliver(hook: Hook, program: Program, environment: 'test' | 'live' = 'test'): Promise<string> {
      const challenge = await world.newChallenge({ environment }, program);
      const partner = program[environment];
      const player = await world.newPlayer({ environment, partner });
      const entry = { challenge_id: challenge.id, player_ref: player.ref };
      const attempt = expectStatus(201, await partner.createAttempt(entry)).body;
      expectStatus(200, await partner.reportOutcome(attempt.id, { score: 1 }));
      return (await hook.event('attempt.settled', attempt.id)).deliveryId;
    }

    /**
     * The delivery, once this many of its sends have ended; the log also shows a send that is under
     * way.
     */
    const afterSends = (hook: Hook, deliveryId: string, sends: number) =>
      hook.delivery(deliveryId, ({ attempts }) => attempts[sends - 1]?.http_status === 500);

    const newFailing = (owner: Developer, options: { program_id?: string } = {}) =>
      world.newReceiver(owner, { answer: { status: 500, body: 'not now' }, ...options });

    test('a webhook delivery is retried on request, at most as often as it has retries left', async () => {
      const owner = await world.newDeveloper();
      const hook = await newFailing(owner);
      const id = await deliver(hook, owner.program);
      const waiting = await afterSends(hook, id, 1);
      expect(waiting.status).toBe('pending');
      expect(Date.parse(waiting.next_attempt_at ?? '')).toBeGreaterThan(Date.now() + 3_000_000);

      const answer = expectStatus(202, await owner.program.test.retryNow(id.toUpperCase()));
      expect(answer.body).toEqual({ delivery_id: id });
      const second = await afterSends(hook, id, 2);
      expect(second.status).toBe('pending');
      expect(Date.parse(second.next_attempt_at ?? '')).toBeGreaterThan(Date.now() + 3_000_000);

      // Parallel requests all start the same remaining retry.
      const statuses = await Promise.all(Array.from({ length: 10 }, () => owner.program.test.retryNow(id)));
      expect(statuses.map(({ status }) => status)).toContain(202);
      expect(new Set([...statuses.map(({ status }) => status), 202, 409])).toEqual(new Set([202, 409]));
      const third = await afterSends(hook, id, 3);
      expect(third).toMatchObject({ status: 'failed', next_attempt_at: null });
      expect(third.attempts.map(({ number }) => number)).toEqual([1, 2, 3]);
      expectError(409, 'conflict', await owner.program.test.retryNow(id));
      expect(hook.sendsOf(id)).toHaveLength(3);
      expect(new Set(hook.sendsOf(id).map(({ body }) => body.toString())).size).toBe(1);
    });

    test('a successful webhook delivery has no retry left', async () => {
      const owner = await world.newDeveloper();
      const hook = await newFailing(owner);
      const id = await deliver(hook, owner.program);
      await afterSends(hook, id, 1);
      hook.receiver.answerWith({ status: 204 });
      expectStatus(202, await owner.program.test.retryNow(id));
      expect((await hook.delivery(id)).status).toBe('delivered');
      const atOnce = await deliver(hook, owner.program);
      expect((await hook.delivery(atOnce)).status).toBe('delivered');
      for (const delivered of [id, atOnce]) {
        expectError(409, 'conflict', await owner.program.test.retryNow(delivered));
      }
      expect([hook.sendsOf(id).length, hook.sendsOf(atOnce).length]).toEqual([2, 1]);
    });

    test('a webhook delivery to an endpoint that was turned off is not retried', async () => {
      const owner = await world.newDeveloper();
      const hook = await newFailing(owner);
      const id = await deliver(hook, owner.program);
      await afterSends(hook, id, 1);
      expectStatus(200, await owner.portal.updateEndpoint(hook.endpoint.id, { active: false }));
      expectError(409, 'conflict', await owner.program.test.retryNow(id));
      expectStatus(204, await owner.portal.deleteEndpoint(hook.endpoint.id));
      expectError(404, 'not_found', await owner.program.test.retryNow(id));
      expect(hook.sendsOf(id)).toHaveLength(1);
    });

    test('a test delivery can be retried through any program that its endpoint covers', async () => {
      const owner = await world.newDeveloper();
      const sibling = await world.newProgram(owner);
      const [all, scoped] = [await newFailing(owner), await newFailing(owner, { program_id: sibling.id })];
      const testOf = async ({ endpoint }: Hook) =>
        expectStatus(202, await owner.portal.sendTest(endpoint.id)).body.delivery_id;
      const [ofAll, ofSibling] = [await testOf(all), await testOf(scoped)];
      await afterSends(all, ofAll, 1);
      await afterSends(scoped, ofSibling, 1);
      for (const [partner, id] of [
        [world.partner, ofAll],
        [world.partner, ofSibling],
        [owner.program.test, ofSibling],
      ] as const) {
        expectError(404, 'not_found', await partner.retryNow(id));
      }
      expectStatus(202, await owner.program.test.retryNow(ofAll));
      await afterSends(all, ofAll, 2);
      expectStatus(202, await sibling.test.retryNow(ofAll));
      expectStatus(202, await sibling.test.retryNow(ofSibling));
      expect((await all.delivery(ofAll)).attempts).toHaveLength(3);
      await afterSends(scoped, ofSibling, 2);
    });

    test('a webhook delivery can be retried with its program’s test key only', async () => {
      const owner = await world.newDeveloper();
      const sibling = await world.newProgram(owner);
      const hook = await newFailing(owner);
      const id = await deliver(hook, owner.program);
      const liveId = await deliver(hook, owner.program, 'live');
      for (const delivery of [id, liveId]) await afterSends(hook, delivery, 1);
      const retryNow = ({ send }: Program['test'], deliveryId: string) =>
        send('POST', `/api/sandbox/webhook-deliveries/${deliveryId}/retry-now`);
      const before = await world.digest();
      for (const { live } of [owner.program, sibling, world.program]) {
        for (const delivery of [id, liveId]) expectError(401, 'unauthorized', await retryNow(live, delivery));
      }
      for (const { test: outsider } of [sibling, world.program]) {
        expectError(404, 'not_found', await outsider.retryNow(id));
      }
      for (const unknown of [liveId, randomUUID(), hook.endpoint.id, 'nonsense', '%00', 'a'.repeat(2_000)]) {
        expectError(404, 'not_found', await retryNow(owner.program.test, unknown));
      }
      expectStatus(401, await world.http.send('POST', `/api/sandbox/webhook-deliveries/${id}/retry-now`));
      expect(await world.digest()).toEqual(before);
      expect([hook.sendsOf(id).length, hook.sendsOf(liveId).length]).toEqual([1, 1]);
    });
  });

  test('the audit finds no violation after the sandbox’s routes', () => world.expectAuditOk());
});
