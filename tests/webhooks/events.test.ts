/**
 * Follows every event of the contract (docs/contract/partner-api.md, "Event types") from play to a
 * partner's server, and expects no other event.
 */
import { randomUUID } from 'node:crypto';
import type { Attempt, Award, Outcome, Round, WebhookEventType } from '@laurel/sdk';
import type { ChallengeTerms, Partner } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Developer,
  eventually,
  expectStatus,
  type Hook,
  type HookRequest,
  inMinutes,
  joinWorld,
  type Player,
  type SharedWorld,
} from '../world.ts';
import { expectRequest } from './expect-request.ts';
import { playAttempt } from './play.ts';

let world: SharedWorld;
beforeAll(async () => {
  world = await joinWorld();
});
afterAll(() => world?.[Symbol.asyncDispose]());

describe.each(['test', 'live'] as const)('webhook events with a %s key', (environment) => {
  let developer: Developer;
  let hook: Hook;
  let partner: Partner;
  /** Every event that tests of this environment expected; in the end there must be no others. */
  const expected: string[] = [];
  beforeAll(async () => {
    developer = await world.newDeveloper();
    hook = await world.newReceiver(developer);
    partner = developer.program[environment];
  });

  const newPlayer = () => world.newPlayer({ environment, partner });
  const newChallenge = (terms: ChallengeTerms = {}) => world.newChallenge({ environment, ...terms }, developer.program);

  async function start(challengeId: string, { ref }: Pick<Player, 'ref'>): Promise<Attempt> {
    return expectStatus(201, await partner.createAttempt({ challenge_id: challengeId, player_ref: ref })).body;
  }

  async function report(attemptId: string, score: number): Promise<Outcome> {
    return expectStatus(200, await partner.reportOutcome(attemptId, { score })).body;
  }

  async function read(attemptId: string): Promise<Attempt> {
    return expectStatus(200, await partner.getAttempt(attemptId)).body;
  }

  /** Waits for the event about this id and checks the whole request. */
  async function expectEvent(event: WebhookEventType, id: string, data: Record<string, unknown>): Promise<HookRequest> {
    const request = await hook.event(event, id);
    expected.push(`${event} ${id}`);
    await expectRequest(hook, request, { event, data: environment === 'test' ? { ...data, test: true } : data });
    return request;
  }

  /** The event of an outcome, which must also agree with the attempt as it is read. */
  async function expectSettled(attempt: Attempt, outcome: Outcome): Promise<void> {
    const { award } = outcome;
    const delivered = await expectEvent('attempt.settled', attempt.id, {
      ...aboutAttempt(attempt),
      score: outcome.score,
      met_threshold: outcome.met_threshold,
      award: award && { id: award.id, amount: Number(award.amount), payout_status: award.payout_status },
      recorded_at: outcome.recorded_at,
    });
    expect(delivered.json.timestamp).toBe(outcome.recorded_at);
    const { status, player_ref, outcome: again } = await read(attempt.id);
    expect({ status, player_ref, ...again }).toMatchObject({
      status: 'settled',
      player_ref: delivered.json.data.player_ref,
      score: delivered.json.data.score,
      met_threshold: delivered.json.data.met_threshold,
      recorded_at: delivered.json.data.recorded_at,
    });
    expect([again?.award?.id, again?.award?.amount]).toEqual([award?.id, award?.amount]);
  }

  async function expectRefunded(attempt: Attempt, reason: string, status: Attempt['status']): Promise<void> {
    const amount = Number(attempt.fee_charged);
    await expectEvent('attempt.refunded', attempt.id, { ...aboutAttempt(attempt), amount, reason });
    expect(await read(attempt.id)).toMatchObject({ ...aboutRead(attempt), status });
  }

  /**
   * Ends the attempt's hour: in the sandbox by a partner's request, in live by an update of the
   * row.
   */
  async function expire(attemptId: string): Promise<void> {
    if (environment === 'test') {
      expectStatus(200, await partner.expireAttempt(attemptId));
      return;
    }
    await expireByHour(attemptId);
  }

  async function expireByHour(attemptId: string): Promise<void> {
    const { query } = world.stack.database('challenge');
    const row = () => query<{ status: string }>('select status from attempts where id = $1', [attemptId]);
    // The creation may be answered before the row is open, so this waits for the row. The sweep
    // never looks back, so the update lets the hour end in a second and not in the past.
    await eventually(async () => (await row())[0]?.status === 'open' || undefined, 'the attempt is open');
    await query(`
      begin;
      set local session_replication_role = replica;
      update attempts set created_at = now() - interval '59 minutes 59 seconds' where id = '${attemptId}';
      commit`);
  }

  function awardOf({ award }: Outcome): Award {
    return award ?? expect.fail('no award');
  }

  async function holdWinsOf({ accountId }: Player): Promise<void> {
    expectStatus(200, await world.operator.updateAccount(accountId, { under_investigation: true }));
  }

  describe('webhook events of a challenge', () => {
    test('a loss has an attempt.settled event, whatever characters its player_ref contains', async () => {
      const challenge = await newChallenge();
      const player = await newPlayer();
      const ref = `"a\\b"\n ü 選手 😀 \u2028 ${randomUUID()}`;
      expectStatus(201, await partner.linkPlayer(ref, player.email));
      for (const score of [99.999, -0.1, 1e-7]) {
        const attempt = await start(challenge.id, { ref });
        await expectSettled(attempt, await report(attempt.id, score));
      }
    });

    test('a free attempt has an attempt.settled event', async () => {
      const challenge = await newChallenge({ status: 'calibrating', threshold: undefined });
      const attempt = await start(challenge.id, await newPlayer());
      expect(attempt.fee_charged).toBe('0.00');
      const outcome = await report(attempt.id, 1_000);
      expect(outcome).toMatchObject({ met_threshold: false, award: null });
      await expectSettled(attempt, outcome);
    });

    test.each(['19.99', '0.10', '20.00'])('a win that is paid %s has an event with its award', async (prize) => {
      const challenge = await newChallenge({ prize });
      const attempt = await start(challenge.id, await newPlayer());
      const outcome = await report(attempt.id, 100);
      expect(outcome.award).toMatchObject({ amount: prize, payout_status: 'paid' });
      await expectSettled(attempt, outcome);
    });

    test('a held win has one event when it is held and another when it is released', async () => {
      const challenge = await newChallenge();
      const player = await newPlayer();
      await holdWinsOf(player);
      const attempt = await start(challenge.id, player);
      const outcome = await report(attempt.id, 150);
      const award = awardOf(outcome);
      expect(award.payout_status).toBe('held');
      await expectSettled(attempt, outcome);

      await Promise.all(Array.from({ length: 3 }, () => world.operator.releasePayout(award.id)));
      const released = await expectEvent('award.released', award.id, {
        award: { id: award.id, amount: 5, payout_status: 'paid' },
        ...aboutAttempt(attempt),
      });
      expect((await read(attempt.id)).outcome?.award?.paid_at).toBe(released.json.timestamp);
    });

    test('the denial of a held win has no event', async () => {
      const challenge = await newChallenge();
      const player = await newPlayer();
      await holdWinsOf(player);
      const attempt = await start(challenge.id, player);
      const outcome = await report(attempt.id, 150);
      await expectSettled(attempt, outcome);
      expectStatus(200, await world.operator.denyPayout(awardOf(outcome).id));
    });

    test('a voided paid attempt has an attempt.refunded event', async () => {
      const paid = await newChallenge({ fee: '0.35' });
      const free = await newChallenge({ status: 'calibrating', threshold: undefined });
      const player = await newPlayer();
      const [attempt, calibrating] = [await start(paid.id, player), await start(free.id, player)];
      for (const { id } of [calibrating, attempt]) expectStatus(200, await world.operator.voidAttempt(id, 'a bug'));
      await expectRefunded(attempt, 'voided', 'voided');
    });

    test('an expired attempt has an attempt.refunded event', async () => {
      const challenge = await newChallenge({ fee: '123.45' });
      const player = await world.newPlayer({ environment, partner, funds: '200.00' });
      const attempt = await start(challenge.id, player);
      await expire(attempt.id);
      await expectRefunded(attempt, 'expired', 'expired');
    });

    test('a free attempt has no attempt.refunded event, however it ended', async () => {
      const challenge = await newChallenge({ status: 'calibrating', threshold: undefined });
      const player = await newPlayer();
      const [byHand, byHour, voided, paid] = [
        await start(challenge.id, player),
        await start(challenge.id, player),
        await start(challenge.id, player),
        await start((await newChallenge()).id, player),
      ];
      expect([byHand, byHour, voided].map((attempt) => attempt.fee_charged)).toEqual(['0.00', '0.00', '0.00']);
      expectStatus(200, await world.operator.voidAttempt(voided.id, 'a bug'));
      // With a live key no request can expire an attempt, so both end at their deadline.
      await expire(byHand.id);
      await expireByHour(byHour.id);
      for (const [{ id }, status] of [
        [byHand, 'expired'],
        [byHour, 'expired'],
        [voided, 'voided'],
      ] as const) {
        await eventually(async () => (await read(id)).status === status || undefined, `${id} is ${status}`);
      }
      // A refunded attempt has its event; the last of these tests checks that there are no others.
      expectStatus(200, await world.operator.voidAttempt(paid.id, 'a bug'));
      await expectRefunded(paid, 'voided', 'voided');
      const outbox = await world.stack
        .database('challenge')
        .query('select attempt_id from refunds_due where attempt_id = any($1)', [[byHand.id, byHour.id, voided.id]]);
      expect(outbox).toEqual([]);
      expect(await world.balance(player, environment)).toBe('100.00');
    });

    test('each suspension of a challenge by the operator has one event', async () => {
      const { id, name } = await newChallenge({ name: 'Reach "100" <b>ünder</b> 60 s' });
      const suspend = () => world.operator.updateChallenge(id, { status: 'suspended' });
      await Promise.all([suspend(), suspend(), suspend()]);
      const first = await expectEvent('challenge.suspended', id, { challenge_id: id, name });
      await suspend();
      expectStatus(200, await world.operator.updateChallenge(id, { status: 'live' }));
      expectStatus(200, await suspend());
      const second = await hook.find(
        ({ json, deliveryId }) => json.data.challenge_id === id && deliveryId !== first.deliveryId,
      );
      expected.push(`challenge.suspended ${id}`);
      expect(second.json.data).toEqual(first.json.data);
    });
  });

  describe('webhook events of a round', () => {
    const newRound = async (terms = {}) => {
      const tournament = await world.newTournament({ environment, ...terms }, developer.program);
      return expectStatus(201, await world.operator.openRound(tournament.id, { closes_at: inMinutes(60) })).body;
    };

    async function enter(round: Round, { ref }: Player): Promise<Attempt> {
      return expectStatus(201, await partner.createAttempt({ tournament_round_id: round.id, player_ref: ref })).body;
    }

    /** Ends the round: in the sandbox by a partner's request, in live by an update of the row. */
    async function close({ id }: Round): Promise<void> {
      if (environment === 'test') {
        expectStatus(200, await partner.closeRound(id));
        return;
      }
      // The triggers let no live round end sooner, so this update disables them.
      await world.stack.database('tournament').query(`
        begin;
        set local session_replication_role = replica;
        update rounds set entries_close_at = opens_at + (now() - opens_at) / 2, closes_at = now() where id = '${id}';
        commit`);
    }

    test('a round has events for its scores, its end, its refunds and its released purse', async () => {
      const round = await newRound({ entry_fee: '2.50' });
      const [first, second, silent] = [await newPlayer(), await newPlayer(), await newPlayer()];
      for (const [player, score] of [
        [first, 30],
        [second, 10.5],
      ] as const) {
        const attempt = await enter(round, player);
        const outcome = await report(attempt.id, score);
        expect(outcome).toMatchObject({ met_threshold: false, award: null });
        await expectSettled(attempt, outcome);
      }
      const unscored = await enter(round, silent);
      await holdWinsOf(first);
      await close(round);

      const { id, tournament_id } = round;
      await expectEvent('round.settled', id, {
        tournament_round_id: id,
        tournament_id,
        ranked_players: 2,
        purse: 8,
      });
      await expectRefunded(unscored, 'round_closed', 'expired');

      const held = await eventually(
        async () =>
          expectStatus(200, await world.operator.listPayouts('held')).body.data.find((it) => it.round_id === id),
        'the purse is held',
      );
      expectStatus(200, await world.operator.releasePayout(held.award_id));
      await expectEvent('award.released', held.award_id, {
        award: { id: held.award_id, amount: 5, payout_status: 'paid' },
        attempt_id: null,
        challenge_id: null,
        tournament_round_id: id,
        player_ref: first.ref,
      });
    });

    test.each([
      ['is cancelled for too few entrants', { min_entrants: 3 }, close],
      [
        'an operator cancels',
        {},
        async ({ id }: Round) => expectStatus(200, await world.operator.cancelRound(id, 'a broken game')),
      ],
    ])('a round that %s has an event, and one for every entry, scored or not', async (_why, terms, end) => {
      const round = await newRound({ ...terms, entry_fee: '0.07' });
      const [scorer, silent] = [await newPlayer(), await newPlayer()];
      const scored = await enter(round, scorer);
      await expectSettled(scored, await report(scored.id, 5));
      const unscored = await enter(round, silent);
      await end(round);

      const { id, tournament_id } = round;
      await expectEvent('round.cancelled', id, { tournament_round_id: id, tournament_id });
      await expectRefunded(scored, 'round_cancelled', 'settled');
      await expectRefunded(unscored, 'round_cancelled', 'expired');
    });
  });

  test('only the expected webhook events are sent, once each', async () => {
    await world.allDelivered();
    const received = hook.requests().map(({ json: { event, data } }) => {
      const award = data.award as { id: string } | undefined;
      const id =
        event === 'award.released' ? award?.id : (data.attempt_id ?? data.challenge_id ?? data.tournament_round_id);
      return `${event} ${id}`;
    });
    expect(received.sort()).toEqual(expected.sort());
    const log = await hook.log();
    expect(log.map(({ status }) => status)).toEqual(expected.map(() => 'delivered'));
    expect(log.map(({ id }) => id).sort()).toEqual(
      hook
        .requests()
        .map(({ deliveryId }) => deliveryId)
        .sort(),
    );
  });
});

