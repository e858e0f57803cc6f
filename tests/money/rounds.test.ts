import { randomUUID } from 'node:crypto';
import type { Attempt, LeaderboardRow, Round } from '@laurel/sdk';
import { type Answer, type PayoutBody, tally } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually, expectError, expectStatus, fullBoard, type Player, startWorld, type World } from '../world.ts';

function newPlayers(world: World, count: number): Promise<Player[]> {
  return Promise.all(Array.from({ length: count }, () => world.newPlayer()));
}

function enter(world: World, round: Round, { ref }: Pick<Player, 'ref'>): Promise<Answer<Attempt>> {
  return world.partner.createAttempt({ tournament_round_id: round.id, player_ref: ref });
}

async function openAttempt(world: World, round: Round, player: Player): Promise<string> {
  return expectStatus(201, await enter(world, round, player)).body.id;
}

async function close(world: World, round: Round): Promise<Round> {
  return expectStatus(200, await world.partner.closeRound(round.id)).body;
}

async function rows(world: World, round: Round, { ref }: Player): Promise<LeaderboardRow[]> {
  return fullBoard(await world.partner.getLeaderboard(round.id, ref)).data;
}

/** Every movement of a player's money but deposits, oldest first: `['fee -1.00', 'purse 5.00']`. */
async function movements(world: World, player: Player): Promise<string[]> {
  const { data } = expectStatus(200, await world.operator.statement(player.accountId, 'test')).body;
  return data
    .filter((line) => line.kind !== 'deposit')
    .map((line) => `${line.kind} ${line.amount}`)
    .reverse();
}

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

