/**
 * Races that need several processes of each service. Races of one service on two replicas are in
 * services/{challenge,tournament}/src/handlers/races.test.ts.
 */
import { randomUUID } from 'node:crypto';
import type { Attempt } from '@laurel/sdk';
import { type Answer, tally } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectError, expectStatus, fullBoard, type Player, startWorld, type World } from '../world.ts';
import { enter, movements, newPlayers, openAttempt, rows } from './rounds.ts';

describe('parallel requests over two replicas of each service', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ replicas: { gateway: 2, challenge: 2, tournament: 2, wallet: 2 } });
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  function createMany(count: number, challengeId: string, player: Player): Promise<Answer<Attempt>[]> {
    const body = { challenge_id: challengeId, player_ref: player.ref };
    return Promise.all(Array.from({ length: count }, () => world.partner.createAttempt(body)));
  }

  test('parallel creates through two refs of one account never overdraw the wallet', async () => {
    const challenges = await Promise.all(Array.from({ length: 8 }, () => world.newChallenge({ fee: '1.00' })));
    const rounds = await Promise.all(Array.from({ length: 8 }, () => world.newRound({ attempt_cap: 100 })));
    const player = await world.newPlayer({ funds: '13.00' });
    const twin = { ...player, ref: randomUUID() };
    expectStatus(201, await world.partner.linkPlayer(twin.ref, player.email));
    const parents = [
      ...challenges.map(({ id }) => ({ challenge_id: id })),
      ...rounds.map(({ id }) => ({ tournament_round_id: id })),
    ];
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, turn) => turn).flatMap((turn) =>
        parents.map((parent, index) =>
          world.partner.createAttempt({ ...parent, player_ref: (index + turn) % 3 === 0 ? twin.ref : player.ref }),
        ),
      ),
    );
    expect(tally(answers)).toEqual({ '201': 13, insufficient_funds: 147 });
    expect(await world.balance(player)).toBe('0.00');
  });

  test('400 parallel first creates of 400 players all succeed', async () => {
    const challenge = await world.newChallenge({ target_pass_rate: 0.5 });
    const refs = Array.from({ length: 400 }, () => randomUUID());
    // Only the creates race: players are created fifty at a time, so that no player misses a call's
    // deadline on a slow machine.
    for (let first = 0; first < refs.length; first += 50) {
      const some = refs.slice(first, first + 50);
      await Promise.all(some.map(async (ref) => expectStatus(201, await world.partner.createPlayer(ref, '5.00'))));
    }
    const answers = await Promise.all(
      refs.map((ref) => world.partner.createAttempt({ challenge_id: challenge.id, player_ref: ref })),
    );
    expect(tally(answers)).toEqual({ '201': 400 });
    expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(400);
    const outcomes = await Promise.all(
      answers.map((answer, index) => world.partner.reportOutcome(answer.body.id, { score: 90 + (index % 20) })),
    );
    expect(tally(outcomes)).toEqual({ '200': 400 });
    expect(outcomes.filter((answer) => answer.body.award?.payout_status === 'paid')).toHaveLength(200);
  });

  test('a create after a self-exclusion is 403 and charges nothing', async () => {
    const challenge = await world.newChallenge();
    const player = await world.newPlayer();
    const listed = expectStatus(200, await world.partner.listChallenges(player.ref));
    expect(listed.body.data.map((entry) => entry.id)).toContain(challenge.id);
    const until = new Date(Date.now() + 86_400_000).toISOString();
    expectStatus(200, await world.operator.updateAccount(player.accountId, { self_excluded_until: until }));
    const answers = await createMany(10, challenge.id, player);
    expect(tally(answers)).toEqual({ blocked: 10 });
    expect(await world.balance(player)).toBe('100.00');
    expectError(403, 'blocked', (await createMany(1, challenge.id, player))[0] as Answer<Attempt>);
  });

  test('a self-exclusion during a burst of creates leaves no fee without an attempt', async () => {
    const challenge = await world.newChallenge();
    const player = await world.newPlayer();
    const until = new Date(Date.now() + 86_400_000).toISOString();
    const [changed, ...answers] = await Promise.all([
      world.operator.updateAccount(player.accountId, { self_excluded_until: until }),
      ...Array.from({ length: 60 }, () =>
        world.partner.createAttempt({ challenge_id: challenge.id, player_ref: player.ref }),
      ),
    ]);
    expectStatus(200, changed);
    const created = answers.filter((answer) => answer.status === 201).length;
    expect(answers.filter((answer) => answer.status !== 201).every((answer) => answer.code === 'blocked')).toBe(true);
    expect(await world.balance(player)).toBe(`${100 - created}.00`);
  });

  test('20 parallel closes of a round with 200 players pay the round once', async () => {
    const round = await world.newRound();
    const refs = Array.from({ length: 200 }, () => randomUUID());
    await Promise.all(refs.map(async (ref) => expectStatus(201, await world.partner.createPlayer(ref, '5.00'))));
    const winner = await world.newPlayer();
    const attempts = await Promise.all([winner.ref, ...refs].map((ref) => enter(world, round, { ref })));
    expect(tally(attempts)).toEqual({ '201': 201 });
    // Few values, so that most scores tie.
    const outcomes = await Promise.all(
      attempts.map((attempt, index) =>
        world.partner.reportOutcome(attempt.body.id, { score: index === 0 ? 1_000 : index % 7 }),
      ),
    );
    expect(tally(outcomes)).toEqual({ '200': 201 });

    const closes = await Promise.all(Array.from({ length: 20 }, () => world.partner.closeRound(round.id)));
    const closed = closes.find((answer) => answer.status === 200)?.body ?? expect.fail('no call closed it');
    expect(closed).toMatchObject({ status: 'settled', entrant_count: 201 });
    for (const answer of closes) if (answer.status !== 200) expectError(409, 'conflict', answer);

    const table = await rows(world, round, winner);
    expect(table.map((row) => row.rank)).toEqual(Array.from({ length: 201 }, (_, index) => index + 1));
    expect(table.map((row) => row.final_rank)).toEqual(table.map((row) => row.rank));
    expect(new Set(table.map((row) => row.player_ref))).toEqual(new Set([winner.ref, ...refs]));
    for (const [index, row] of table.entries()) {
      const before = table[index - 1];
      if (before === undefined) continue;
      expect(before.best_score).toBeGreaterThanOrEqual(row.best_score);
      if (before.best_score === row.best_score) {
        expect(Date.parse(before.best_score_at)).toBeLessThanOrEqual(Date.parse(row.best_score_at));
      }
    }
    expect(table.slice(0, 4).map((row) => row.payout_amount)).toEqual(['5.00', '3.00', '2.00', '0.00']);
    expect(table[0]?.player_ref).toBe(winner.ref);
    expect(await movements(world, winner)).toEqual(['fee -1.00', 'purse 5.00']);
    const purses = await world.stack
      .database('wallet')
      .query<{ amount_cents: bigint }>(
        `select amount_cents from transfers where kind = 'purse' and round_id = $1 order by 1 desc`,
        [round.id],
      );
    expect(purses.map((purse) => purse.amount_cents)).toEqual([500n, 300n, 200n]);
  });

  test('every replica shows the results that one replica has returned', async () => {
    const round = await world.newRound();
    const players = await newPlayers(world, 60);
    await Promise.all(
      players.map(async (player, index) => {
        // The gateways take turns, so no request reaches the gateway that served the previous
        // request.
        const id = await openAttempt(world, round, player);
        expect(await rows(world, round, player)).toEqual([]);
        const { body } = expectStatus(200, await world.partner.reportOutcome(id, { score: index % 10 }));
        for (let read = 0; read < 3; read += 1) {
          const { data, scored_players } = fullBoard(await world.partner.getLeaderboard(round.id, player.ref));
          const own = data.findIndex((row) => row.player_ref === player.ref);
          expect(data[own]).toMatchObject({
            best_score: body.score,
            best_score_at: body.recorded_at,
            paid_attempts: 1,
          });
          const rank = data[own]?.rank ?? 0;
          expect(data.map((row) => row.rank)).toEqual(data.map((_, index) => rank - own + index));
          expect(own).toBe(rank === 1 ? 0 : 1);
          expect(data.length - own - 1).toBe(rank === scored_players ? 0 : 1);
          for (const [index, row] of data.entries()) {
            if (index > 0) expect(data[index - 1]?.best_score).toBeGreaterThanOrEqual(row.best_score);
          }
        }
      }),
    );
    const { body } = expectStatus(200, await world.partner.getLeaderboard(round.id));
    expect(body).toMatchObject({ entrant_count: 60, scored_players: 60 });
  });

  test('parallel reports of one player’s runs keep the best score', async () => {
    const round = await world.newRound({ attempt_cap: 40 });
    const player = await world.newPlayer();
    const attempts = await Promise.all(Array.from({ length: 40 }, () => enter(world, round, player)));
    expect(tally(attempts)).toEqual({ '201': 40 });
    const outcomes = await Promise.all(
      attempts.map((attempt, index) => world.partner.reportOutcome(attempt.body.id, { score: index % 20 })),
    );
    const best = outcomes
      .filter((answer) => answer.body.score === 19)
      .map((answer) => answer.body.recorded_at)
      .sort();
    expect(await rows(world, round, player)).toMatchObject([
      { best_score: 19, best_score_at: best[0], paid_attempts: 40 },
    ]);
  });

  test('no parallel request failed with a 5xx, and the audit finds no violation', async () => {
    await world.expectAuditOk();
    expect(world.http.journal.filter((entry) => entry.answer.status >= 500)).toEqual([]);
  });
});
