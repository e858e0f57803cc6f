import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  eventually,
  expectError,
  expectStatus,
  fullBoard,
  joinWorld,
  liveTerms,
  type Player,
  type SharedWorld,
  startWorld,
  type World,
} from '../world.ts';

describe('refunds at an operator’s or a tester’s request', () => {
  let world: SharedWorld;
  beforeAll(async () => {
    world = await joinWorld();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  async function openAttempt(player: Player, terms = {}): Promise<string> {
    const challenge = await world.newChallenge(terms);
    const body = { challenge_id: challenge.id, player_ref: player.ref };
    return expectStatus(201, await world.partner.createAttempt(body)).body.id;
  }

  test('expire returns the fee before it answers, and only once', async () => {
    const player = await world.newPlayer();
    const id = await openAttempt(player, { fee: '3.00' });
    expect(await world.balance(player)).toBe('97.00');
    const answer = expectStatus(200, await world.partner.expireAttempt(id));
    expect(answer.body).toMatchObject({ id, status: 'expired', fee_charged: '3.00', outcome: null });
    expect(await world.balance(player)).toBe('100.00');
    const again = await world.partner.expireAttempt(id);
    expect([200, 409]).toContain(again.status);
    expect(await world.balance(player)).toBe('100.00');
  });

  test('20 parallel expiries return the fee once', async () => {
    const player = await world.newPlayer();
    const id = await openAttempt(player);
    await Promise.all(Array.from({ length: 20 }, () => world.partner.expireAttempt(id)));
    expect(await world.balance(player)).toBe('100.00');
    expect(expectStatus(200, await world.partner.getAttempt(id)).body.status).toBe('expired');
  });

  test('a settled attempt cannot expire', async () => {
    const player = await world.newPlayer();
    const id = await openAttempt(player);
    expectStatus(200, await world.partner.reportOutcome(id, { score: 1 }));
    expectError(409, 'attempt_already_settled', await world.partner.expireAttempt(id));
    expectError(409, 'conflict', await world.operator.voidAttempt(id, 'too late'));
    expect(await world.balance(player)).toBe('99.00');
  });

  test('an unknown attempt cannot be expired or voided', async () => {
    expectError(404, 'not_found', await world.partner.expireAttempt(randomUUID()));
    expectError(404, 'not_found', await world.operator.voidAttempt(randomUUID(), 'nothing there'));
  });

  test('void returns the fee before it answers, and only once', async () => {
    const player = await world.newPlayer();
    const id = await openAttempt(player);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => world.operator.voidAttempt(id, 'reported broken')),
    );
    expect(answers.filter((answer) => answer.status === 200).length).toBeGreaterThanOrEqual(1);
    for (const answer of answers) if (answer.status !== 200) expectError(409, 'conflict', answer);
    expect(expectStatus(200, await world.partner.getAttempt(id)).body).toMatchObject({
      status: 'voided',
      outcome: null,
    });
    expect(await world.balance(player)).toBe('100.00');
  });

  test('a free attempt expires without a movement of money', async () => {
    const terms = liveTerms({ status: 'calibrating' });
    delete terms.threshold;
    const challenge = expectStatus(201, await world.operator.createChallenge(world.program.id, terms)).body;
    const player = await world.newPlayer();
    const attempt = await world.partner.createAttempt({ challenge_id: challenge.id, player_ref: player.ref });
    const answer = await world.partner.expireAttempt(expectStatus(201, attempt).body.id);
    expect(expectStatus(200, answer).body).toMatchObject({ status: 'expired', fee_charged: '0.00' });
    const { data } = expectStatus(200, await world.operator.statement(player.accountId, 'test')).body;
    expect(data.map((line) => line.kind)).toEqual(['deposit']);
  });

  test('the refund goes to the account that paid, even when the ref is linked to another account by then', async () => {
    const payer = await world.newPlayer();
    const id = await openAttempt(payer);
    const other = await world.newPlayer();
    expectStatus(201, await world.partner.linkPlayer(payer.ref, other.email));
    expectStatus(200, await world.partner.expireAttempt(id));
    expect(await world.balance(payer)).toBe('100.00');
    expect(await world.balance(other)).toBe('100.00');
  });

  test('the sandbox cannot expire a live attempt', async () => {
    const challenge = await world.newChallenge({ environment: 'live' });
    const player = await world.newPlayer({ environment: 'live' });
    const attempt = await world.program.live.createAttempt({ challenge_id: challenge.id, player_ref: player.ref });
    const { id } = expectStatus(201, attempt).body;
    expectError(404, 'not_found', await world.partner.expireAttempt(id));
    expectStatus(401, await world.program.live.send('POST', `/api/sandbox/attempts/${id}/expire`));
    expectStatus(200, await world.operator.voidAttempt(id, 'an operator may'));
    expect(await world.balance(player, 'live')).toBe('100.00');
  });

  test('the audit is good after refunds on request', () => world.expectAuditOk());
});

