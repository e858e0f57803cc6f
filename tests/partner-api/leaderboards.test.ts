import { randomUUID } from 'node:crypto';
import type { Leaderboard, LeaderboardRow, Outcome, Round } from '@laurel/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  expectError,
  expectStatus,
  fullBoard,
  joinWorld,
  type Player,
  type SharedWorld,
  WITH_TIEBREAK,
} from '../world.ts';

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const MASKED_FIELDS = [
  'closes_at',
  'entrant_count',
  'locked',
  'min_entrants',
  'min_scored_attempts',
  'purse_amount',
  'purse_table',
  'reason',
  'round',
  'scored_players',
];

describe('GET /v1/tournaments/rounds/{round_id}/leaderboard', () => {
  let world: SharedWorld;
  beforeAll(async () => {
    world = await joinWorld();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  const newPlayers = (count: number) => Promise.all(Array.from({ length: count }, () => world.newPlayer()));

  async function enter(round: Round, player: Player): Promise<string> {
    const entry = { tournament_round_id: round.id, player_ref: player.ref };
    return expectStatus(201, await world.partner.createAttempt(entry)).body.id;
  }

  async function board(round: Round, ref?: string): Promise<Leaderboard> {
    return expectStatus(200, await world.partner.getLeaderboard(round.id, ref)).body;
  }

  /** The rows that a player who has entered sees. */
  async function rows(round: Round, { ref }: Player): Promise<LeaderboardRow[]> {
    const full = fullBoard(await world.partner.getLeaderboard(round.id, ref));
    expect(full).not.toHaveProperty('locked');
    // One row at most is the player's, and the other assertions are on the members that every row has.
    expect(full.data.filter((row) => row.is_player !== undefined).length).toBeLessThanOrEqual(1);
    return full.data.map(({ is_player, ...row }) => row);
  }

  async function close(round: Round): Promise<Round> {
    return expectStatus(200, await world.partner.closeRound(round.id)).body;
  }

  /** The order of a complete board, by ref. */
  async function finalOrder(round: Round, player: Player): Promise<string[]> {
    await close(round);
    return (await rows(round, player)).map((row) => row.player_ref);
  }

  /** The rows as this player reads them: one of them may be the player's own. */
  const asSeenBy = ({ ref }: Player, all: readonly LeaderboardRow[]): LeaderboardRow[] =>
    all.map((row) => (row.player_ref === ref ? { ...row, is_player: true } : row));

  const rowOf = (rank: number, player: Player, outcome: Outcome, changes: Partial<LeaderboardRow> = {}) => ({
    rank,
    player_ref: player.ref,
    best_score: outcome.score,
    best_tiebreak: null,
    best_score_at: outcome.recorded_at,
    paid_attempts: 1,
    final_rank: null,
    payout_amount: null,
    payout_status: 'none',
    ...changes,
  });

  describe('the masked leaderboard', () => {
    test('the masked leaderboard is the same without a ref, with an unknown ref and with one that has not entered', async () => {
      const round = await world.newRound({ min_entrants: 2, min_scored_attempts: 3 });
      const [player, second, outsider] = (await newPlayers(3)) as [Player, Player, Player];
      await world.playRound(round.id, player, 5);
      await enter(round, second);
      const elsewhere = await world.newRound();
      await world.playRound(elsewhere.id, outsider, 5);

      const absent = expectStatus(200, await world.partner.getLeaderboard(round.id));
      expect(Object.keys(absent.body).sort()).toEqual(MASKED_FIELDS);
      expect(absent.body).toEqual({
        locked: true,
        reason: 'enter_to_see',
        round: { ...round, entrant_count: 2 },
        entrant_count: 2,
        scored_players: 1,
        min_entrants: 2,
        min_scored_attempts: 3,
        purse_amount: '10.00',
        purse_table: round.purse_table,
        closes_at: round.closes_at,
      });
      for (const ref of [randomUUID(), outsider.ref, '', ' ', 'ü 選手', 'x'.repeat(255), 'x'.repeat(256), '\0', '%']) {
        expect(expectStatus(200, await world.partner.getLeaderboard(round.id, ref)).text).toBe(absent.text);
      }
      const named = await world.partner.send('GET', `/v1/tournaments/rounds/${round.id}/leaderboard?player_ref`);
      expect(expectStatus(200, named).text).toBe(absent.text);
    });

    test('the leaderboard stays masked for a player whose entry was refused', async () => {
      const round = await world.newRound({ attempt_cap: 1 });
      const poor = await world.newPlayer({ funds: '0.00' });
      const blocked = await world.newPlayer();
      expectStatus(200, await world.operator.updateAccount(blocked.accountId, { blocked: true }));
      const masked = expectStatus(200, await world.partner.getLeaderboard(round.id)).text;
      for (const { ref } of [poor, blocked]) {
        const answer = await world.partner.createAttempt({ tournament_round_id: round.id, player_ref: ref });
        expect([402, 403]).toContain(answer.status);
        expect((await world.partner.getLeaderboard(round.id, ref)).text).toBe(masked);
      }
    });

    test.each(['settled', 'cancelled'])('the leaderboard stays masked for outsiders once %s', async (status) => {
      const round = await world.newRound({ min_entrants: status === 'settled' ? 1 : 2 });
      const [player, outsider] = (await newPlayers(2)) as [Player, Player];
      await world.playRound(round.id, player, 5);
      const closed = await close(round);
      expect(closed.status).toBe(status);
      const absent = expectStatus(200, await world.partner.getLeaderboard(round.id));
      expect(Object.keys(absent.body).sort()).toEqual(MASKED_FIELDS);
      expect(absent.body).toMatchObject({ locked: true, round: closed, scored_players: 1, entrant_count: 1 });
      expect((await world.partner.getLeaderboard(round.id, outsider.ref)).text).toBe(absent.text);
    });

    test('the leaderboard refuses two player_refs', async () => {
      const round = await world.newRound();
      const path = `/v1/tournaments/rounds/${round.id}/leaderboard?player_ref=a&player_ref=b`;
      expectError(400, 'invalid_request', await world.partner.send('GET', path));
    });

    test('the leaderboard of another program, another environment or an unknown round is 404', async () => {
      const other = await world.newProgram();
      const round = await world.newRound();
      const live = await world.newRound({ environment: 'live' });
      const player = await world.newPlayer();
      await world.playRound(round.id, player, 5);
      const unknown = await world.partner.getLeaderboard(randomUUID());
      expectError(404, 'not_found', unknown);
      for (const ref of [undefined, player.ref]) {
        for (const [partner, id] of [
          [other.test, round.id],
          [other.live, round.id],
          [world.program.live, round.id],
          [world.program.test, live.id],
          [world.program.test, round.tournament_id],
          [world.program.test, 'nonsense'],
          [world.program.test, `${round.id}0`],
        ] as const) {
          const answer = await partner.getLeaderboard(id, ref);
          expectError(404, 'not_found', answer);
          expect(answer.text).toBe(unknown.text);
        }
      }
    });
  });

  describe('the leaderboard of a running round', () => {
    test('an entrant without a score sees the leaderboard without rows, and the masked one after a refund', async () => {
      const round = await world.newRound();
      const [scorer, silent, refunded] = (await newPlayers(3)) as [Player, Player, Player];
      await world.playRound(round.id, scorer, 5);
      await enter(round, silent);
      const attempt = await enter(round, refunded);
      const empty = { scored_players: 1, data: [] };
      for (const { ref } of [silent, refunded]) {
        expect(await board(round, ref)).toEqual({ round: { ...round, entrant_count: 3 }, ...empty });
      }
      expectStatus(200, await world.partner.expireAttempt(attempt));
      expect(await board(round, silent.ref)).toEqual({ round: { ...round, entrant_count: 2 }, ...empty });
      expect(await board(round, refunded.ref)).toMatchObject({ locked: true, entrant_count: 2 });
      await enter(round, refunded);
      expect(await board(round, refunded.ref)).toEqual({ round: { ...round, entrant_count: 3 }, ...empty });
    });

    test('the leaderboard is the same for every ref of the account, including one that never played', async () => {
      const round = await world.newRound();
      const [player, newcomer] = (await newPlayers(2)) as [Player, Player];
      const alias = randomUUID();
      expectStatus(201, await world.partner.linkPlayer(alias, player.email));
      expect(await board(round, alias)).toMatchObject({ locked: true });
      await world.playRound(round.id, player, 5);
      expect(await board(round, alias)).toEqual(await board(round, player.ref));
      expect(await board(round, alias)).toMatchObject({ data: [{ player_ref: player.ref, best_score: 5 }] });
      // A ref that moves to another account sees what that account may see.
      expectStatus(201, await world.partner.linkPlayer(alias, newcomer.email));
      expect(await board(round, alias)).toEqual(await board(round, randomUUID()));
    });

    test('the leaderboard shows the player, one rank above and one below, and the total length', async () => {
      const round = await world.newRound();
      const players = await newPlayers(5);
      const outcomes: Outcome[] = [];
      for (const [index, player] of players.entries()) {
        outcomes.push(await world.playRound(round.id, player, 100 - index));
      }
      const all = players.map((player, index) => rowOf(index + 1, player, outcomes[index] as Outcome));
      for (const [index, player] of players.entries()) {
        expect(await board(round, player.ref)).toEqual({
          round: { ...round, entrant_count: 5 },
          scored_players: 5,
          data: asSeenBy(player, all.slice(Math.max(0, index - 1), index + 2)),
        });
      }
    });

    test('the leaderboard of one scored player has one row', async () => {
      const round = await world.newRound();
      const player = await world.newPlayer();
      const outcome = await world.playRound(round.id, player, -1.5);
      expect(await rows(round, player)).toEqual([rowOf(1, player, outcome)]);
    });

    test('the leaderboard changes with every better run, and only with those', async () => {
      const round = await world.newRound({ attempt_cap: 10 });
      const [mover, rival] = (await newPlayers(2)) as [Player, Player];
      await world.playRound(round.id, rival, 50);
      const first = await world.playRound(round.id, mover, 10);
      const seen = async () => (await rows(round, mover)).find((row) => row.player_ref === mover.ref);
      expect(await seen()).toEqual(rowOf(2, mover, first));
      // A worse and an equal run: the earlier run stays.
      await world.playRound(round.id, mover, 9);
      await world.playRound(round.id, mover, 10);
      expect(await seen()).toEqual(rowOf(2, mover, first, { paid_attempts: 3 }));
      const better = await world.playRound(round.id, mover, 60);
      expect(await seen()).toEqual(rowOf(1, mover, better, { paid_attempts: 4 }));
      expect((await rows(round, rival)).map((row) => row.rank)).toEqual([1, 2]);
      expect((await board(round, mover.ref)).scored_players).toBe(2);
    });

    test('the leaderboard counts a player’s paid attempts without the refunded ones', async () => {
      const round = await world.newRound();
      const player = await world.newPlayer();
      await world.playRound(round.id, player, 1);
      await enter(round, player);
      const back = await enter(round, player);
      expect(await rows(round, player)).toMatchObject([{ paid_attempts: 3 }]);
      expectStatus(200, await world.partner.expireAttempt(back));
      expect(await rows(round, player)).toMatchObject([{ paid_attempts: 2 }]);
    });

    test('the leaderboard shows a person once, by the ref of their best run', async () => {
      const round = await world.newRound();
      const player = await world.newPlayer();
      const twin = { ...player, ref: `twin-${randomUUID()}` };
      expectStatus(201, await world.partner.linkPlayer(twin.ref, player.email));
      await world.playRound(round.id, player, 5);
      const better = await world.playRound(round.id, twin, 6);
      for (const either of [player, twin]) {
        expect(await rows(round, either)).toEqual([rowOf(1, twin, better, { paid_attempts: 2 })]);
      }
    });
  });

  describe('the order of the leaderboard', () => {
    test.each([
      ['higher_is_better', [7, -1, 1e300, 0.5, 0]],
      ['lower_is_better', [7, -1, 1e300, 0.5, 0]],
    ] as const)('scores are ranked by %s', async (direction, scores) => {
      const round = await world.newRound({ threshold_direction: direction });
      const players = await newPlayers(scores.length);
      for (const [index, score] of scores.entries()) {
        await world.playRound(round.id, players[index] as Player, score);
      }
      const better = direction === 'higher_is_better' ? -1 : 1;
      const expected = [...scores.entries()].sort(([, one], [, other]) => better * (one - other));
      const order = await finalOrder(round, players[0] as Player);
      expect(order).toEqual(expected.map(([index]) => players[index]?.ref));
    });

    test.each([
      ['lower_is_better', [3, 2, 2.5]],
      ['higher_is_better', [2, 3, 2.5]],
    ])('equal scores are ranked by tiebreak, %s, before time', async (direction, tiebreaks) => {
      const round = await world.newRound({ tiebreak_metric_name: 'moves', tiebreak_direction: direction });
      const [worst, best, middle] = (await newPlayers(3)) as [Player, Player, Player];
      for (const [index, player] of [worst, best, middle].entries()) {
        await world.playRound(round.id, player, 10, tiebreaks[index]);
      }
      expect(await finalOrder(round, best)).toEqual([best, middle, worst].map(({ ref }) => ref));
    });

    test('equal runs are ranked by the time of the best one', async () => {
      const round = await world.newRound(WITH_TIEBREAK);
      const [early, late, latest] = (await newPlayers(3)) as [Player, Player, Player];
      const at: string[] = [];
      // `latest` was first with a worse run; the time that counts is that of the best run.
      await world.playRound(round.id, latest, 9, 4);
      for (const player of [early, late, latest]) {
        at.push((await world.playRound(round.id, player, 10, 4)).recorded_at);
      }
      expect(at).toEqual([...new Set(at)].sort());
      expect(await finalOrder(round, early)).toEqual([early, late, latest].map(({ ref }) => ref));
    });

    test('the tiebreak that counts is that of the run with the best score, not the best tiebreak', async () => {
      const round = await world.newRound(WITH_TIEBREAK);
      const [player, rival] = (await newPlayers(2)) as [Player, Player];
      await world.playRound(round.id, player, 9, 1);
      await world.playRound(round.id, player, 10, 8);
      await world.playRound(round.id, rival, 10, 7);
      expect(await rows(round, player)).toMatchObject([
        { player_ref: rival.ref, best_tiebreak: 7 },
        { player_ref: player.ref, best_score: 10, best_tiebreak: 8 },
      ]);
      // The same score with a better tiebreak is a better run.
      const better = await world.playRound(round.id, player, 10, 6);
      expect(await rows(round, player)).toMatchObject([
        { player_ref: player.ref, best_tiebreak: 6, best_score_at: better.recorded_at, paid_attempts: 3 },
        { player_ref: rival.ref },
      ]);
    });

    test('the order of many runs is strict, and every window agrees with the final table', async () => {
      const round = await world.newRound({ ...WITH_TIEBREAK, attempt_cap: 3, min_scored_attempts: 30 });
      const players = await newPlayers(15);
      // Few values, so that most runs tie on something.
      const reports = players.flatMap((player, index) =>
        [0, 1, 2].map((run) => ({ player, score: (index * 7 + run * 5) % 4, tiebreak: (index + run * 3) % 3 })),
      );
      const best = new Map<string, { score: number; tiebreak: number; at: string }>();
      await Promise.all(
        reports.map(async ({ player, score, tiebreak }) => {
          const { recorded_at: at } = await world.playRound(round.id, player, score, tiebreak);
          const known = best.get(player.ref);
          const run = { score, tiebreak, at };
          if (known === undefined || compare(run, known) < 0) best.set(player.ref, run);
        }),
      );
      const windows = await Promise.all(players.map((player) => rows(round, player)));
      await close(round);
      const table = await rows(round, players[0] as Player);
      expect(table.map((row) => row.rank)).toEqual(players.map((_, index) => index + 1));
      expect(new Set(table.map((row) => row.player_ref))).toEqual(new Set(players.map(({ ref }) => ref)));
      for (const [index, row] of table.entries()) {
        const { score, tiebreak, at } = best.get(row.player_ref) ?? expect.fail('an unknown player on the board');
        expect(row).toMatchObject({ best_score: score, best_tiebreak: tiebreak, best_score_at: at, paid_attempts: 3 });
        const before = best.get(table[index - 1]?.player_ref ?? '');
        if (before !== undefined) expect(compare(before, { score, tiebreak, at })).toBeLessThanOrEqual(0);
      }
      for (const [index, window] of windows.entries()) {
        const own = table.findIndex((row) => row.player_ref === players[index]?.ref);
        expect(window.map((row) => [row.rank, row.player_ref])).toEqual(
          table.slice(Math.max(0, own - 1), own + 2).map((row) => [row.rank, row.player_ref]),
        );
      }
    });

    interface Run {
      score: number;
      tiebreak: number;
      at: string;
    }

    /** More points, then fewer moves, then earlier. */
    function compare(one: Run, other: Run): number {
      return other.score - one.score || one.tiebreak - other.tiebreak || Date.parse(one.at) - Date.parse(other.at);
    }
  });

  describe('the leaderboard of a round that is over', () => {
    test('the leaderboard of a settled round is complete, with final ranks and payouts, for everyone who entered', async () => {
      const round = await world.newRound();
      const players = await newPlayers(5);
      const silent = await world.newPlayer();
      const outcomes: Outcome[] = [];
      for (const [index, player] of players.entries()) {
        outcomes.push(await world.playRound(round.id, player, 100 - index));
      }
      await enter(round, silent);
      const closed = await close(round);
      expect(closed).toMatchObject({
        id: round.id,
        status: 'settled',
        settled_at: expect.stringMatching(TIMESTAMP),
        // The fee of the entrant without a score was refunded at the close.
        entrant_count: 5,
        purse_table: round.purse_table,
      });
      expect(Date.parse(closed.settled_at ?? '')).toBeGreaterThanOrEqual(Date.parse(closed.closes_at));
      const payouts = ['5.00', '3.00', '2.00', '0.00', '0.00'];
      const expected = {
        round: closed,
        scored_players: 5,
        data: players.map((player, index) =>
          rowOf(index + 1, player, outcomes[index] as Outcome, {
            final_rank: index + 1,
            payout_amount: payouts[index] as string,
            payout_status: index < 3 ? 'paid' : 'none',
          }),
        ),
      };
      for (const player of players) {
        expect(await board(round, player.ref)).toEqual({ ...expected, data: asSeenBy(player, expected.data) });
      }
      expect(await board(round, silent.ref)).toEqual(await board(round, randomUUID()));
    });

    test('the leaderboard of a cancelled round is complete, with every row refunded', async () => {
      const round = await world.newRound({ min_entrants: 4 });
      const players = await newPlayers(3);
      const outcomes: Outcome[] = [];
      for (const [index, player] of players.entries()) {
        outcomes.push(await world.playRound(round.id, player, 100 - index));
      }
      const closed = await close(round);
      expect(closed).toMatchObject({ status: 'cancelled', settled_at: null });
      const expected = {
        round: closed,
        scored_players: 3,
        data: players.map((player, index) =>
          rowOf(index + 1, player, outcomes[index] as Outcome, {
            payout_amount: '0.00',
            payout_status: 'refunded',
          }),
        ),
      };
      for (const player of players) {
        expect(await board(round, player.ref)).toEqual({ ...expected, data: asSeenBy(player, expected.data) });
      }
    });

    test('the leaderboard of a round that was cancelled without a score is empty', async () => {
      const round = await world.newRound();
      const player = await world.newPlayer();
      await enter(round, player);
      const closed = await close(round);
      expect(closed).toMatchObject({ status: 'cancelled', entrant_count: 0 });
      expect(await board(round, player.ref)).toEqual({ round: closed, scored_players: 0, data: [] });
      expect(await world.balance(player)).toBe('100.00');
    });
  });

  test('the audit is good after the leaderboards', () => world.expectAuditOk());
});