test('each endpoint gets exactly the events of its scope', async () => {
  const [developer, other] = [await world.newDeveloper(), await world.newDeveloper()];
  const { program } = developer;
  const before = await playAttempt(world, developer);
  const hooks = {
    all: await world.newReceiver(developer),
    live: await world.newReceiver(developer, { program_id: program.id, environment: 'live' }),
    refunds: await world.newReceiver(developer, { events: ['attempt.refunded'] }),
    theirs: await world.newReceiver(other),
  };
  const later = { program: await world.newProgram(developer) };
  const played = {
    test: await playAttempt(world, developer),
    live: await playAttempt(world, developer, { environment: 'live' }),
    refunded: await playAttempt(world, developer, { what: 'refunded' }),
    later: await playAttempt(world, later),
    theirs: await playAttempt(world, other),
  };
  await world.allDelivered();
  const names = new Map([[before, 'before'], ...Object.entries(played).map(([name, id]) => [id, name] as const)]);
  const received = ({ requests }: Hook) => requests().map(({ json }) => names.get(String(json.data.attempt_id)));
  const ours = ['later', 'live', 'refunded', 'test'];
  const expected = { all: ours, live: ['live'], refunds: ['refunded'], theirs: ['theirs'] };
  for (const [name, hook] of Object.entries(hooks))
    expect(received(hook).sort(), name).toEqual(expected[name as keyof typeof expected]);
});

