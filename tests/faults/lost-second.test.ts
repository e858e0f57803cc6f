/**
 * Each test is a row of docs/operations/lost-second.md: one or several databases lose acknowledged
 * writes.
 */
import { randomUUID } from 'node:crypto';
import type { Attempt, AttemptRequest, Outcome, PushResults } from '@laurel/sdk';
import {
  type Answer,
  createIntegrations,
  createPartner,
  createPortal,
  type DeliveryBody,
  type LogEntryBody,
  push,
  type Service,
  signIn,
  startReceiver,
} from '@laurel/testing';
import { hashId } from '@laurel/values/ids';
import { verify } from '@octokit/webhooks-methods';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHECKS, CONTEST_SERVICES, type ContestService } from '../contest-service-checks.ts';
import { newTarget, playerDescriptor, type Target } from '../integrations/target.ts';
import { losingWritesOf } from '../lose-writes.ts';
import {
  type Developer,
  eventually,
  expectError,
  expectStatus,
  fullBoard,
  type Hook,
  type Player,
  startWorld,
  type World,
} from '../world.ts';
import { withBroker } from './broker.ts';

let world: World;
let developer: Developer;
let hook: Hook;

beforeAll(async () => {
  const ofContests = { OUTBOX_REPUBLISH_AFTER_MS: '200', PENDING_GRACE_SECONDS: '3' };
  world = await startWorld({
    environment: {
      challenge: ofContests,
      tournament: ofContests,
      webhook: { WEBHOOK_RETRY_DELAYS_SECONDS: '600,600' },
    },
  });
  developer = await world.newDeveloper();
  hook = await world.newReceiver(developer);
});
afterAll(() => world?.[Symbol.asyncDispose]());

/** Three scores of two players place the bar at the best one. */
const CALIBRATING = {
  status: 'calibrating',
  threshold: null,
  target_pass_rate: 0.25,
  min_calibration_n: 3,
  min_calibration_players: 2,
};

const partner = () => developer.program.test;

async function newPlayer(funds?: string): Promise<Player> {
  return world.newPlayer({ partner: partner(), ...(funds !== undefined && { funds }) });
}

/** Creates a contest with a fee of 1.00. Returns the request that enters the player. */
const ENTRY: Record<ContestService, (player: Player) => Promise<AttemptRequest>> = {
  challenge: async ({ ref }) => ({
    challenge_id: (await world.newChallenge({}, developer.program)).id,
    player_ref: ref,
  }),
  tournament: async ({ ref }) => ({
    tournament_round_id: (await world.newRound({}, developer.program)).id,
    player_ref: ref,
  }),
};

async function enter(entry: AttemptRequest, key?: string): Promise<Answer<Attempt>> {
  return expectStatus(201, await partner().createAttempt(entry, key));
}

async function report(attemptId: string, score: number, key?: string): Promise<Answer<Outcome>> {
  return expectStatus(200, await partner().reportOutcome(attemptId, { score }, key));
}

function expectReplay(again: Answer<unknown>, first: Answer<unknown>): void {
  expect({ status: again.status, text: again.text }).toEqual({ status: first.status, text: first.text });
  expect(again.headers['idempotency-replayed']).toBe('true');
}

async function violations(): Promise<Map<string, number>> {
  const audit = await eventually(async () => {
    const answer = await world.operator.audit();
    // For a moment after a restart, the callers' breakers refuse calls to the service.
    return answer.status === 200 ? answer.body : undefined;
  }, 'the audit answers');
  return new Map(audit.checks.map(({ id, violations }) => [id, violations]));
}

/**
 * Runs `work` in the second that the databases lose. `expectReported` awaits the violations that
 * the audit has found since.
 */
async function losing<Result>(services: readonly Service[], work: () => Promise<Result>) {
  await world.allWritten();
  const before = await violations();
  const result = await losingWritesOf(world.stack, services, async () => {
    const done = await work();
    await world.allAcknowledged();
    return done;
  });
  const expectReported = async (expected: Readonly<Record<string, number>>) => {
    let found = {};
    const isExpected = async () => {
      const now = await violations();
      found = Object.fromEntries(
        [...now].map(([id, count]) => [id, count - (before.get(id) ?? 0)]).filter(([, more]) => more !== 0),
      );
      return JSON.stringify(found) === JSON.stringify(expected) || undefined;
    };
    await eventually(isExpected, 'the audit reports as expected', 10_000).catch(() => undefined);
    expect(found).toEqual(expected);
  };
  await violations();
  return { result, expectReported };
}

/**
 * The repair of docs/operations/lost-second.md: reopens the idempotency key of a response, so that
 * the gateway runs a repeated request again under the id of the lost operation.
 */
async function reopenKey(answer: Answer<{ id: string } | { attempt_id: string }>, keys = 1): Promise<void> {
  // A replica replays earlier responses from its memory.
  await world.stack.stop('gateway');
  const [member, id] = 'id' in answer.body ? ['id', answer.body.id] : ['attempt_id', answer.body.attempt_id];
  const reopened = await world.stack.database('gateway').query(
    `update idempotency_records set state = 'released', status = null, body = null
     where state = 'completed' and body::json ->> $2 = $1 returning id`,
    [id, member],
  );
  expect(reopened).toHaveLength(keys);
  await world.stack.restart('gateway');
}

const sql = (service: Service, text: string, ...values: readonly unknown[]) =>
  world.stack.database(service).query(text, values);

const sends = (type: string, attemptId: string) =>
  hook.requests().filter(({ json }) => json.event === type && json.data.attempt_id === attemptId).length;

describe.each(CONTEST_SERVICES)('the database of the %s service loses its last second', (contestService) => {
  const checks = CHECKS[contestService];

  test(`a paid attempt that the ${contestService} service lost is 404 until the request is run again under its id`, async () => {
    const player = await newPlayer();
    const entry = await ENTRY[contestService](player);
    const key = randomUUID();
    const { result: created, expectReported } = await losing([contestService], () => enter(entry, key));

    expectError(404, 'not_found', await partner().getAttempt(created.body.id));
    expectError(404, 'not_found', await partner().reportOutcome(created.body.id, { score: 1 }));
    expectReplay(await enter(entry, key), created);
    expect(await world.balance(player)).toBe('99.00');
    await expectReported({ [checks.feeWithoutAttempt]: 1 });
    // Another key means another attempt and another fee.
    await enter(entry);
    expect(await world.balance(player)).toBe('98.00');

    await reopenKey(created);
    expect((await enter(entry, key)).body.id).toBe(created.body.id);
    expect(await world.balance(player)).toBe('98.00');
    await world.allWritten();
    await expectReported({});
    await report(created.body.id, 1);
  });

  test(`an attempt whose outcome the ${contestService} service lost is open again and accepts another score`, async () => {
    const player = await newPlayer();
    const entry = await ENTRY[contestService](player);
    const [attempt, unplayed] = [await enter(entry), await enter(entry)];
    const key = randomUUID();
    const { result: outcome, expectReported } = await losing([contestService], async () => {
      await report(unplayed.body.id, 1);
      const reported = await report(attempt.body.id, 1, key);
      await hook.event('attempt.settled', attempt.body.id);
      return reported;
    });

    expect(expectStatus(200, await partner().getAttempt(attempt.body.id)).body).toMatchObject({
      status: 'open',
      outcome: null,
    });
    expectReplay(await report(attempt.body.id, 1, key), outcome);
    expectError(404, 'not_found', await world.operator.getReceipt(outcome.body.receipt_id));
    await expectReported({});

    const other = await report(attempt.body.id, 2);
    expect(other.body.receipt_id).not.toBe(outcome.body.receipt_id);
    expectStatus(200, await partner().expireAttempt(unplayed.body.id));
    expect(await world.balance(player)).toBe('99.00');
    await world.allDelivered();
    expect(sends('attempt.settled', attempt.body.id)).toBe(1);
    await expectReported({});
  });

  test(`an attempt whose refund record the ${contestService} service lost can be played free until it is voided`, async () => {
    const player = await newPlayer();
    const entry = await ENTRY[contestService](player);
    const [voided, played] = [await enter(entry), await enter(entry)];
    const { expectReported } = await losing([contestService], async () => {
      for (const { body } of [voided, played]) {
        expectStatus(200, await partner().expireAttempt(body.id));
        await hook.event('attempt.refunded', body.id);
      }
    });

    expect(expectStatus(200, await partner().getAttempt(voided.body.id)).body.status).toBe('open');
    expect(await world.balance(player)).toBe('100.00');
    await expectReported({ [checks.refund]: 2 });
    expectStatus(200, await world.operator.voidAttempt(voided.body.id, 'its refund was posted'));
    await report(played.body.id, 1);
    expect(await world.balance(player)).toBe('100.00');
    await world.allDelivered();
    expect(sends('attempt.refunded', voided.body.id)).toBe(1);
    await expectReported({ [checks.refund]: 1 });
  });
});

