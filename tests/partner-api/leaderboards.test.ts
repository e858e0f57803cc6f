import { randomUUID } from 'node:crypto';
import type { Leaderboard, LeaderboardRow, Outcome, Round } from '@laurel/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectStatus, joinWorld, type Player, type SharedWorld } from '../world.ts';

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

  async function close(round: Round): Promise<Round> {
    return expectStatus(200, await world.partner.closeRound(round.id)).body;
  }

  /** The rows as this player reads them: one may be the player's own. */
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
    test('every player who has not entered gets the same masked leaderboard', async () => {
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
  });

  describe('the leaderboard of a running round', () => {
    test('the leaderboard shows the player with one rank above and one below', async () => {
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
  });

  describe('the leaderboard of a finished round', () => {
    test('the leaderboard of a settled round is complete for everyone who entered', async () => {
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
  });

  test('the audit finds no violation after the leaderboards', () => world.expectAuditOk());
});
