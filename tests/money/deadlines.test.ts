/** Time alone ends an attempt: its deadline passes, and the refund follows. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, expectError, expectStatus, fullBoard, liveTerms, startWorld, type World } from '../world.ts';

describe('refunds at an attempt’s deadline', () => {
  const TTL_SECONDS = 3;
  let world: World;
  beforeAll(async () => {
    const ofContests = { ATTEMPT_TTL_SECONDS: String(TTL_SECONDS) };
    world = await startWorld({ environment: { challenge: ofContests, tournament: ofContests } });
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  test('an attempt without an outcome expires at its deadline and its fee is refunded', async () => {
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

  test('an entry without a score expires at its deadline and its fee is refunded', async () => {
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
    // The error names what ended the attempt first, even after the end of the round.
    expectStatus(200, await world.partner.closeRound(round.id));
    expectError(409, 'attempt_already_settled', await world.partner.reportOutcome(silent.id, { score: 2 }));
  });

  test('the audit finds no violation after refunds at the deadline', () => world.expectAuditOk());
});

describe('the deadline of an attempt', () => {
  const TTL_SECONDS = 2;
  let world: World;
  beforeAll(async () => {
    // The sweeper sleeps for an hour: only the deadline itself can refuse the outcome.
    const ofContests = { ATTEMPT_TTL_SECONDS: String(TTL_SECONDS), SWEEP_INTERVAL_MS: '3600000' };
    world = await startWorld({ environment: { challenge: ofContests, tournament: ofContests } });
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  test.each(['a challenge', 'a round'])(
    'a report after the deadline of an attempt in %s is refused before any sweep has run',
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