describe('the database of the challenge service loses its last second', () => {
  test('the request of a lost win finds the payout of the wallet when it is run again under its id', async () => {
    const player = await newPlayer();
    const attempt = await enter(await ENTRY.challenge(player));
    const key = randomUUID();
    const { result: won, expectReported } = await losing(['challenge'], () => report(attempt.body.id, 100, key));

    expect(await world.balance(player)).toBe('104.00');
    expect(expectStatus(200, await partner().getAttempt(attempt.body.id)).body.status).toBe('open');
    expectReplay(await report(attempt.body.id, 100, key), won);
    await expectReported({ payout_has_its_award: 1 });

    await reopenKey(won);
    const again = await report(attempt.body.id, 100, key);
    expect(again.body.award?.id).toBe(won.body.award?.id);
    expect(again.body.receipt_id).toBe(won.body.receipt_id);
    expect(await world.balance(player)).toBe('104.00');
    await world.allWritten();
    await expectReported({});
  });

  test('a player whose paid win is lost can win the same prize again with another attempt', async () => {
    const player = await newPlayer();
    const entry = await ENTRY.challenge(player);
    const attempt = await enter(entry);
    const { expectReported } = await losing(['challenge'], () => report(attempt.body.id, 100));
    const second = await enter(entry);
    await report(second.body.id, 100);
    await world.allWritten();
    expect(await world.balance(player)).toBe('108.00');
    await expectReported({ payout_has_its_award: 1 });
  });

  test('a lost win that is reported again under another key finds its payout and is paid once', async () => {
    const player = await newPlayer();
    const entry = await ENTRY.challenge(player);
    const [attempt, second] = [await enter(entry), await enter(entry)];
    const key = randomUUID();
    const { result: won, expectReported } = await losing(['challenge'], async () => {
      const reported = await report(attempt.body.id, 100, key);
      await hook.event('attempt.settled', attempt.body.id);
      return reported;
    });
    await expectReported({ payout_has_its_award: 1 });

    const again = await report(attempt.body.id, 120);
    expect(again.body.receipt_id).not.toBe(won.body.receipt_id);
    expect(again.body.award).toEqual(won.body.award);
    const { outcome } = expectStatus(200, await partner().getAttempt(attempt.body.id)).body;
    const { id, paid_at } = won.body.award ?? {};
    expect(outcome?.award).toMatchObject({ id, paid_at });
    expectReplay(await report(attempt.body.id, 100, key), won);
    await reopenKey(won, 2);
    expectError(409, 'attempt_already_settled', await partner().reportOutcome(attempt.body.id, { score: 100 }, key));
    // Another attempt wins no second prize.
    expect((await report(second.body.id, 100)).body.award).toBeNull();
    expect(await world.balance(player)).toBe('103.00');
    await world.allDelivered();
    expect(sends('attempt.settled', attempt.body.id)).toBe(1);
    await expectReported({});
  });

  test('the attempt of a lost win has no award if another attempt wins first', async () => {
    const player = await newPlayer();
    const entry = await ENTRY.challenge(player);
    const [attempt, second] = [await enter(entry), await enter(entry)];
    const { expectReported } = await losing(['challenge'], () => report(attempt.body.id, 100));
    expect((await report(second.body.id, 100)).body.award).toMatchObject({ payout_status: 'paid' });
    expect((await report(attempt.body.id, 100)).body.award).toBeNull();
    expect(await world.balance(player)).toBe('108.00');
    await world.allWritten();
    await expectReported({ payout_has_its_award: 1 });
  });

  test('a lost win that the wallet holds is paid once after its release', async () => {
    const player = await newPlayer();
    const attempt = await enter(await ENTRY.challenge(player));
    expectStatus(204, await partner().holdNextAward(player.ref));
    const { result: won, expectReported } = await losing(['challenge'], () => report(attempt.body.id, 100));
    const again = await report(attempt.body.id, 100);
    expect(again.body.award).toEqual(won.body.award);
    expect(again.body.award).toMatchObject({ payout_status: 'held', paid_at: null });
    expect(await world.balance(player)).toBe('99.00');
    const awardId = again.body.award?.id ?? '';
    for (let times = 0; times < 2; times += 1) expectStatus(200, await world.operator.releasePayout(awardId));
    expect(await world.balance(player)).toBe('104.00');
    await world.allWritten();
    await expectReported({});
  });

  test('a held prize whose release is lost is paid once when an operator releases it again', async () => {
    const player = await newPlayer();
    const attempt = await enter(await ENTRY.challenge(player));
    expectStatus(204, await partner().holdNextAward(player.ref));
    const awardId = (await report(attempt.body.id, 100)).body.award?.id ?? '';
    const { expectReported } = await losing(['challenge'], async () =>
      expectStatus(200, await world.operator.releasePayout(awardId)),
    );
    expect(await world.balance(player)).toBe('104.00');
    const held = expectStatus(200, await partner().getAttempt(attempt.body.id)).body.outcome?.award;
    expect(held).toMatchObject({ id: awardId, paid_at: null });
    await expectReported({ award_has_its_payout: 1 });
    expectStatus(200, await world.operator.releasePayout(awardId));
    expect(await world.balance(player)).toBe('104.00');
    await world.allWritten();
    await expectReported({});
  });

  test('a lost change of a challenge remains only in the log of operator actions', async () => {
    const { id } = await world.newChallenge({}, developer.program);
    const { expectReported } = await losing(['challenge'], async () =>
      expectStatus(200, await world.operator.updateChallenge(id, { status: 'closed' })),
    );
    expect(expectStatus(200, await world.operator.getChallenge(id)).body.status).toBe('live');
    const log = await world.operator.send<{ data: { action: string }[] }>('GET', `/actions?subject=challenge:${id}`);
    expect(expectStatus(200, log).body.data).toMatchObject([
      { action: 'change_challenge' },
      { action: 'create_challenge' },
    ]);
    await expectReported({});
  });

  test('a challenge whose seeded bar is lost calibrates until the partner seeds it under another key', async () => {
    const { id } = await world.newChallenge(CALIBRATING, developer.program);
    const seeding = { distribution: { p5: 1, p25: 2, p50: 3, p75: 4, p95: 5 }, sample_size: 500 };
    const key = randomUUID();
    const { result: seeded, expectReported } = await losing(['challenge'], async () =>
      expectStatus(201, await partner().seedChallenge(id, seeding, key)),
    );
    const player = await newPlayer();
    expect((await enter({ challenge_id: id, player_ref: player.ref })).body.fee_charged).toBe('0.00');
    expectReplay(await partner().seedChallenge(id, seeding, key), seeded);
    expect(expectStatus(200, await world.operator.getChallenge(id)).body).toMatchObject({ status: 'calibrating' });
    await expectReported({});

    const again = expectStatus(201, await partner().seedChallenge(id, seeding));
    expect(again.body.threshold).toBe(seeded.body.threshold);
    expect((await enter({ challenge_id: id, player_ref: player.ref })).body.fee_charged).toBe('1.00');
    await world.allWritten();
    await expectReported({});
  });

  test('a challenge whose listened scores are lost calibrates until the scores are forwarded again', async () => {
    const { id } = await world.newChallenge(CALIBRATING, developer.program);
    const target = await newTarget(partner(), { descriptor: playerDescriptor({ challenge_id: id }) });
    const listenTo = async (player: string, score: number) => {
      const body = { id: randomUUID(), player, score };
      const { results } = expectStatus(200, await push<PushResults>(world.http, target, body)).body;
      expect(results).toMatchObject([{ status: 'listened' }]);
    };
    const read = async () => expectStatus(200, await world.operator.getChallenge(id)).body;
    const until = (collected: number) =>
      eventually(async () => ((await read()).calibration?.collected === collected ? true : undefined), 'scores count');
    await listenTo('one', 10);
    await until(1);
    const [{ now } = { now: '' }] = await world.stack
      .database('integration')
      .query<{ now: string }>('select now()::text');
    const { expectReported } = await losing(['challenge'], async () => {
      await listenTo('one', 20);
      await listenTo('other', 30);
      await eventually(async () => ((await read()).status === 'live' ? true : undefined), 'the challenge is live');
    });
    expect(await read()).toMatchObject({ status: 'calibrating', calibration: { collected: 1, playersCollected: 1 } });
    await expectReported({});

    await sql('integration', 'update listened_samples set forwarded_at = null where forwarded_at > $1', now);
    await eventually(async () => ((await read()).status === 'live' ? true : undefined), 'the challenge is live again');
    expect(await read()).toMatchObject({ threshold: 30, calibration_source: 'listened' });
    expect(await sql('challenge', 'select score from bar_samples where challenge_id = $1 order by score', id)).toEqual(
      [10, 20, 30].map((score) => ({ score })),
    );
    await expectReported({});
  });

  test('a challenge whose suspension by the drift monitor is lost is suspended again at the next outcome', async () => {
    // Fifty losses in a row reject this claim, at the first attempt that is judged.
    const { id } = await world.newChallenge({ target_pass_rate: 0.6 }, developer.program);
    const player = await newPlayer('1000.00');
    const entry = { challenge_id: id, player_ref: player.ref };
    const lose = async () => report((await enter(entry)).body.id, 0);
    const suspended = () =>
      eventually(async () => {
        const { body } = expectStatus(200, await world.operator.getChallenge(id));
        return body.status === 'suspended' ? true : undefined;
      }, 'the challenge is suspended');
    const webhooks = () =>
      new Set(
        hook
          .requests()
          .filter(({ json }) => json.event === 'challenge.suspended' && json.data.challenge_id === id)
          .map(({ deliveryId }) => deliveryId),
      );
    for (let attempt = 1; attempt < 50; attempt += 1) await lose();
    const last = await enter(entry);
    const { expectReported } = await losing(['challenge'], async () => {
      await report(last.body.id, 0);
      await suspended();
      await hook.event('challenge.suspended', id);
    });
    expect(expectStatus(200, await partner().getAttempt(last.body.id)).body.status).toBe('open');
    await lose();
    await suspended();
    await world.allDelivered();
    expect(webhooks().size).toBe(2);
    await expectReported({});
  });

  test('an event whose removal from the outbox is lost is published again but not delivered again', async () => {
    const player = await newPlayer();
    const attempt = await enter(await ENTRY.challenge(player));
    await world.allWritten();
    await world.stack.stop('webhook');
    await report(attempt.body.id, 1);
    await eventually(
      async () => (await sql('challenge', 'select 1 from outbox')).length > 0 || undefined,
      'the event is in the outbox',
    );
    await losingWritesOf(world.stack, ['challenge'], async () => {
      await world.stack.restart('webhook');
      await hook.event('attempt.settled', attempt.body.id);
      await world.allAcknowledged();
    });
    await world.allDelivered();
    expect(sends('attempt.settled', attempt.body.id)).toBe(1);
  });
});