test('a failed webhook is sent three times with the same bytes', async () => {
  const developer = await world.newDeveloper();
  const hook = await world.newReceiver(developer, { answer: { status: 500, body: 'no' } });
  const { deliveryId } = await hook.event('attempt.settled', await playAttempt(world, developer));
  const delivery = await hook.delivery(deliveryId);
  const failure = { http_status: 500, error_kind: 'http_5xx', response_excerpt: 'no' };
  const attempts = [1, 2, 3].map((number) => ({ number, ...failure }));
  expect(delivery).toMatchObject({ status: 'failed', next_attempt_at: null, attempts });
  const bodies = hook.sendsOf(deliveryId).map(({ body }) => body.toString());
  expect([bodies.length, new Set(bodies).size]).toEqual([3, 1]);
  for (const [index, delayMs] of [1_000, 2_000].entries()) {
    const [failed, next] = delivery.attempts.slice(index);
    const gapMs = Date.parse(next?.started_at ?? '') - Date.parse(failed?.started_at ?? '');
    // The instants and the duration are by two clocks, and each is rounded.
    expect(gapMs - (failed?.duration_ms ?? 0)).toBeGreaterThanOrEqual(delayMs - 5);
  }
});

test('the audit finds no violation after all webhook events', () => world.expectAuditOk());

/** The fields in which an event names its attempt. */
function aboutAttempt({ id, challenge_id, tournament_round_id, player_ref }: Attempt) {
  return { attempt_id: id, challenge_id, tournament_round_id, player_ref };
}

/** The fields of an attempt, as it is read, that correspond to those of an event. */
function aboutRead({ id, challenge_id, tournament_round_id, player_ref, fee_charged }: Attempt) {
  return { id, challenge_id, tournament_round_id, player_ref, fee_charged };
}
