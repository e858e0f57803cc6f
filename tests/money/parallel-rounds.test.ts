import { randomUUID } from 'node:crypto';
import type { Round } from '@laurel/sdk';
import { tally } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectError, expectStatus, fullBoard, startWorld, type World } from '../world.ts';
import { enter, movements, newPlayers, openAttempt, rows } from './rounds.ts';

describe('rounds under parallel requests', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ replicas: { gateway: 2, tournament: 2, wallet: 2 } });
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  test.each([40, 400])('%i parallel first entries of one player never exceed the cap of 3', async (count) => {
    const round = await world.newRound({ attempt_cap: 3 });
    const player = await world.newPlayer();
    const answers = await Promise.all(Array.from({ length: count }, () => enter(world, round, player)));
    expect(tally(answers)).toEqual({ '201': 3, attempt_cap_reached: count - 3 });
    expect(await world.balance(player)).toBe('97.00');
    expect(await movements(world, player)).toEqual(['fee -1.00', 'fee -1.00', 'fee -1.00']);
    const { body } = expectStatus(200, await world.partner.getLeaderboard(round.id));
    expect(body.round.entrant_count).toBe(1);
  });

  test.each([40, 400])('%i first entries of one account through two refs never exceed the cap of 3', async (count) => {
    const round = await world.newRound({ attempt_cap: 3 });
    const player = await world.newPlayer();
    const twin = { ...player, ref: randomUUID() };
    expectStatus(201, await world.partner.linkPlayer(twin.ref, player.email));
    const answers = await Promise.all(
      Array.from({ length: count }, (_, index) => enter(world, round, index % 2 === 0 ? player : twin)),
    );
    expect(tally(answers)).toEqual({ '201': 3, attempt_cap_reached: count - 3 });
    expect(await world.balance(player)).toBe('97.00');
    const { body } = expectStatus(200, await world.partner.getLeaderboard(round.id));
    expect(body.round.entrant_count).toBe(1);
  });

  test('parallel entries in many rounds never overdraw the wallet', async () => {
    const rounds = await Promise.all(Array.from({ length: 8 }, () => world.newRound({ attempt_cap: 100 })));
    const player = await world.newPlayer({ funds: '13.00' });
    const answers = await Promise.all(
      Array.from({ length: 80 }, (_, index) => enter(world, rounds[index % 8] as Round, player)),
    );
    expect(tally(answers)).toEqual({ '201': 13, insufficient_funds: 67 });
    expect(await world.balance(player)).toBe('0.00');
  });

  test('200 players enter and score in parallel: the board has one strict order, and 20 parallel closes pay it once', async () => {
    const round = await world.newRound();
    const refs = Array.from({ length: 200 }, () => randomUUID());
    await Promise.all(refs.map(async (ref) => expectStatus(201, await world.partner.createPlayer(ref, '5.00'))));
    const winner = await world.newPlayer();
    const attempts = await Promise.all([winner.ref, ...refs].map((ref) => enter(world, round, { ref })));
    expect(tally(attempts)).toEqual({ '201': 201 });
    // Few values, so that most of them tie.
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

  test('every replica shows the results that one replica has answered, and every read of a board is consistent', async () => {
    const round = await world.newRound();
    const players = await newPlayers(world, 60);
    await Promise.all(
      players.map(async (player, index) => {
        // The gateways take turns, so that no request reaches the one that answered before.
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

  test('40 parallel reports of one entry under different keys settle it once', async () => {
    const round = await world.newRound();
    const player = await world.newPlayer();
    const id = await openAttempt(world, round, player);
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => world.partner.reportOutcome(id, { score: index })),
    );
    expect(tally(answers)).toEqual({ '200': 1, attempt_already_settled: 39 });
    const settled = answers.find((answer) => answer.status === 200);
    expect(await rows(world, round, player)).toMatchObject([{ best_score: settled?.body.score, paid_attempts: 1 }]);
  });

  test('parallel reports of many runs of one player keep the best', async () => {
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

  test('entries that race the close are in the round or refused, and none of them keeps a fee', async () => {
    const round = await world.newRound();
    const scorer = await world.newPlayer();
    await world.playRound(round.id, scorer, 1);
    const players = await newPlayers(world, 30);
    const [closed, ...answers] = await Promise.all([
      world.partner.closeRound(round.id),
      ...players.map((player) => enter(world, round, player)),
    ]);
    expectStatus(200, closed);
    const entered = answers.filter((answer) => answer.status === 201);
    for (const answer of answers) if (answer.status !== 201) expectError(409, 'entries_closed', answer);
    for (const { body } of entered) {
      expect(expectStatus(200, await world.partner.getAttempt(body.id)).body.status).toBe('expired');
    }
    for (const player of players) expect(await world.balance(player)).toBe('100.00');
    const board = fullBoard(await world.partner.getLeaderboard(round.id, scorer.ref));
    // Entries without a score were refunded at the close.
    expect(board.round.entrant_count).toBe(1);
    expect(board.data.map((row) => row.player_ref)).toEqual([scorer.ref]);
  });

  test('scores that race the close are on the final board, or refused and their entry refunded', async () => {
    const round = await world.newRound({ attempt_cap: 2 });
    const players = await newPlayers(world, 30);
    const viewer = await world.newPlayer();
    await world.playRound(round.id, viewer, -1);
    const ids = await Promise.all(players.map((player) => openAttempt(world, round, player)));
    const [closed, ...answers] = await Promise.all([
      world.partner.closeRound(round.id),
      ...ids.map((id, index) => world.partner.reportOutcome(id, { score: index })),
    ]);
    expect(expectStatus(200, closed).body.status).toBe('settled');
    for (const answer of answers) if (answer.status !== 200) expectError(409, 'round_closed', answer);
    const onBoard = players.filter((_, index) => answers[index]?.status === 200).reverse();
    const table = await rows(world, round, viewer);
    expect(table.map((row) => row.player_ref)).toEqual([...onBoard, viewer].map((player) => player.ref));
    expect((await world.partner.getLeaderboard(round.id)).body.round.entrant_count).toBe(1 + onBoard.length);
    const payouts = [5, 3, 2];
    for (const [index, player] of players.entries()) {
      const position = onBoard.indexOf(player);
      const money = answers[index]?.status === 200 ? 99 + (payouts[position] ?? 0) : 100;
      expect(await world.balance(player)).toBe(`${money}.00`);
    }
  });

  test('the audit is good after parallel requests in rounds, and no request failed with a 5xx', async () => {
    await world.expectAuditOk();
    expect(world.http.journal.filter((entry) => entry.answer.status >= 500)).toEqual([]);
  });
});