describe('the database of the tournament service loses its last second', () => {
  test('a round whose end is lost ends again with the same payouts', async () => {
    const [first, second] = [await newPlayer(), await newPlayer()];
    const round = await world.newRound({}, developer.program);
    const receipts: string[] = [];
    for (const [index, player] of [first, second].entries()) {
      const attempt = await enter({ tournament_round_id: round.id, player_ref: player.ref });
      receipts.push((await report(attempt.body.id, 20 - index)).body.receipt_id);
    }
    const close = async () => {
      expect(expectStatus(200, await partner().closeRound(round.id)).body.status).toBe('settled');
      return expectStatus(200, await world.operator.getReceipt(receipts[0] ?? '')).body.seal;
    };
    const { result: seal, expectReported } = await losing(['tournament'], close);

    const balances = async () => [await world.balance(first), await world.balance(second)];
    expect(await balances()).toEqual(['104.00', '102.00']);
    const board = fullBoard(await partner().getLeaderboard(round.id, first.ref));
    expect(board.round.status).toBe('open');
    expect(board.data.map((row) => row.payout_status)).toEqual(['none', 'none']);
    await expectReported({ purse_payout_has_its_rank: 2 });

    const again = await close();
    expect(again?.statement.root).toBe(seal?.statement.root);
    expect(again?.signature).not.toBe(seal?.signature);
    expect(await balances()).toEqual(['104.00', '102.00']);
    await expectReported({});
    await world.allDelivered();
    const ended = hook.requests().filter(({ json }) => json.data.tournament_round_id === round.id);
    expect(ended.filter(({ json }) => json.event === 'round.settled')).toHaveLength(1);
  });

  test('the purse of a rank stays with the player who was paid although the score of that player was lost', async () => {
    const [early, late] = [await newPlayer(), await newPlayer()];
    const round = await world.newRound({ purse_table: [{ rank: 1, amount: '5.00' }] }, developer.program);
    const attempts = [];
    for (const player of [early, late])
      attempts.push(await enter({ tournament_round_id: round.id, player_ref: player.ref }));
    const [ofEarly, ofLate] = attempts.map(({ body }) => body.id);
    await report(ofEarly ?? '', 10);
    const { expectReported } = await losing(['tournament'], async () => {
      await report(ofLate ?? '', 20);
      expectStatus(200, await partner().closeRound(round.id));
    });
    const board = async () => fullBoard(await partner().getLeaderboard(round.id, early.ref));
    expectError(500, 'internal_error', await partner().closeRound(round.id));
    expect(await sql('tournament', 'select status from rounds where id = $1', round.id)).toEqual([
      { status: 'settling' },
    ]);
    expect((await board()).data).toMatchObject([{ player_ref: early.ref, payout_status: 'none' }]);
    // The fee of the attempt whose score is lost is returned.
    const balances = async () => [await world.balance(early), await world.balance(late)];
    await eventually(async () => (await balances())[1] === '105.00' || undefined, 'the fee is returned');
    expect(await balances()).toEqual(['99.00', '105.00']);
    await expectReported({ purse_has_its_payout: 1 });

    const closed = await sql(
      'tournament',
      `update round_payouts set status = 'denied' where round_id = $1 and status = 'paying' returning final_rank`,
      round.id,
    );
    expect(closed).toEqual([{ final_rank: 1 }]);
    await eventually(async () => (await board()).round.status === 'settled' || undefined, 'the round has ended');
    expect((await board()).data).toMatchObject([
      { player_ref: early.ref, final_rank: 1, payout_amount: '5.00', payout_status: 'held' },
    ]);
    expect(await balances()).toEqual(['99.00', '105.00']);
    await expectReported({ purse_has_its_payout: 1 });
  });
});

