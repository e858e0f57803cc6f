import { randomUUID } from 'node:crypto';
import type { Attempt, Round } from '@laurel/sdk';
import type { Answer } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  expectError,
  expectStatus,
  fullBoard,
  inMinutes,
  joinWorld,
  type Player,
  type SharedWorld,
  WITH_TIEBREAK,
} from '../world.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('attempts in a tournament round', () => {
  let world: SharedWorld;
  beforeAll(async () => {
    world = await joinWorld();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  const enter = ({ id }: Round, { ref }: Pick<Player, 'ref'>, partner = world.partner): Promise<Answer<Attempt>> =>
    partner.createAttempt({ tournament_round_id: id, player_ref: ref });

  async function openAttempt(round: Round, player: Player): Promise<string> {
    return expectStatus(201, await enter(round, player)).body.id;
  }

  async function entrants(round: Round): Promise<number> {
    return expectStatus(200, await world.partner.getLeaderboard(round.id)).body.round.entrant_count;
  }

  /** Another ref of the same person. */
  async function twinOf(player: Player): Promise<Player> {
    const twin = { ...player, ref: `twin-${randomUUID()}` };
    expectStatus(201, await world.partner.linkPlayer(twin.ref, player.email));
    return twin;
  }

  describe('entries in a round', () => {
    test('an entry charges the entry fee and answers the whole attempt', async () => {
      const round = await world.newRound({ entry_fee: '2.50' });
      const player = await world.newPlayer({ funds: '10.00' });
      const metadata = { match: 'a-17', ünï: [1, 2.5, null, { deep: '選手' }] };
      const entry = { tournament_round_id: round.id, player_ref: player.ref, metadata };
      const answer = expectStatus(201, await world.partner.createAttempt(entry));
      expect(answer.body).toEqual({
        id: expect.stringMatching(UUID),
        challenge_id: null,
        tournament_round_id: round.id,
        player_ref: player.ref,
        status: 'open',
        fee_charged: '2.50',
        created_at: expect.stringMatching(TIMESTAMP),
        metadata,
        outcome: null,
      });
      expect(await entrants(round)).toBe(1);
      expect(await world.balance(player)).toBe('7.50');
      expect(expectStatus(200, await world.partner.getAttempt(answer.body.id)).body).toEqual(answer.body);
      const { data } = expectStatus(200, await world.operator.statement(player.accountId, 'test')).body;
      expect(data[0]).toMatchObject({ kind: 'fee', amount: '-2.50', reference: answer.body.id });
    });

    test('each entry up to the cap costs the same, and the refused one costs nothing', async () => {
      const round = await world.newRound({ attempt_cap: 3, entry_fee: '2.00' });
      const player = await world.newPlayer();
      for (let count = 0; count < 3; count += 1) {
        expect(expectStatus(201, await enter(round, player)).body.fee_charged).toBe('2.00');
      }
      expectError(409, 'attempt_cap_reached', await enter(round, player));
      expect(await world.balance(player)).toBe('94.00');
      expect(await entrants(round)).toBe(1);
      // The cap is per player.
      const other = await world.newPlayer();
      expectStatus(201, await enter(round, other));
      expect(await entrants(round)).toBe(2);
    });

    test('entries of two refs of one account share one cap and count one entrant', async () => {
      const round = await world.newRound({ attempt_cap: 3 });
      const player = await world.newPlayer();
      const twin = await twinOf(player);
      expectStatus(201, await enter(round, player));
      expectStatus(201, await enter(round, twin));
      expectStatus(201, await enter(round, player));
      for (const either of [player, twin]) expectError(409, 'attempt_cap_reached', await enter(round, either));
      expect(await entrants(round)).toBe(1);
    });

    test('entries count against the cap of their own round only', async () => {
      const tournament = await world.newTournament({ attempt_cap: 1 });
      const player = await world.newPlayer();
      const first = await world.openRound(tournament.id);
      expectStatus(201, await enter(first, player));
      expectStatus(200, await world.partner.closeRound(first.id));
      const second = await world.openRound(tournament.id);
      expectStatus(201, await enter(second, player));
      expectError(409, 'attempt_cap_reached', await enter(second, player));
    });

    test.each(['expired', 'voided'])('entries that are %s return the fee and the slot under the cap', async (how) => {
      const round = await world.newRound({ attempt_cap: 1 });
      const player = await world.newPlayer();
      const id = await openAttempt(round, player);
      expectError(409, 'attempt_cap_reached', await enter(round, player));
      const ended =
        how === 'expired'
          ? await world.partner.expireAttempt(id)
          : await world.operator.voidAttempt(id, 'a tester asked');
      expect(expectStatus(200, ended).body).toMatchObject({ id, status: how, fee_charged: '1.00', outcome: null });
      expect(await world.balance(player)).toBe('100.00');
      expectError(409, 'attempt_already_settled', await world.partner.reportOutcome(id, { score: 1 }));
      expectStatus(201, await enter(round, player));
      expect(await world.balance(player)).toBe('99.00');
      expect(await entrants(round)).toBe(1);
    });

    test('an entry without an account or money is 402, and leaves no trace', async () => {
      const round = await world.newRound({ entry_fee: '5.00' });
      const poor = await world.newPlayer({ funds: '4.99' });
      const unlinked = { ref: randomUUID() };
      for (const player of [poor, unlinked]) {
        expectError(402, 'insufficient_funds', await enter(round, player));
        const board = expectStatus(200, await world.partner.getLeaderboard(round.id, player.ref)).body;
        expect(board).toMatchObject({ locked: true });
      }
      expect(await entrants(round)).toBe(0);
      expect(await world.balance(poor)).toBe('4.99');
    });

    test('an entry may spend the last cent', async () => {
      const round = await world.newRound({ entry_fee: '5.00' });
      const player = await world.newPlayer({ funds: '5.00' });
      expectStatus(201, await enter(round, player));
      expect(await world.balance(player)).toBe('0.00');
    });

    test.each([
      ['self-excluded', {}, { self_excluded_until: '2999-01-01T00:00:00.000Z' }],
      ['blocked', {}, { blocked: true }],
      ['under age', { date_of_birth: '2015-01-01' }, {}],
    ] as const)('entries are 403 for a player who is %s, and charge nothing', async (_what, account, changes) => {
      const round = await world.newRound();
      const player = await world.newPlayer({ account });
      if (Object.keys(changes).length > 0) {
        expectStatus(200, await world.operator.updateAccount(player.accountId, changes));
      }
      expectError(403, 'blocked', await enter(round, player));
      expect(await world.balance(player)).toBe('100.00');
      expect(await entrants(round)).toBe(0);
    });

    test('an entry needs no verification and no particular location', async () => {
      const round = await world.newRound({ environment: 'live' });
      const account = { verification_level: 0, jurisdiction: 'US-WA' };
      const player = await world.newPlayer({ environment: 'live', account });
      expectStatus(201, await enter(round, player, world.program.live));
    });

    test('an insider’s entry is 403 in the program’s own live rounds, and only there', async () => {
      const other = await world.newProgram();
      const player = await world.newPlayer({ environment: 'live' });
      expectStatus(201, await world.operator.addInsider(world.program.id, player.accountId));
      expectStatus(201, await other.live.linkPlayer(player.ref, player.email));
      const tester = await world.newPlayer();
      expectStatus(201, await world.operator.addInsider(world.program.id, tester.accountId));

      const live = await world.newRound({ environment: 'live' });
      expectError(403, 'insider_entry', await enter(live, player, world.program.live));
      expect(await world.balance(player, 'live')).toBe('100.00');
      const masked = expectStatus(200, await world.program.live.getLeaderboard(live.id, player.ref)).body;
      expect(masked).toMatchObject({ locked: true, entrant_count: 0 });

      expectStatus(201, await enter(await world.newRound(), tester));
      const elsewhere = await world.newRound({ environment: 'live' }, other);
      expectStatus(201, await enter(elsewhere, player, other.live));
      const challenge = await world.newChallenge({ environment: 'live' });
      const attempt = { challenge_id: challenge.id, player_ref: player.ref };
      expectStatus(201, await world.program.live.createAttempt(attempt));
    });

    test('an entry in an unknown round, another program’s, or one of the other environment is 404', async () => {
      const other = await world.newProgram();
      const round = await world.newRound();
      const live = await world.newRound({ environment: 'live' });
      const player = await world.newPlayer();
      const elsewhere = await world.newPlayer({ partner: other.test });
      const unknown = await enter({ ...round, id: randomUUID() }, player);
      expectError(404, 'not_found', unknown);
      for (const answer of [
        await enter(round, elsewhere, other.test),
        await enter(round, elsewhere, other.live),
        await enter(round, player, world.program.live),
        await enter(live, player),
        // The id of something else.
        await enter({ ...round, id: round.tournament_id }, player),
      ]) {
        expectError(404, 'not_found', answer);
        expect(answer.text).toBe(unknown.text);
      }
      expect(await world.balance(player)).toBe('100.00');
      expect(await world.balance(elsewhere)).toBe('100.00');
    });

    test('closed entries refuse first and further ones, while scores are still accepted', async () => {
      const round = await world.newRound();
      const player = await world.newPlayer();
      const id = await openAttempt(round, player);
      const closed = expectStatus(200, await world.partner.closeEntries(round.id)).body;
      expect(closed).toMatchObject({ id: round.id, status: 'open', closes_at: round.closes_at, settled_at: null });
      expect(Date.parse(closed.entries_close_at)).toBeLessThanOrEqual(Date.now());
      expectError(409, 'entries_closed', await enter(round, player));
      expectError(409, 'entries_closed', await enter(round, await world.newPlayer()));
      expectStatus(200, await world.partner.reportOutcome(id, { score: 3 }));
      expect(await world.balance(player)).toBe('99.00');
      expect(await entrants(round)).toBe(1);
      // A repeated close changes nothing.
      expect(expectStatus(200, await world.partner.closeEntries(round.id)).body).toEqual(closed);
    });

    test('entries close ten minutes before their round does', async () => {
      const tournament = await world.newTournament();
      const times = { opens_at: inMinutes(-60), closes_at: inMinutes(12) };
      const round = expectStatus(201, await world.operator.openRound(tournament.id, times)).body;
      expect(Date.parse(round.closes_at) - Date.parse(round.entries_close_at)).toBe(600_000);
      expectStatus(200, await world.partner.closeEntries(round.id));
      expectError(409, 'entries_closed', await enter(round, await world.newPlayer()));
      const longer = await world.newTournament();
      const later = { opens_at: inMinutes(-60), closes_at: inMinutes(11.2) };
      const open = expectStatus(201, await world.operator.openRound(longer.id, later)).body;
      expectStatus(201, await enter(open, await world.newPlayer()));
    });

    test('entries do not open before their round does', async () => {
      const tournament = await world.newTournament();
      const times = { opens_at: inMinutes(1), closes_at: inMinutes(60) };
      const round = expectStatus(201, await world.operator.openRound(tournament.id, times)).body;
      expectError(409, 'entries_closed', await enter(round, await world.newPlayer()));
    });

    test.each(['settled', 'cancelled'])('entries are refused by a round that is %s', async (status) => {
      const round = await world.newRound({ min_entrants: status === 'settled' ? 1 : 2 });
      const player = await world.newPlayer();
      await world.playRound(round.id, player, 1);
      const closed = expectStatus(200, await world.partner.closeRound(round.id)).body;
      expect(closed.status).toBe(status);
      expectError(409, 'entries_closed', await enter(round, player));
      expectError(409, 'conflict', await world.partner.closeEntries(round.id));
    });

    test('entries stay with the account that paid when the link moves, and the ref starts without entries', async () => {
      const round = await world.newRound({ attempt_cap: 1 });
      const first = await world.newPlayer();
      const second = await world.newPlayer();
      const id = await openAttempt(round, first);
      expectStatus(201, await world.partner.linkPlayer(first.ref, second.email));
      expectStatus(201, await enter(round, first));
      expect(await world.balance(second)).toBe('99.00');
      expect(await entrants(round)).toBe(2);
      expectStatus(200, await world.partner.reportOutcome(id, { score: 2 }));
      const { data } = fullBoard(await world.partner.getLeaderboard(round.id, first.ref));
      // The board shows the first person's run; the second person, to whom the ref is linked now, has no score.
      expect(data).toEqual([]);
    });

    test('an entry that ends after the link moved is refunded to the account that paid', async () => {
      const round = await world.newRound();
      const first = await world.newPlayer();
      const second = await world.newPlayer();
      const id = await openAttempt(round, first);
      expectStatus(201, await world.partner.linkPlayer(first.ref, second.email));
      expectStatus(200, await world.partner.expireAttempt(id));
      expect(await world.balance(first)).toBe('100.00');
      expect(await world.balance(second)).toBe('100.00');
    });
  });

  describe('outcomes in a round', () => {
    test('an outcome in a round goes on the board, decides nothing and pays nothing', async () => {
      const round = await world.newRound();
      const player = await world.newPlayer();
      const id = await openAttempt(round, player);
      const answer = expectStatus(200, await world.partner.reportOutcome(id, { score: 12.5, evidence: { a: [1] } }));
      expect(answer.body).toEqual({
        attempt_id: id,
        score: 12.5,
        met_threshold: false,
        threshold_applied: null,
        recorded_at: expect.stringMatching(TIMESTAMP),
        receipt_id: expect.stringMatching(UUID),
        award: null,
      });
      const read = expectStatus(200, await world.partner.getAttempt(id)).body;
      expect(read).toMatchObject({ challenge_id: null, tournament_round_id: round.id, status: 'settled' });
      expect(read.outcome).toEqual(answer.body);
      const board = fullBoard(await world.partner.getLeaderboard(round.id, player.ref));
      expect(board.data.map((row) => row.best_score)).toEqual([12.5]);
      expect(await world.balance(player)).toBe('99.00');
      const receipt = expectStatus(200, await world.operator.getReceipt(answer.body.receipt_id)).body;
      expect(receipt.receipt).toMatchObject({ tournament_round_id: round.id, attempt_id: id, evidence: { a: [1] } });
    });

    test.each([0, -0, -12.75, 0.1, 1e-300, 5e-324, 1e21, 1.7976931348623157e308, -1.7976931348623157e308])(
      'an outcome in a round echoes the score %d exactly, on the attempt and on the board',
      async (score) => {
        const round = await world.newRound();
        const player = await world.newPlayer();
        const id = await openAttempt(round, player);
        const expected = Object.is(score, -0) ? 0 : score;
        expect(expectStatus(200, await world.partner.reportOutcome(id, { score })).body.score).toBe(expected);
        expect(expectStatus(200, await world.partner.getAttempt(id)).body.outcome?.score).toBe(expected);
        const board = fullBoard(await world.partner.getLeaderboard(round.id, player.ref));
        expect(board.data[0]?.best_score).toBe(expected);
      },
    );

    test('an outcome without the declared tiebreak is 422 and leaves the attempt open for a correct one', async () => {
      const round = await world.newRound(WITH_TIEBREAK);
      const player = await world.newPlayer();
      const id = await openAttempt(round, player);
      const key = randomUUID();
      for (const again of [key, key, randomUUID()]) {
        expectError(422, 'tiebreak_required', await world.partner.reportOutcome(id, { score: 5 }, again));
      }
      expect(expectStatus(200, await world.partner.getAttempt(id)).body).toMatchObject({
        status: 'open',
        outcome: null,
      });
      const board = fullBoard(await world.partner.getLeaderboard(round.id, player.ref));
      expect(board).toMatchObject({ scored_players: 0, data: [] });
      // A refusal keeps no key.
      expectStatus(200, await world.partner.reportOutcome(id, { score: 5, tiebreak: -2.5 }, key));
      const after = fullBoard(await world.partner.getLeaderboard(round.id, player.ref));
      expect(after.data).toMatchObject([{ best_score: 5, best_tiebreak: -2.5 }]);
    });

    test('an undeclared tiebreak is accepted and ignored', async () => {
      const round = await world.newRound();
      const player = await world.newPlayer();
      const { receipt_id } = await world.playRound(round.id, player, 5, 77);
      const board = fullBoard(await world.partner.getLeaderboard(round.id, player.ref));
      expect(board.data).toMatchObject([{ best_score: 5, best_tiebreak: null }]);
      const { receipt } = expectStatus(200, await world.operator.getReceipt(receipt_id)).body;
      expect(receipt).toMatchObject({ tiebreak: 77, tiebreak_metric_name: null });
    });

    test('an outcome in a round is accepted once: another key is 409, the same key replays', async () => {
      const round = await world.newRound();
      const player = await world.newPlayer();
      const id = await openAttempt(round, player);
      const key = randomUUID();
      const first = expectStatus(200, await world.partner.reportOutcome(id, { score: 1 }, key));
      for (const score of [1, 100]) {
        expectError(409, 'attempt_already_settled', await world.partner.reportOutcome(id, { score }));
      }
      const replay = expectStatus(200, await world.partner.reportOutcome(id, { score: 1 }, key));
      expect(replay.text).toBe(first.text);
      expect(replay.headers['idempotency-replayed']).toBe('true');
      expectError(409, 'idempotency_key_reused', await world.partner.reportOutcome(id, { score: 2 }, key));
      const board = fullBoard(await world.partner.getLeaderboard(round.id, player.ref));
      expect(board.data).toMatchObject([{ best_score: 1 }]);
      expectError(409, 'attempt_already_settled', await world.partner.expireAttempt(id));
      expectError(409, 'conflict', await world.operator.voidAttempt(id, 'too late'));
    });

    test.each([
      ['settled', 1],
      ['cancelled', 3],
    ])(
      'a report after the round was %s is round_closed: the attempt has expired and its entry is refunded',
      async (status, min) => {
        const round = await world.newRound({ ...WITH_TIEBREAK, min_entrants: min });
        const winner = await world.newPlayer();
        await world.playRound(round.id, winner, 10, 1);
        const late = await world.newPlayer();
        const id = await openAttempt(round, late);
        expect(expectStatus(200, await world.partner.closeRound(round.id)).body.status).toBe(status);
        expect(expectStatus(200, await world.partner.getAttempt(id)).body).toMatchObject({
          status: 'expired',
          fee_charged: '1.00',
          outcome: null,
        });
        expect(await world.balance(late)).toBe('100.00');
        // Also when the report would have been refused for its tiebreak.
        for (const report of [{ score: 99, tiebreak: 1 }, { score: 99 }]) {
          expectError(409, 'round_closed', await world.partner.reportOutcome(id, report));
        }
        const board = fullBoard(await world.partner.getLeaderboard(round.id, winner.ref));
        expect(board.data.map((row) => row.player_ref)).toEqual([winner.ref]);
      },
    );

    test('a report on an attempt that was settled before its round closed is attempt_already_settled', async () => {
      const round = await world.newRound();
      const player = await world.newPlayer();
      const { attempt_id } = await world.playRound(round.id, player, 10);
      expectStatus(200, await world.partner.closeRound(round.id));
      expectError(409, 'attempt_already_settled', await world.partner.reportOutcome(attempt_id, { score: 11 }));
      const read = expectStatus(200, await world.partner.getAttempt(attempt_id)).body;
      expect(read).toMatchObject({ status: 'settled', outcome: { score: 10 } });
    });

    test('a report on an entry of another program or the other environment is 404', async () => {
      const other = await world.newProgram();
      const round = await world.newRound();
      const player = await world.newPlayer();
      const id = await openAttempt(round, player);
      for (const outsider of [other.test, other.live, world.program.live]) {
        expectError(404, 'not_found', await outsider.getAttempt(id));
        expectError(404, 'not_found', await outsider.reportOutcome(id, { score: 100 }));
      }
      expectError(404, 'not_found', await other.test.expireAttempt(id));
      expectError(404, 'not_found', await other.test.closeRound(round.id));
      expectError(404, 'not_found', await other.test.closeEntries(round.id));
      expectStatus(401, await world.program.live.send('POST', `/api/sandbox/rounds/${round.id}/close`));
      expect(expectStatus(200, await world.partner.getAttempt(id)).body).toMatchObject({ status: 'open' });
    });
  });

  describe('Idempotency-Keys of entries', () => {
    test('a repeated entry is replayed byte for byte, takes no second slot and charges nothing again', async () => {
      const round = await world.newRound({ attempt_cap: 1 });
      const player = await world.newPlayer();
      const key = randomUUID();
      const body = { tournament_round_id: round.id, player_ref: player.ref, metadata: { b: 1, a: [1, { d: 1 }] } };
      const first = expectStatus(201, await world.partner.createAttempt(body, key));
      const expectReplay = async () => {
        const replay = expectStatus(201, await world.partner.createAttempt(body, key));
        expect(replay.text).toBe(first.text);
        expect(replay.headers['idempotency-replayed']).toBe('true');
      };
      await expectReplay();
      expectError(409, 'attempt_cap_reached', await enter(round, player));
      await expectReplay();
      expectStatus(200, await world.partner.reportOutcome(first.body.id, { score: 1 }));
      expectStatus(200, await world.partner.closeRound(round.id));
      await expectReplay();
      const { data } = expectStatus(200, await world.operator.statement(player.accountId, 'test')).body;
      expect(data.filter((line) => line.kind === 'fee')).toHaveLength(1);
    });

    test('an entry’s key is 409 with another body', async () => {
      const round = await world.newRound();
      const other = await world.newRound();
      const challenge = await world.newChallenge();
      const player = await world.newPlayer();
      const key = randomUUID();
      const body = { tournament_round_id: round.id, player_ref: player.ref };
      expectStatus(201, await world.partner.createAttempt(body, key));
      for (const another of [
        { ...body, tournament_round_id: other.id },
        { ...body, player_ref: randomUUID() },
        { ...body, metadata: {} },
        { challenge_id: challenge.id, player_ref: player.ref },
      ]) {
        expectError(409, 'idempotency_key_reused', await world.partner.createAttempt(another, key));
      }
      expect(await world.balance(player)).toBe('99.00');
    });

    test('a refused entry keeps no key: it may succeed later', async () => {
      const round = await world.newRound({ entry_fee: '5.00' });
      const player = await world.newPlayer({ funds: '1.00' });
      const key = randomUUID();
      const body = { tournament_round_id: round.id, player_ref: player.ref };
      expectError(402, 'insufficient_funds', await world.partner.createAttempt(body, key));
      const money = { environment: 'test', amount: '4.00', reference: randomUUID() };
      expectStatus(201, await world.operator.deposit(player.accountId, money));
      expectStatus(201, await world.partner.createAttempt(body, key));
      expect(await world.balance(player)).toBe('0.00');
    });

    test('20 parallel entries under one key are one entry', async () => {
      const round = await world.newRound();
      const player = await world.newPlayer();
      const key = randomUUID();
      const body = { tournament_round_id: round.id, player_ref: player.ref };
      const answers = await Promise.all(Array.from({ length: 20 }, () => world.partner.createAttempt(body, key)));
      const ids = new Set<string>();
      for (const answer of answers) {
        if (answer.status === 201) ids.add(answer.body.id);
        else expectError(409, 'idempotency_in_progress', answer);
      }
      expect(ids.size).toBe(1);
      expect(await world.balance(player)).toBe('99.00');
    });
  });

  test('the audit is good after attempts in rounds', () => world.expectAuditOk());
});
