import { randomUUID } from 'node:crypto';
import type { Attempt, Round } from '@laurel/sdk';
import type { Answer } from '@laurel/testing';
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

  describe('entries in a round', () => {
    test('an entry charges the entry fee and returns the whole attempt', async () => {
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

    test.each([
      ['self-excluded', {}, { self_excluded_until: '2999-01-01T00:00:00.000Z' }],
      ['blocked', {}, { blocked: true }],
      ['under age', { date_of_birth: '2015-01-01' }, {}],
    ] as const)('an entry of a player who is %s is 403 and charges nothing', async (_what, account, changes) => {
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

    test('an insider’s entry is 403 only in the program’s own live rounds', async () => {
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
  });

  describe('outcomes in a round', () => {
    test('an outcome in a round is ranked on the board and pays nothing', async () => {
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

    test('an outcome without the declared tiebreak is 422 and leaves the attempt open', async () => {
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
      // A refused report leaves its idempotency key free.
      expectStatus(200, await world.partner.reportOutcome(id, { score: 5, tiebreak: -2.5 }, key));
      const after = fullBoard(await world.partner.getLeaderboard(round.id, player.ref));
      expect(after.data).toMatchObject([{ best_score: 5, best_tiebreak: -2.5 }]);
    });
  });

  describe('Idempotency-Keys of entries', () => {
    test('a repeated entry is replayed byte for byte and charges nothing again', async () => {
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
  });

  test('a round, its board and its attempts are 404 for another program or environment', async () => {
    const other = await world.newProgram();
    const round = await world.newRound();
    const live = await world.newRound({ environment: 'live' });
    const player = await world.newPlayer();
    const elsewhere = await world.newPlayer({ partner: other.test });
    const id = await openAttempt(round, player);
    const unknown = await enter({ ...round, id: randomUUID() }, player);
    const answers: Answer<unknown>[] = [
      unknown,
      await enter(live, player),
      await world.partner.getLeaderboard(live.id),
    ];
    for (const foreign of [round.tournament_id, `${round.id}0`, 'nonsense']) {
      answers.push(await world.partner.getLeaderboard(foreign));
    }
    answers.push(await enter({ ...round, id: round.tournament_id }, player));
    for (const outsider of [other.test, other.live, world.program.live]) {
      answers.push(
        await enter(round, outsider === world.program.live ? player : elsewhere, outsider),
        await outsider.getLeaderboard(round.id, player.ref),
        await outsider.getAttempt(id),
        await outsider.reportOutcome(id, { score: 100 }),
      );
    }
    answers.push(await other.test.expireAttempt(id));
    for (const call of ['closeRound', 'closeEntries'] as const) answers.push(await other.test[call](round.id));
    for (const answer of answers) {
      expectError(404, 'not_found', answer);
      expect(answer.text).toBe(unknown.text);
    }
    expectStatus(401, await world.program.live.send('POST', `/api/sandbox/rounds/${round.id}/close`));
    expect(expectStatus(200, await world.partner.getAttempt(id)).body).toMatchObject({ status: 'open' });
    expect([await world.balance(player), await world.balance(elsewhere)]).toEqual(['99.00', '100.00']);
  });

  test('the audit finds no violation after attempts in rounds', () => world.expectAuditOk());
});