describe.each(CONTEST_SERVICES)(
  'the database of the wallet loses its last second, with attempts of the %s service',
  (contestService) => {
    const checks = CHECKS[contestService];

    test(`an attempt of the ${contestService} service whose fee is lost is played free`, async () => {
      const player = await newPlayer();
      const entry = await ENTRY[contestService](player);
      const key = randomUUID();
      const { result, expectReported } = await losing(['wallet'], async () => {
        const attempts = [await enter(entry, key), await enter(entry), await enter(entry)];
        await world.allWritten();
        return attempts;
      });
      const [charged, played, ended] = result.map(({ body }) => body.id);
      expect(await world.balance(player)).toBe('100.00');
      await expectReported({ [checks.attemptWithoutFee]: 3 });
      expect(expectStatus(200, await partner().getAttempt(charged ?? '')).body).toMatchObject({
        status: 'open',
        fee_charged: '1.00',
      });

      expectError(500, 'internal_error', await partner().expireAttempt(ended ?? ''));
      expectError(500, 'internal_error', await partner().getAttempt(ended ?? ''));
      expect(await sql(contestService, 'select status from attempts where id = $1', ended)).toEqual([
        { status: 'expiring' },
      ]);
      await expectReported({ [checks.attemptWithoutFee]: 3 });

      await sql(contestService, `update attempts set status = 'pending' where id = $1`, charged);
      const first = result[0] ?? expect.fail('no attempt');
      await reopenKey(first);
      expect((await enter(entry, key)).body.id).toBe(charged);
      expect(await world.balance(player)).toBe('99.00');
      await expectReported({ [checks.attemptWithoutFee]: 2 });
      await report(played ?? '', 100);
      await sql(contestService, `delete from refunds_due where attempt_id = $1`, ended);
      await sql(contestService, `update attempts set status = 'pending' where id = $1`, ended);
      expectError(404, 'not_found', await partner().getAttempt(ended ?? ''));
      await world.allWritten();
      expect(await world.balance(player)).toBe(contestService === 'challenge' ? '104.00' : '99.00');
      await expectReported({ [checks.attemptWithoutFee]: 1 });
    });

    test(`the house keeps the fee of a lost refund of the ${contestService} service until the refund is queued again`, async () => {
      const player = await newPlayer();
      const attempt = await enter(await ENTRY[contestService](player));
      const { expectReported } = await losing(['wallet'], async () =>
        expectStatus(200, await partner().expireAttempt(attempt.body.id)),
      );
      expect(await world.balance(player)).toBe('99.00');
      expect(expectStatus(200, await partner().getAttempt(attempt.body.id)).body.status).toBe('expired');
      await expectReported({ [checks.refund]: 1 });

      await sql(
        contestService,
        contestService === 'challenge'
          ? `with ended as (update attempts set status = 'expiring' where id = $1 returning id)
           insert into refunds_due (attempt_id, since) select id, now() from ended`
          : `with ended as (update attempts set status = 'expiring' where id = $1 returning id)
           insert into refunds_due (attempt_id, since, reason) select id, now(), 'expired' from ended`,
        attempt.body.id,
      );
      await world.allDelivered();
      expect(await world.balance(player)).toBe('100.00');
      await expectReported({});
      expect(sends('attempt.refunded', attempt.body.id)).toBe(1);
    });
  },
);

describe('the database of the wallet loses its last second', () => {
  test('an award whose payment is lost is shown as paid until its payment is requested again', async () => {
    const player = await newPlayer();
    const attempt = await enter(await ENTRY.challenge(player));
    const key = randomUUID();
    const { result: won, expectReported } = await losing(['wallet'], () => report(attempt.body.id, 100, key));
    expect(await world.balance(player)).toBe('99.00');
    expectReplay(await report(attempt.body.id, 100, key), won);
    const read = expectStatus(200, await partner().getAttempt(attempt.body.id)).body;
    expect(read.outcome?.award?.paid_at).toBe(won.body.award?.paid_at);
    await expectReported({ award_has_its_payout: 1 });
    expectError(404, 'not_found', await world.operator.releasePayout(won.body.award?.id ?? ''));

    await sql('challenge', `update awards set status = 'paying', paid_at = null where id = $1`, won.body.award?.id);
    await world.allDelivered();
    expect(await world.balance(player)).toBe('104.00');
    await expectReported({});
    expect(sends('attempt.settled', attempt.body.id)).toBe(1);
  });

  test('a board whose payments are lost shows them as paid until they are requested again', async () => {
    const player = await newPlayer();
    const round = await world.newRound({}, developer.program);
    const attempt = await enter({ tournament_round_id: round.id, player_ref: player.ref });
    await report(attempt.body.id, 10);
    const { expectReported } = await losing(['wallet'], async () =>
      expectStatus(200, await partner().closeRound(round.id)),
    );
    expect(await world.balance(player)).toBe('99.00');
    const board = fullBoard(await partner().getLeaderboard(round.id, player.ref));
    expect(board.data).toMatchObject([{ payout_amount: '5.00', payout_status: 'paid' }]);
    await expectReported({ purse_has_its_payout: 1 });

    await sql('tournament', `update round_payouts set status = 'paying', paid_at = null where round_id = $1`, round.id);
    await world.allDelivered();
    expect(await world.balance(player)).toBe('104.00');
    await expectReported({});
  });

  test('a deposit with the same reference restores a lost deposit', async () => {
    const player = await newPlayer('0.00');
    const deposit = { environment: 'test', amount: '7.00', reference: randomUUID() };
    const { expectReported } = await losing(['wallet'], async () =>
      expectStatus(201, await world.operator.deposit(player.accountId, deposit)),
    );
    expect(await world.balance(player)).toBe('0.00');
    await expectReported({});
    expectStatus(201, await world.operator.deposit(player.accountId, deposit));
    expect(await world.balance(player)).toBe('7.00');
  });

  test('a lost block or player link has no effect until an operator or the partner repeats the request', async () => {
    const blocked = await newPlayer();
    const entry = await ENTRY.challenge(blocked);
    const ref = randomUUID();
    const { expectReported } = await losing(['wallet'], async () => {
      expectStatus(200, await world.operator.updateAccount(blocked.accountId, { blocked: true }));
      expectStatus(201, await partner().createPlayer(ref, '100.00'));
    });
    await enter(entry);
    expectError(402, 'insufficient_funds', await partner().createAttempt({ ...entry, player_ref: ref }));
    expectStatus(201, await partner().createPlayer(ref, '100.00'));
    await enter({ ...entry, player_ref: ref });
    expectStatus(200, await world.operator.updateAccount(blocked.accountId, { blocked: true }));
    expectError(403, 'blocked', await partner().createAttempt(entry));
    await world.allWritten();
    await expectReported({});
  });
});