describe('refunds at an attempt’s deadline', () => {
  const TTL_SECONDS = 3;
  let world: World;
  beforeAll(async () => {
    const owner = { ATTEMPT_TTL_SECONDS: String(TTL_SECONDS) };
    world = await startWorld({ environment: { challenge: owner, tournament: owner } });
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  test('an attempt without an outcome expires at its deadline and its fee is refunded; free and disqualified ones too', async () => {
    const challenge = await world.newChallenge({ score_max: 1000 });
    const terms = liveTerms({ status: 'calibrating' });
    delete terms.threshold;
    const calibrating = expectStatus(201, await world.operator.createChallenge(world.program.id, terms)).body;
    const player = await world.newPlayer();
    const entry = { challenge_id: challenge.id, player_ref: player.ref };
    const silent = expectStatus(201, await world.partner.createAttempt(entry)).body;
    const disqualified = expectStatus(201, await world.partner.createAttempt(entry)).body;
    const settled = expectStatus(201, await world.partner.createAttempt(entry)).body;
    const free = expectStatus(201, await world.partner.createAttempt({ ...entry, challenge_id: calibrating.id })).body;
    expectError(422, 'score_out_of_range', await world.partner.reportOutcome(disqualified.id, { score: 1001 }));
    expectStatus(200, await world.partner.reportOutcome(settled.id, { score: 1 }));

    await eventually(async () => {
      const statuses = await Promise.all(
        [silent, disqualified, free].map(async ({ id }) => (await world.partner.getAttempt(id)).body.status),
      );
      return statuses.every((status) => status === 'expired') || undefined;
    }, 'the attempts expired');
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(silent.created_at) + TTL_SECONDS * 1_000);
    expect(await world.balance(player)).toBe('99.00');
    expect(expectStatus(200, await world.partner.getAttempt(settled.id)).body.status).toBe('settled');
    for (const { id } of [silent, disqualified, free]) {
      expectError(409, 'attempt_already_settled', await world.partner.reportOutcome(id, { score: 100 }));
    }
  });

  test('an entry without a score expires at its deadline; its fee and its slot under the cap come back', async () => {
    const round = await world.newRound({ attempt_cap: 2 });
    const player = await world.newPlayer();
    const entry = { tournament_round_id: round.id, player_ref: player.ref };
    const settled = await world.playRound(round.id, player, 1);
    const silent = expectStatus(201, await world.partner.createAttempt(entry)).body;
    expectError(409, 'attempt_cap_reached', await world.partner.createAttempt(entry));
    await eventually(async () => {
      const read = expectStatus(200, await world.partner.getAttempt(silent.id)).body;
      return read.status === 'expired' || undefined;
    }, 'the entry expired');
    expect(await world.balance(player)).toBe('99.00');
    // The round still runs: the attempt's own deadline ended it.
    expectError(409, 'attempt_already_settled', await world.partner.reportOutcome(silent.id, { score: 2 }));
    expectStatus(201, await world.partner.createAttempt(entry));
    expect(expectStatus(200, await world.partner.getAttempt(settled.attempt_id)).body.status).toBe('settled');
    const { data } = fullBoard(await world.partner.getLeaderboard(round.id, player.ref));
    expect(data).toMatchObject([{ best_score: 1, paid_attempts: 2 }]);
    // The error names what ended the attempt first, also after the round has ended.
    expectStatus(200, await world.partner.closeRound(round.id));
    expectError(409, 'attempt_already_settled', await world.partner.reportOutcome(silent.id, { score: 2 }));
  });

  test('the audit is good after refunds at the deadline', () => world.expectAuditOk());
});

describe('the deadline of an attempt', () => {
  const TTL_SECONDS = 2;
  let world: World;
  beforeAll(async () => {
    // The sweeper sleeps for an hour: only the deadline itself can refuse the outcome.
    const owner = { ATTEMPT_TTL_SECONDS: String(TTL_SECONDS), SWEEP_INTERVAL_MS: '3600000' };
    world = await startWorld({ environment: { challenge: owner, tournament: owner } });
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  test.each(['a challenge', 'a round'])(
    'the deadline of an attempt in %s needs no sweep: a report after it is refused before any sweep has run',
    async (where) => {
      const parent =
        where === 'a round'
          ? { tournament_round_id: (await world.newRound()).id }
          : { challenge_id: (await world.newChallenge()).id };
      const player = await world.newPlayer();
      const attempt = await world.partner.createAttempt({ ...parent, player_ref: player.ref });
      const { id, created_at } = expectStatus(201, attempt).body;
      const dueAt = Date.parse(created_at) + TTL_SECONDS * 1_000;
      await eventually(async () => Date.now() >= dueAt || undefined, 'the deadline passed');
      expectError(409, 'attempt_already_settled', await world.partner.reportOutcome(id, { score: 100 }));
      const read = expectStatus(200, await world.partner.getAttempt(id)).body;
      expect(read.outcome).toBeNull();
      // The status is expired only once the fee is refunded.
      if (read.status === 'expired') expect(await world.balance(player)).toBe('100.00');
      else expect(await world.balance(player)).toBe('99.00');
    },
  );
});