describe('the end of a round', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ failpoints: true, restart: true });
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  async function payoutOf(round: Round, player: Player): Promise<PayoutBody> {
    const { data } = expectStatus(200, await world.operator.listPayouts()).body;
    const found = data.filter((payout) => payout.round_id === round.id && payout.account_id === player.accountId);
    expect(found).toHaveLength(1);
    return found[0] as PayoutBody;
  }

  describe('a round that ran', () => {
    test('a round that ran pays the frozen table to the ranks that are present, each once', async () => {
      const round = await world.newRound({
        purse_table: [
          { rank: 1, amount: '10.00' },
          { rank: 2, amount: '0.07' },
          { rank: 3, amount: '0.05' },
          { rank: 4, amount: '0.05' },
        ],
      });
      const [first, second, third, silent] = (await newPlayers(world, 4)) as [Player, Player, Player, Player];
      await world.playRound(round.id, third, 10);
      await world.playRound(round.id, first, 20);
      await world.playRound(round.id, first, 40);
      await world.playRound(round.id, second, 30);
      await openAttempt(world, round, silent);
      await close(world, round);
      expect(await movements(world, first)).toEqual(['fee -1.00', 'fee -1.00', 'purse 10.00']);
      expect(await movements(world, second)).toEqual(['fee -1.00', 'purse 0.07']);
      expect(await movements(world, third)).toEqual(['fee -1.00', 'purse 0.05']);
      expect(await movements(world, silent)).toEqual(['fee -1.00', 'refund 1.00']);
      const payout = await payoutOf(round, first);
      expect(payout).toMatchObject({ attempt_id: null, amount: '10.00', status: 'paid', reason: null });
      const { data } = expectStatus(200, await world.operator.statement(first.accountId, 'test')).body;
      expect(data[0]).toMatchObject({ kind: 'purse', reference: payout.award_id, balance_after: '108.00' });
      // A round closes once.
      expectError(409, 'conflict', await world.partner.closeRound(round.id));
      expect(await movements(world, first)).toHaveLength(3);
      await world.expectAuditOk();
    });

    test('a round pays one person one rank, whichever of their refs played', async () => {
      const round = await world.newRound();
      const player = await world.newPlayer();
      const twin = { ...player, ref: randomUUID() };
      expectStatus(201, await world.partner.linkPlayer(twin.ref, player.email));
      await world.playRound(round.id, player, 10);
      await world.playRound(round.id, twin, 20);
      await close(world, round);
      expect(await movements(world, player)).toEqual(['fee -1.00', 'fee -1.00', 'purse 5.00']);
    });

    test('a round pays the account that played, even when the ref is linked to another account by then', async () => {
      const round = await world.newRound();
      const [player, other] = (await newPlayers(world, 2)) as [Player, Player];
      await world.playRound(round.id, player, 10);
      expectStatus(201, await world.partner.linkPlayer(player.ref, other.email));
      await close(world, round);
      expect(await world.balance(player)).toBe('104.00');
      expect(await world.balance(other)).toBe('100.00');
    });

    test('a round pays a purse of any size, because it was frozen before the first entry', async () => {
      const round = await world.newRound({ purse_table: [{ rank: 1, amount: '750.00' }] });
      const player = await world.newPlayer();
      await world.playRound(round.id, player, 10);
      await close(world, round);
      expect(await world.balance(player)).toBe('849.00');
    });

    test('the sandbox cannot close a live round: only the round’s time ends it', async () => {
      const round = await world.newRound({ environment: 'live' });
      expectError(404, 'not_found', await world.partner.closeRound(round.id));
      expectError(404, 'not_found', await world.partner.closeEntries(round.id));
      expectStatus(401, await world.program.live.send('POST', `/api/sandbox/rounds/${round.id}/close`));
    });
  });

  describe('a round that was cancelled', () => {
    test.each([
      ['too few entrants', { min_entrants: 4 }],
      ['too few scored attempts', { min_scored_attempts: 4 }],
    ])('a round cancelled for %s returns every entry once, and pays nothing', async (_what, terms) => {
      const round = await world.newRound({ ...terms, entry_fee: '2.50' });
      const [scorer, silent, both] = (await newPlayers(world, 3)) as [Player, Player, Player];
      await world.playRound(round.id, scorer, 10);
      await world.playRound(round.id, scorer, 20);
      await openAttempt(world, round, silent);
      const scored = await world.playRound(round.id, both, 30);
      const open = await openAttempt(world, round, both);
      const back = await openAttempt(world, round, both);
      expectStatus(200, await world.partner.expireAttempt(back));
      expect((await close(world, round)).status).toBe('cancelled');
      for (const player of [scorer, silent, both]) expect(await world.balance(player)).toBe('100.00');
      const lines = async (player: Player) => (await movements(world, player)).sort();
      expect(await lines(scorer)).toEqual(['fee -2.50', 'fee -2.50', 'refund 2.50', 'refund 2.50']);
      expect(await lines(silent)).toEqual(['fee -2.50', 'refund 2.50']);
      expect(await lines(both)).toEqual([...Array(3).fill('fee -2.50'), ...Array(3).fill('refund 2.50')]);
      // Scored attempts stay settled; those without a score have expired.
      expect((await world.partner.getAttempt(scored.attempt_id)).body).toMatchObject({
        status: 'settled',
        outcome: scored,
      });
      expect((await world.partner.getAttempt(open)).body).toMatchObject({ status: 'expired', outcome: null });
      await world.expectAuditOk();
    });

    test('a round without any entry is cancelled without a movement of money', async () => {
      expect((await close(world, await world.newRound())).status).toBe('cancelled');
    });

    test('attempts that expire, are voided or stay open make no entrant, and a round with too few is cancelled', async () => {
      const round = await world.newRound({ min_entrants: 2 });
      const [scorer, expired, voided, silent] = (await newPlayers(world, 4)) as [Player, Player, Player, Player];
      await world.playRound(round.id, scorer, 1);
      const entrants = async () => (await world.partner.getLeaderboard(round.id)).body.round.entrant_count;
      const [one, other] = [await openAttempt(world, round, expired), await openAttempt(world, round, voided)];
      await openAttempt(world, round, silent);
      expect(await entrants()).toBe(4);
      expectStatus(200, await world.partner.expireAttempt(one));
      expect(await entrants()).toBe(3);
      expectStatus(200, await world.operator.voidAttempt(other, 'a broken game'));
      expect(await entrants()).toBe(2);
      for (const { ref } of [expired, voided]) {
        expect((await world.partner.getLeaderboard(round.id, ref)).text).toBe(
          (await world.partner.getLeaderboard(round.id)).text,
        );
      }
      // Together with the player whose attempt is still open it would have run; that fee is refunded first.
      expect(await close(world, round)).toMatchObject({ status: 'cancelled', entrant_count: 1 });
      for (const player of [scorer, expired, voided, silent]) expect(await world.balance(player)).toBe('100.00');
      expect(fullBoard(await world.partner.getLeaderboard(round.id, scorer.ref)).data).toMatchObject([
        { player_ref: scorer.ref, payout_status: 'refunded' },
      ]);
      // An expired attempt stays expired, however the round ended.
      for (const id of [one, other]) {
        expectError(409, 'attempt_already_settled', await world.partner.reportOutcome(id, { score: 1 }));
      }
      await world.expectAuditOk();
    });

    test('a round with exactly the minimum of entrants and scored attempts runs', async () => {
      const round = await world.newRound({ min_entrants: 2, min_scored_attempts: 2 });
      const [player, silent] = (await newPlayers(world, 2)) as [Player, Player];
      await world.playRound(round.id, player, 1);
      await world.playRound(round.id, silent, 0);
      await openAttempt(world, round, silent);
      expect(await close(world, round)).toMatchObject({ status: 'settled', entrant_count: 2 });
      expect(await world.balance(player)).toBe('104.00');
    });
  });

  describe('a round with a purse that is held', () => {
    const HOLDS = [
      ['under_investigation', { under_investigation: true }],
      ['enforcement_flag', { enforcement_flag: true }],
      ['sandbox_hold', null],
    ] as const;

    /** A settled round whose winner's purse is held, and whose second was paid. */
    async function heldRound(hold: (typeof HOLDS)[number][1]): Promise<{ round: Round; winner: Player }> {
      const round = await world.newRound();
      const [winner, second] = (await newPlayers(world, 2)) as [Player, Player];
      await world.playRound(round.id, winner, 20);
      await world.playRound(round.id, second, 10);
      if (hold === null) expectStatus(204, await world.partner.holdNextAward(winner.ref));
      else expectStatus(200, await world.operator.updateAccount(winner.accountId, hold));
      expect((await close(world, round)).status).toBe('settled');
      expect(await rows(world, round, winner)).toMatchObject([
        { player_ref: winner.ref, final_rank: 1, payout_amount: '5.00', payout_status: 'held' },
        { player_ref: second.ref, final_rank: 2, payout_amount: '3.00', payout_status: 'paid' },
      ]);
      expect(await world.balance(winner)).toBe('99.00');
      expect(await world.balance(second)).toBe('102.00');
      return { round, winner };
    }

    async function heldPayouts(round: Round): Promise<PayoutBody[]> {
      const { data } = expectStatus(200, await world.operator.listPayouts('held')).body;
      return data.filter((payout) => payout.round_id === round.id);
    }

    test.each(HOLDS)('a purse held by %s: release pays it once', async (reason, hold) => {
      const { round, winner } = await heldRound(hold);
      const [held, ...others] = await heldPayouts(round);
      expect(others).toEqual([]);
      expect(held).toMatchObject({
        attempt_id: null,
        round_id: round.id,
        account_id: winner.accountId,
        amount: '5.00',
        reason,
      });
      const awardId = held?.award_id ?? '';
      const released = await Promise.all(Array.from({ length: 5 }, () => world.operator.releasePayout(awardId)));
      for (const answer of released) expect(expectStatus(200, answer).body).toMatchObject({ status: 'paid' });
      expect((await rows(world, round, winner))[0]).toMatchObject({ payout_amount: '5.00', payout_status: 'paid' });
      expect(await movements(world, winner)).toEqual(['fee -1.00', 'purse 5.00']);
      expectError(409, 'conflict', await world.operator.denyPayout(awardId));
      expect(await heldPayouts(round)).toEqual([]);
    });

    test.each(HOLDS)(
      'a purse held by %s: deny leaves it held on the board, and denied to operators, with that reason',
      async (reason, hold) => {
        const { round, winner } = await heldRound(hold);
        const [held] = await heldPayouts(round);
        const board = await rows(world, round, winner);
        const denied = expectStatus(200, await world.operator.denyPayout(held?.award_id ?? '')).body;
        expect(denied).toEqual({ ...held, status: 'denied', reason });
        const listed = expectStatus(200, await world.operator.listPayouts('denied')).body.data;
        expect(listed.filter((payout) => payout.round_id === round.id)).toEqual([denied]);
        expect(board[0]).toMatchObject({ final_rank: 1, payout_amount: '5.00', payout_status: 'held' });
        expect(await rows(world, round, winner)).toEqual(board);
      },
    );

    test('the denial of a held purse leaves it unpaid permanently, and no other player moves up', async () => {
      const { round, winner } = await heldRound({ under_investigation: true });
      const [held] = await heldPayouts(round);
      const awardId = held?.award_id ?? '';
      for (let count = 0; count < 2; count += 1) {
        expect(expectStatus(200, await world.operator.denyPayout(awardId)).body).toMatchObject({ status: 'denied' });
      }
      expectError(409, 'conflict', await world.operator.releasePayout(awardId));
      expect(await heldPayouts(round)).toEqual([]);
      expect((await rows(world, round, winner))[0]).toMatchObject({ payout_amount: '5.00', payout_status: 'held' });
      expect(await world.balance(winner)).toBe('99.00');
    });

    test('a release and a denial that race leave a held purse either paid or denied', async () => {
      for (let count = 0; count < 4; count += 1) {
        const { round, winner } = await heldRound(null);
        const awardId = (await heldPayouts(round))[0]?.award_id ?? '';
        const answers = await Promise.all([world.operator.releasePayout(awardId), world.operator.denyPayout(awardId)]);
        expect(answers.map((answer) => answer.status).sort()).toEqual([200, 409]);
        expect(await world.balance(winner)).toBe(answers[0]?.status === 200 ? '104.00' : '99.00');
      }
    });
  });

  describe('a round after a fault', () => {
    test('a fault keeps no fee of an entry that was charged and never answered', async () => {
      const round = await world.newRound();
      const player = await world.newPlayer();
      world.stack.arm('tournament.create.after-charge', 'kill');
      const answer = await enter(world, round, player);
      expect([0, 500], answer.text).toContain(answer.status);
      expect(world.stack.isFired('tournament.create.after-charge')).toBe(true);
      await world.stack.ready();
      expect(await world.balance(player)).toBe('99.00');
      const closed = await insist(() => world.partner.closeRound(round.id));
      // The fee was posted, and refunded: a round without a score has no entrants.
      expect(closed).toMatchObject({ status: 'cancelled', entrant_count: 0 });
      expect(await movements(world, player)).toEqual(['fee -1.00', 'refund 1.00']);
    });

    test('a fault charges nothing later for an entry whose service died before its fee', async () => {
      const round = await world.newRound();
      const player = await world.newPlayer();
      world.stack.arm('tournament.create.before-charge', 'kill');
      const key = randomUUID();
      const entry = { tournament_round_id: round.id, player_ref: player.ref };
      const answer = await world.partner.createAttempt(entry, key);
      expect([0, 500], answer.text).toContain(answer.status);
      await world.stack.ready();
      const closed = await insist(() => world.partner.closeRound(round.id));
      expect(closed).toMatchObject({ status: 'cancelled', entrant_count: 0 });
      expectError(409, 'entries_closed', await world.partner.createAttempt(entry, key));
      expect(await movements(world, player)).toEqual([]);
    });

    test('a round whose wallet is down is settling, shows no result, and settles when the wallet is back', async () => {
      const round = await world.newRound();
      const [first, second, silent] = (await newPlayers(world, 3)) as [Player, Player, Player];
      await world.playRound(round.id, first, 20);
      await world.playRound(round.id, second, 10);
      const open = await openAttempt(world, round, silent);
      const running = await rows(world, round, first);
      await world.stack.stop('wallet');
      expectError(500, 'internal_error', await world.partner.closeRound(round.id));
      const board = fullBoard(await world.partner.getLeaderboard(round.id, first.ref));
      expect(board.round).toMatchObject({ status: 'settling', settled_at: null });
      expect(board.data).toEqual(running);
      expectError(409, 'entries_closed', await enter(world, round, first));
      await world.stack.restart('wallet');
      await awaitStatus(round, 'settled');
      // Tournament paid; the gateway has channels of its own to the wallet, which may still be broken.
      const isReached = async () =>
        (await world.operator.statement(first.accountId, 'test')).status === 200 || undefined;
      await eventually(isReached, 'the gateway reaches the wallet again');
      expect(await movements(world, first)).toEqual(['fee -1.00', 'purse 5.00']);
      expect(await movements(world, second)).toEqual(['fee -1.00', 'purse 3.00']);
      expect(await movements(world, silent)).toEqual(['fee -1.00', 'refund 1.00']);
      expectError(409, 'round_closed', await world.partner.reportOutcome(open, { score: 100 }));
      await world.expectAuditOk();
    });

    test('a round whose time comes while everything is down settles once when all is back', async () => {
      const { query } = world.stack.database('tournament');
      const settling = await world.newRound();
      const cancelling = await world.newRound({ min_entrants: 9 });
      const [first, second, silent] = (await newPlayers(world, 3)) as [Player, Player, Player];
      for (const round of [settling, cancelling]) {
        await world.playRound(round.id, first, 20);
        await world.playRound(round.id, second, 10);
        await openAttempt(world, round, silent);
      }
      const live = await world.newRound({ environment: 'live' });
      const real = await world.newPlayer({ environment: 'live' });
      const entry = { tournament_round_id: live.id, player_ref: real.ref };
      const attempt = expectStatus(201, await world.program.live.createAttempt(entry)).body;
      expectStatus(200, await world.program.live.reportOutcome(attempt.id, { score: 1 }));
      const DOWN = ['gateway', 'tournament', 'wallet'] as const;
      await Promise.all(DOWN.map((service) => world.stack.stop(service)));
      // Their time ends meanwhile. The triggers let no live round end sooner, so this update disables them.
      await query(`
        begin;
        set local session_replication_role = replica;
        update rounds set entries_close_at = opens_at + (now() - opens_at) / 2, closes_at = now()
        where id in ('${settling.id}', '${cancelling.id}', '${live.id}');
        commit`);
      // The worst order: the service that settles is back before the service that pays.
      await world.stack.restart('tournament');
      await Promise.all([world.stack.restart('wallet'), world.stack.restart('gateway')]);
      await awaitStatus(settling, 'settled');
      await awaitStatus(cancelling, 'cancelled');
      await awaitStatus(live, 'settled', world.program.live);
      await world.expectAuditOk();
      expect(await world.balance(real, 'live')).toBe('104.00');
      expect(await world.balance(real, 'test')).toBe('0.00');
      expect(await lines(first)).toEqual(['fee -1.00', 'fee -1.00', 'purse 5.00', 'refund 1.00']);
      expect(await lines(second)).toEqual(['fee -1.00', 'fee -1.00', 'purse 3.00', 'refund 1.00']);
      expect(await lines(silent)).toEqual(['fee -1.00', 'fee -1.00', 'refund 1.00', 'refund 1.00']);
    });

    /** Repeats the request until the round is closed; the breakers of its callers reject it while a service has just come back. */
    function insist(ask: () => Promise<Answer<Round>>): Promise<Round> {
      return eventually(async () => {
        const answer = await ask();
        if (answer.status === 200) return answer.body;
        expectError(500, 'internal_error', answer);
        return undefined;
      }, 'the round closed');
    }

    function awaitStatus(round: Round, status: string, partner = world.partner): Promise<Round> {
      return eventually(async () => {
        const answer = await partner.getLeaderboard(round.id);
        return answer.status === 200 && answer.body.round.status === status ? answer.body.round : undefined;
      }, `the round is ${status}`);
    }

    const lines = async (player: Player) => (await movements(world, player)).sort();
  });

  test('the audit is good after the ends of rounds', () => world.expectAuditOk());
});