/** For a moment after a restart of the integration service, the gateway's breaker refuses calls. */
const integrationsAnswer = () =>
  eventually(
    async () => (await createIntegrations(partner()).list()).status === 200 || undefined,
    'the integration service answers',
  );

/**
 * A program with a target of pushes, a win to push there, and a function that waits until the
 * integration service refuses further pushes.
 */
async function newPushingProgram() {
  const program = await world.newProgram({ id: developer.id });
  const target = await newTarget(program.test);
  const challenge = await world.newChallenge({}, program);
  return {
    program,
    target,
    newWin: async () => {
      const player = await world.newPlayer({ partner: program.test });
      const entry = { challenge_id: challenge.id, player_ref: player.ref };
      const { id } = expectStatus(201, await program.test.createAttempt(entry)).body;
      return { player, body: { attempt_id: id, score: 100 } };
    },
    changeTo: async (status: 'approved' | 'suspended') =>
      expectStatus(200, await world.operator.updateProgram(program.id, { status })),
    closedAgain: () =>
      eventually(async () => {
        const [facts] = await sql('integration', 'select open_environments from programs where id = $1', program.id);
        return JSON.stringify(facts) === '{"open_environments":[]}' || undefined;
      }, 'the integration service knows the suspension'),
  };
}

describe('the database of the gateway loses its last second', () => {
  test('the new keys of a lost program or replacement answer 401', async () => {
    const program = await world.newProgram();
    const { result, expectReported } = await losing(['gateway'], async () => {
      const replaced = expectStatus(200, await world.operator.replaceLiveKey(program.id)).body;
      expectError(401, 'unauthorized', await program.live.listTournaments());
      return { key: replaced.live_key, program: await world.newProgram() };
    });
    expectStatus(200, await program.live.listTournaments());
    expectError(401, 'unauthorized', await createPartner(world.http, result.key).listTournaments());
    expectError(401, 'unauthorized', await result.program.test.listTournaments());
    const log = await world.operator.send<{ data: { action: string }[] }>(
      'GET',
      `/actions?subject=program:${program.id}`,
    );
    expect(expectStatus(200, log).body.data.map(({ action }) => action)).toEqual(['approve_program', 'create_program']);
    await expectReported({});
  });

  test('the log of operator actions loses a change that another service keeps', async () => {
    const { id } = await world.newChallenge({}, developer.program);
    await losing(['gateway'], async () =>
      expectStatus(200, await world.operator.updateChallenge(id, { status: 'closed' })),
    );
    expect(expectStatus(200, await world.operator.getChallenge(id)).body.status).toBe('closed');
    const log = await world.operator.send<{ data: { action: string }[] }>('GET', `/actions?subject=challenge:${id}`);
    expect(expectStatus(200, log).body.data.map(({ action }) => action)).toEqual(['create_challenge']);
  });

  test('a program whose suspension is lost has access to /v1, while its pushes are refused', async () => {
    const { program, target, newWin, changeTo } = await newPushingProgram();
    const { player, body } = await newWin();
    const { expectReported } = await losing(['gateway'], async () => {
      await changeTo('suspended');
      expectError(401, 'unauthorized', await program.test.listTournaments());
    });
    expectStatus(200, await program.test.listTournaments());
    expectError(404, 'not_found', await push(world.http, target, body));
    await changeTo('suspended');
    expectError(401, 'unauthorized', await program.test.listTournaments());
    expectError(404, 'not_found', await push(world.http, target, body));
    expect(await world.balance(player)).toBe('99.00');
    await expectReported({});
  });

  test('a program whose suspension ended in the lost second has no access to /v1, while its pushes settle', async () => {
    const { program, target, newWin, changeTo } = await newPushingProgram();
    const [paid, refused] = [await newWin(), await newWin()];
    await changeTo('suspended');
    const { expectReported } = await losing(['gateway'], () => changeTo('approved'));
    expectError(401, 'unauthorized', await program.test.listTournaments());
    expectStatus(200, await push(world.http, target, paid.body));
    expect(await world.balance(paid.player)).toBe('104.00');
    await changeTo('suspended');
    expectError(404, 'not_found', await push(world.http, target, refused.body));
    await changeTo('approved');
    expectStatus(200, await program.test.listTournaments());
    expectStatus(200, await push(world.http, target, refused.body));
    await world.allWritten();
    await expectReported({});
  });

  const openSession = () => signIn(world.http, { email: developer.email, password: developer.password });

  test('a session that was ended in the lost second is valid again', async () => {
    const closed = createPortal(world.http, expectStatus(201, await openSession()).body.token);
    const { result: opened } = await losing(['gateway'], async () => {
      expectStatus(204, await closed.signOut());
      return createPortal(world.http, expectStatus(201, await openSession()).body.token);
    });
    expectError(401, 'unauthorized', await opened.listPrograms());
    expectStatus(200, await closed.listPrograms());
  });
});

describe('the database of the webhook service loses its last second', () => {
  /** For a moment after a restart, the gateway's breaker refuses calls to the webhook service. */
  const webhookAnswers = () =>
    eventually(
      async () => (await developer.portal.listEndpoints()).status === 200 || undefined,
      'the webhook service answers',
    );

  test('a lost delivery that waited for its retry is never sent again', async () => {
    const player = await newPlayer();
    const other = await world.newReceiver(developer, { answer: { status: 503 } });
    const attempt = await enter(await ENTRY.challenge(player));
    const { result: deliveryId, expectReported } = await losing(['webhook'], async () => {
      await report(attempt.body.id, 1);
      const { deliveryId } = await other.event('attempt.settled', attempt.body.id);
      await other.delivery(deliveryId, ({ attempts }) => attempts[0]?.http_status === 503);
      return deliveryId;
    });
    await webhookAnswers();
    expect(await other.log()).toEqual([]);
    expect(await sql('challenge', 'select 1 from outbox')).toEqual([]);
    expectError(404, 'not_found', await partner().retryNow(deliveryId));
    expect(expectStatus(200, await partner().getAttempt(attempt.body.id)).body.status).toBe('settled');
    await expectReported({});
    expectStatus(204, await developer.portal.deleteEndpoint(other.endpoint.id));
  });

  test('a send whose record is lost is sent again under the same delivery id', async () => {
    const player = await newPlayer();
    const other = await world.newReceiver(developer, { answer: { status: 503 } });
    const attempt = await enter(await ENTRY.challenge(player));
    await report(attempt.body.id, 1);
    const { deliveryId } = await other.event('attempt.settled', attempt.body.id);
    const sent = (count: number) => (delivery: DeliveryBody) => delivery.attempts[count - 1]?.http_status === 503;
    const retry = async () => {
      expectStatus(202, await partner().retryNow(deliveryId));
      await other.delivery(deliveryId, sent(2));
    };
    await other.delivery(deliveryId, sent(1));
    await losing(['webhook'], retry);
    await webhookAnswers();
    expect((await other.delivery(deliveryId, sent(1))).attempts).toHaveLength(1);
    await retry();
    expect(other.sendsOf(deliveryId)).toHaveLength(3);
    expectStatus(204, await developer.portal.deleteEndpoint(other.endpoint.id));
  });

  test('an endpoint that was deleted in the lost second gets events again', async () => {
    const deleted = await world.newReceiver(developer);
    const rotated = await world.newReceiver(developer);
    const { result: created } = await losing(['webhook'], async () => {
      expectStatus(204, await developer.portal.deleteEndpoint(deleted.endpoint.id));
      expectStatus(200, await developer.portal.rotateSecret(rotated.endpoint.id));
      return world.newReceiver(developer);
    });
    await webhookAnswers();
    expectError(404, 'not_found', await developer.portal.getEndpoint(created.endpoint.id));
    const { delivery_id } = expectStatus(202, await developer.portal.sendTest(deleted.endpoint.id)).body;
    await deleted.find((one) => one.deliveryId === delivery_id);
    const test = expectStatus(202, await developer.portal.sendTest(rotated.endpoint.id)).body;
    const request = await rotated.find((one) => one.deliveryId === test.delivery_id);
    const signature = String(request.headers['x-webhook-signature']);
    expect(await verify(rotated.secret, request.body.toString(), signature)).toBe(true);
    for (const { endpoint } of [deleted, rotated])
      expectStatus(204, await developer.portal.deleteEndpoint(endpoint.id));
  });
});

describe('the database of the integration service loses its last second', () => {
  const integrations = () => createIntegrations(partner());
  const shownOf = async ({ id }: Pick<Target, 'id'>) =>
    expectStatus(200, await integrations().list()).body.data.find((shown) => shown.id === id);

  const losingIntegrations = async <Result>(work: () => Promise<Result>) => {
    const lost = await losing(['integration'], work);
    await integrationsAnswer();
    return lost;
  };

  /** A new attempt of a new player, which a push would settle as a win of 5.00. */
  const newWin = async () => {
    const player = await newPlayer();
    const { id } = (await enter(await ENTRY.challenge(player))).body;
    return { player, id, body: { attempt_id: id, score: 100 } };
  };

  /** A target for reports that name the player, and the request that enters the player. */
  const newNamedPlayer = async () => {
    const player = await newPlayer();
    const parent = { challenge_id: (await world.newChallenge({}, developer.program)).id };
    const target = await newTarget(partner(), { descriptor: playerDescriptor(parent) });
    return {
      player,
      entry: { ...parent, player_ref: player.ref },
      target,
      body: { id: randomUUID(), player: player.ref },
    };
  };

  const logOf = async ({ id }: Pick<Target, 'id'>) =>
    expectStatus(200, await developer.portal.send<{ data: LogEntryBody[] }>('GET', `/integrations/${id}/log`)).body
      .data;

  test('pushes to a lost integration are 401 and settle nothing', async () => {
    const { result: target, expectReported } = await losingIntegrations(() => newTarget(partner()));
    const { player, body } = await newWin();
    expect(await shownOf(target)).toBeUndefined();
    expectError(404, 'not_found', await integrations().rotateSecret(target.id));
    expectError(401, 'unauthorized', await push(world.http, target, body));
    expect(await world.balance(player)).toBe('99.00');
    expectStatus(200, await push(world.http, await newTarget(partner()), body));
    expect(await world.balance(player)).toBe('104.00');
    await world.allWritten();
    await expectReported({});
  });

  test('a secret that was issued by a lost rotation verifies nothing', async () => {
    const target = await newTarget(partner());
    const rotate = async () => expectStatus(200, await integrations().rotateSecret(target.id)).body.signing_secret;
    const { result: shown } = await losingIntegrations(rotate);
    const { body } = await newWin();
    expectError(401, 'unauthorized', await push(world.http, { ...target, secret: shown }, body));
    expectStatus(200, await push(world.http, target, body));
    const again = await rotate();
    expect(again).not.toBe(shown);
    expectStatus(200, await push(world.http, { ...target, secret: again }, body));
  });

  test('a retired secret verifies again after its retirement is lost', async () => {
    const [target, other] = [await newTarget(partner()), await newTarget(partner())];
    const retire = async ({ id }: Target) => expectStatus(200, await integrations().retirePreviousSecret(id));
    for (const { id } of [target, other]) expectStatus(200, await integrations().rotateSecret(id));
    const [paid, refused] = [await newWin(), await newWin()];
    const { expectReported } = await losingIntegrations(async () => {
      for (const retired of [target, other]) {
        await retire(retired);
        expectError(401, 'unauthorized', await push(world.http, retired, paid.body));
      }
    });
    expectStatus(200, await push(world.http, target, paid.body));
    expect(await world.balance(paid.player)).toBe('104.00');
    await retire(target);
    expect((await push(world.http, other, paid.body)).status).toBe(200);
    await sql('integration', 'update integrations set previous_signing_secret = null where id = $1', other.id);
    for (const retired of [target, other])
      expectError(401, 'unauthorized', await push(world.http, retired, refused.body));
    expect(await world.balance(refused.player)).toBe('99.00');
    await world.allWritten();
    await expectReported({});
  });

  test('an integration whose suspension is lost settles pushes until it is suspended again', async () => {
    const target = await newTarget(partner());
    const pull = { url: 'https://127.0.0.1:8443/', paging: { type: 'none' } };
    const polled = expectStatus(
      201,
      await integrations().create({
        transport: 'pull_poll',
        descriptor: { version: 1, map: { attempt: { attempt_id: '/a' }, score: '/s' }, pull },
        pull_interval_seconds: 3600,
      }),
    ).body;
    expectStatus(200, await integrations().update(polled.id, { status: 'active' }));
    const other = await newTarget(partner());
    const [paid, refused] = [await newWin(), await newWin()];
    const suspend = async (...ids: readonly string[]) => {
      for (const id of ids) expectStatus(200, await integrations().update(id, { status: 'suspended' }));
    };
    const { expectReported } = await losingIntegrations(async () => {
      await suspend(target.id, other.id, polled.id);
      expectError(404, 'not_found', await push(world.http, target, paid.body));
    });
    for (const shown of [target, other]) expect(await shownOf(shown)).toMatchObject({ status: 'active' });
    expect(await shownOf(polled)).toMatchObject({ status: 'active', next_poll_at: expect.any(String) });
    expectStatus(200, await push(world.http, target, paid.body));
    expect(await world.balance(paid.player)).toBe('104.00');
    await suspend(target.id);
    for (const { id } of [other, polled])
      await sql('integration', `update integrations set status = 'suspended', next_poll_at = null where id = $1`, id);
    for (const suspended of [target, other])
      expectError(404, 'not_found', await push(world.http, suspended, refused.body));
    expect(await shownOf(polled)).toMatchObject({ status: 'suspended', next_poll_at: null });
    expect(await world.balance(refused.player)).toBe('99.00');
    await world.allWritten();
    await expectReported({});
  });

  test('the gateway suspends a program again at a service that lost the suspension', async () => {
    const { program, target, newWin, changeTo, closedAgain } = await newPushingProgram();
    const { player, body } = await newWin();
    const { expectReported } = await losingIntegrations(async () => {
      await changeTo('suspended');
      expectError(404, 'not_found', await push(world.http, target, body));
    });
    await closedAgain();
    expectError(401, 'unauthorized', await program.test.listTournaments());
    expectError(404, 'not_found', await push(world.http, target, body));
    expect(await world.balance(player)).toBe('99.00');
    // The end of the suspension is newer than the announcement that the gateway repeats.
    await changeTo('approved');
    expectStatus(200, await push(world.http, target, body));
    expect(await world.balance(player)).toBe('104.00');
    await world.allWritten();
    await expectReported({});
  });

  test('pushes of a program whose suspension is lost for over ten minutes settle until programs are announced again', async () => {
    const { program, target, newWin, changeTo, closedAgain } = await newPushingProgram();
    const [paid, refused] = [await newWin(), await newWin()];
    const ageChange = async (service: 'gateway' | 'integration', columns: readonly string[]) => {
      const aged = columns.map((column) => `${column} = ${column} - 3600 * 1000000::bigint`);
      await sql(service, `update programs set ${aged} where id = $1`, program.id);
    };
    for (let hours = 0; hours < 2; hours += 1) {
      await ageChange('gateway', ['version', 'announced_version']);
      await ageChange('integration', ['version']);
    }
    const { expectReported } = await losingIntegrations(async () => {
      await changeTo('suspended');
      expectError(404, 'not_found', await push(world.http, target, paid.body));
      await ageChange('gateway', ['version', 'announced_version']);
    });
    expectError(401, 'unauthorized', await program.test.listTournaments());
    expectStatus(200, await push(world.http, target, paid.body));
    expect(await world.balance(paid.player)).toBe('104.00');

    await sql('gateway', 'update programs set announced_version = 0');
    await closedAgain();
    expectError(404, 'not_found', await push(world.http, target, refused.body));
    expect(await world.balance(refused.player)).toBe('99.00');
    await world.allWritten();
    await expectReported({});
  });

  /**
   * Ages the contest service's record of the report by 24 hours, after which it no longer counts.
   */
  const endKeyUse = async (target: Target, body: { readonly id: string }) => {
    const aged = await sql(
      'challenge',
      `update key_uses set used_at = used_at - interval '24 hours' where key_id = $1 returning key_id`,
      hashId('report', target.id, body.id),
    );
    expect(aged).toHaveLength(1);
  };

  test('a report whose pair (report, attempt) is lost settles no other attempt for 24 hours', async () => {
    const { player, entry, target, body } = await newNamedPlayer();
    const first = (await enter(entry)).body.id;
    const report = { ...body, score: 1 };
    const late = { ...report, id: randomUUID() };
    const { expectReported } = await losingIntegrations(async () => {
      const settled = expectStatus(200, await push(world.http, target, report));
      expect(settled.body.attempt_id).toBe(first);
      expect((await push(world.http, target, report)).text).toBe(settled.text);
      await enter(entry);
      expectStatus(200, await push(world.http, target, late));
    });
    expectError(404, 'not_found', await push(world.http, target, report));
    const second = (await enter(entry)).body.id;
    expectError(409, 'attempt_already_settled', await push(world.http, target, report));
    expect(expectStatus(200, await partner().getAttempt(second)).body.status).toBe('open');
    expect(await world.balance(player)).toBe('97.00');

    await endKeyUse(target, late);
    const settled = expectStatus(200, await push(world.http, target, late));
    expect(settled.body.attempt_id).toBe(second);
    await world.allWritten();
    await expectReported({});
  });

  test('a report whose pair (report, attempt) is lost stays bound to the attempt that was open at its first refusal', async () => {
    const { entry, target, body } = await newNamedPlayer();
    const reports = [1, 2].map((score) => ({ ...body, id: randomUUID(), score }));
    const [ofOpen, ofEnded] = [reports[0] ?? expect.fail(), reports[1] ?? expect.fail()];
    const { expectReported } = await losingIntegrations(async () => {
      for (const report of reports) {
        await enter(entry);
        expectStatus(200, await push(world.http, target, report));
      }
    });
    const ended = (await enter(entry)).body.id;
    expectError(409, 'attempt_already_settled', await push(world.http, target, ofEnded));
    expectStatus(200, await partner().expireAttempt(ended));
    const open = (await enter(entry)).body.id;
    expectError(409, 'attempt_already_settled', await push(world.http, target, ofOpen));

    for (const report of reports) await endKeyUse(target, report);
    expectError(409, 'attempt_already_settled', await push(world.http, target, ofEnded));
    expect(expectStatus(200, await partner().getAttempt(open)).body.status).toBe('open');
    expect(expectStatus(200, await push(world.http, target, ofOpen)).body.attempt_id).toBe(open);
    await world.allWritten();
    await expectReported({});
  });

  test('a body whose listened sample is lost settles an attempt that the player has opened meanwhile', async () => {
    const player = await newPlayer();
    const challenge = await world.newChallenge({ status: 'calibrating', threshold: null }, developer.program);
    const parent = { challenge_id: challenge.id };
    const target = await newTarget(partner(), { descriptor: playerDescriptor(parent) });
    const listenedTo = async (body: object) => {
      const { results } = expectStatus(200, await push<PushResults>(world.http, target, body)).body;
      return results.map(({ status }) => status);
    };
    const samples = () =>
      sql('integration', 'select score from listened_samples where challenge_id = $1', challenge.id);
    const [kept, lost, late] = [1, 2, 3].map((score) => ({ id: randomUUID(), player: player.ref, score }));
    expect(await listenedTo(kept ?? {})).toEqual(['listened']);
    const { expectReported } = await losingIntegrations(async () => {
      for (const body of [lost, late]) expect(await listenedTo(body ?? {})).toEqual(['listened']);
    });
    expect(await samples()).toEqual([{ score: 1 }]);
    expect(await listenedTo(lost ?? {})).toEqual(['listened']);
    expect(await samples()).toHaveLength(2);

    const { id } = (await enter({ ...parent, player_ref: player.ref })).body;
    for (const body of [kept, lost]) expect(await listenedTo(body ?? {})).toEqual(['listened']);
    expect(expectStatus(200, await push(world.http, target, late ?? {})).body.attempt_id).toBe(id);
    await world.allWritten();
    await expectReported({});
  });

  test.each(['by id', 'by player'] as const)(
    'a report %s on a page that is polled again after its cursor is lost settles no other attempt',
    async (flow) => {
      const { player, entry, body } = await newNamedPlayer();
      const first = (await enter(entry)).body.id;
      const event = flow === 'by id' ? { attempt_id: first, score: 1 } : { ...body, score: 1 };
      await using receiver = await startReceiver({ ca: world.stack.ca });
      receiver.answerWith({ body: JSON.stringify({ events: [] }) });
      const byId = { version: 1, map: { attempt: { attempt_id: '/attempt_id' }, score: '/score' } };
      const read = flow === 'by id' ? byId : playerDescriptor({ challenge_id: entry.challenge_id });
      const paging = { type: 'cursor', param: 'after', pointer: '/next' };
      const descriptor = {
        ...read,
        map: { ...read.map, records: '/events' },
        pull: { url: `${receiver.url}/events`, paging, max_pages: 1 },
      };
      const { id } = expectStatus(
        201,
        await integrations().create({ transport: 'pull_poll', descriptor, pull_interval_seconds: 3600 }),
      ).body;
      expectStatus(200, await integrations().update(id, { status: 'active' }));
      const poll = async () => {
        await sql('integration', 'update integrations set next_poll_at = now() where id = $1', id);
        return eventually(async () => {
          const [state] = await sql(
            'integration',
            'select cursor from integrations where id = $1 and leased_until is null and next_poll_at > now()',
            id,
          );
          return state;
        }, 'the poll has ended');
      };
      expect(await poll()).toEqual({ cursor: null });

      receiver.answerWith({ body: JSON.stringify({ events: [event], next: 'c1' }) });
      const { expectReported } = await losingIntegrations(async () => {
        expect(await poll()).toEqual({ cursor: 'c1' });
        expect((await logOf({ id }))[0]?.records).toMatchObject([{ status: 'settled', attempt_id: first }]);
      });
      const second = (await enter(entry)).body.id;
      const before = receiver.requests.length;
      expect(await poll()).toEqual({ cursor: 'c1' });
      expect(receiver.requests.slice(before).map(({ path }) => path)).toEqual(['/events']);
      const [logged] = await logOf({ id });
      expect(logged?.records).toMatchObject([
        flow === 'by id'
          ? { status: 'duplicate', attempt_id: first }
          : { status: 'rejected', code: 'attempt_already_settled', attempt_id: second },
      ]);
      expect(expectStatus(200, await partner().getAttempt(second)).body.status).toBe('open');
      expect(await world.balance(player)).toBe('98.00');
      await world.allWritten();
      await expectReported({});
    },
  );

  test('a push whose log is lost stays settled', async () => {
    const target = await newTarget(partner());
    const { player, body } = await newWin();
    const logged = () =>
      eventually(async () => ((await logOf(target)).length > 0 ? logOf(target) : undefined), 'the log has the push');
    const { result: settled, expectReported } = await losingIntegrations(async () => {
      const answer = expectStatus(200, await push(world.http, target, body));
      await logged();
      return answer;
    });
    expect(await logOf(target)).toEqual([]);
    const again = await push(world.http, target, body);
    expect([again.status, again.text]).toEqual([200, settled.text]);
    expect((await logged()).map(({ records }) => records[0]?.status)).toEqual(['duplicate']);
    expect(await world.balance(player)).toBe('104.00');
    await world.allWritten();
    await expectReported({});
  });
});

test('NATS loses its last second, and unacknowledged events are published again and delivered once', async () => {
  const player = await newPlayer();
  const attempt = await enter(await ENTRY.challenge(player));
  await world.allWritten();
  await world.stack.stop('webhook');
  await report(attempt.body.id, 1);
  await eventually(async () => {
    const { purged } = await withBroker(world.stack, ({ streams }, stream) => streams.purge(stream));
    return purged > 0 || undefined;
  }, 'the stream had the event and lost it');
  await world.stack.restart('webhook');
  await hook.event('attempt.settled', attempt.body.id);
  await world.allDelivered();
  expect(sends('attempt.settled', attempt.body.id)).toBe(1);
});

describe('several databases lose the same second', () => {
  const MONEY = ['wallet', 'challenge', 'tournament'] as const;

  test('no player is charged or paid if wallet and contest services lose the same second', async () => {
    const player = await newPlayer();
    const entry = await ENTRY.challenge(player);
    const key = randomUUID();
    const { result: created, expectReported } = await losing(MONEY, async () => {
      const attempt = await enter(entry, key);
      await report(attempt.body.id, 100);
      return attempt;
    });
    expect(await world.balance(player)).toBe('100.00');
    await expectReported({});
    expectReplay(await enter(entry, key), created);
    expectError(404, 'not_found', await partner().getAttempt(created.body.id));
    await reopenKey(created);
    expect((await enter(entry, key)).body.id).toBe(created.body.id);
    expect(await world.balance(player)).toBe('99.00');
  });

  test('a report in the second that wallet and contest services lose settles no other attempt', async () => {
    const player = await newPlayer();
    const parent = { challenge_id: (await world.newChallenge({}, developer.program)).id };
    const entry = { ...parent, player_ref: player.ref };
    const target = await newTarget(partner(), { descriptor: playerDescriptor(parent) });
    const key = randomUUID();
    const body = { id: randomUUID(), player: player.ref, score: 100 };
    const { result: created, expectReported } = await losing(MONEY, async () => {
      const attempt = await enter(entry, key);
      expectStatus(200, await push(world.http, target, body));
      return attempt;
    });
    const other = await enter(entry);
    // For a moment after a restart, the integration service's breaker refuses calls to the contest
    // service.
    const answered = await eventually(async () => {
      const answer = await push(world.http, target, body);
      return answer.status === 500 ? undefined : answer;
    }, 'the contest service answers');
    expectError(404, 'not_found', answered);
    expect(expectStatus(200, await partner().getAttempt(other.body.id)).body.status).toBe('open');
    await reopenKey(created);
    expect((await enter(entry, key)).body.id).toBe(created.body.id);
    const settled = expectStatus(200, await push<Outcome>(world.http, target, body));
    expect(settled.body.attempt_id).toBe(created.body.id);
    expect(await world.balance(player)).toBe('103.00');
    await world.allWritten();
    await expectReported({});
  });

  test('a repeated request is charged once if all six databases lose the same second', async () => {
    const player = await newPlayer();
    const parent = { challenge_id: (await world.newChallenge({}, developer.program)).id };
    const entry = { ...parent, player_ref: player.ref };
    const target = await newTarget(partner(), { descriptor: playerDescriptor(parent) });
    const key = randomUUID();
    const body = { id: randomUUID(), player: player.ref, score: 100 };
    const { result: created, expectReported } = await losing(
      [...MONEY, 'webhook', 'integration', 'gateway'],
      async () => {
        const attempt = await enter(entry, key);
        expect(expectStatus(200, await push(world.http, target, body)).body.attempt_id).toBe(attempt.body.id);
        expect(await world.balance(player)).toBe('104.00');
        return attempt;
      },
    );
    await integrationsAnswer();
    expect(await world.balance(player)).toBe('100.00');
    expectError(404, 'not_found', await push(world.http, target, body));
    const again = await enter(entry, key);
    expect(again.body.id).not.toBe(created.body.id);
    expect(await world.balance(player)).toBe('99.00');
    const settled = expectStatus(200, await push(world.http, target, body));
    expect(settled.body.attempt_id).toBe(again.body.id);
    expect((await push(world.http, target, body)).text).toBe(settled.text);
    expect(await world.balance(player)).toBe('104.00');
    await world.allWritten();
    await expectReported({});
  });
});
