import { randomUUID } from 'node:crypto';
import type { Round } from '@laurel/sdk';
import type { PayoutBody } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectError, expectStatus, fullBoard, type Player, startWorld, type World } from '../world.ts';
import { close, movements, newPlayers, openAttempt, rows } from './rounds.ts';

describe('the end of a round', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  async function payoutOf(round: Round, player: Player): Promise<PayoutBody> {
    const { data } = expectStatus(200, await world.operator.listPayouts()).body;
    const found = data.filter((payout) => payout.round_id === round.id && payout.account_id === player.accountId);
    expect(found).toHaveLength(1);
    return found[0] as PayoutBody;
  }

  describe('a settled round', () => {
    test('a settled round pays each rank of the frozen purse table once', async () => {
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

    test('a round pays each person for only one rank', async () => {
      const round = await world.newRound();
      const player = await world.newPlayer();
      const twin = { ...player, ref: randomUUID() };
      expectStatus(201, await world.partner.linkPlayer(twin.ref, player.email));
      await world.playRound(round.id, player, 10);
      await world.playRound(round.id, twin, 20);
      await close(world, round);
      expect(await movements(world, player)).toEqual(['fee -1.00', 'fee -1.00', 'purse 5.00']);
    });

    test('a round pays the account that played, even if its ref now names another account', async () => {
      const round = await world.newRound();
      const [player, other] = (await newPlayers(world, 2)) as [Player, Player];
      await world.playRound(round.id, player, 10);
      expectStatus(201, await world.partner.linkPlayer(player.ref, other.email));
      await close(world, round);
      expect(await world.balance(player)).toBe('104.00');
      expect(await world.balance(other)).toBe('100.00');
    });

    test('a round pays a purse of any size that was frozen before the first entry', async () => {
      const round = await world.newRound({ purse_table: [{ rank: 1, amount: '750.00' }] });
      const player = await world.newPlayer();
      await world.playRound(round.id, player, 10);
      await close(world, round);
      expect(await world.balance(player)).toBe('849.00');
    });

    test('the sandbox cannot close a live round', async () => {
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
    ])('a round cancelled for %s refunds every entry once', async (_what, terms) => {
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

    test.each(['test', 'live'] as const)(
      'a round in %s that an operator cancels refunds every entry once',
      async (environment) => {
        const { id } = await world.newRound({ environment, entry_fee: '2.50' });
        const partner = world.program[environment];
        const [scorer, silent] = [await world.newPlayer({ environment }), await world.newPlayer({ environment })];
        const enterBy = async ({ ref }: Player) =>
          expectStatus(201, await partner.createAttempt({ tournament_round_id: id, player_ref: ref })).body.id;
        const scored = await enterBy(scorer);
        expectStatus(200, await partner.reportOutcome(scored, { score: 20 }));
        const [second, open] = [await enterBy(scorer), await enterBy(silent)];

        const reason = `The game server counted every score twice: ${randomUUID()}`;
        const cancelled = expectStatus(200, await world.operator.cancelRound(id, reason)).body;
        const { cancellation, program_id: _program, environment: _environment, ...round } = cancelled;
        expect(cancellation).toEqual({ cancelled_at: round.closes_at, operator: 'operator', reason });
        expect(round).toMatchObject({ status: 'cancelled', settled_at: null, entries_close_at: round.closes_at });
        for (const player of [scorer, silent]) expect(await world.balance(player, environment)).toBe('100.00');

        const board = await partner.getLeaderboard(id, silent.ref);
        expect(fullBoard(board)).toEqual({
          round,
          scored_players: 1,
          data: [
            expect.objectContaining({
              player_ref: scorer.ref,
              final_rank: null,
              payout_amount: '0.00',
              payout_status: 'refunded',
            }),
          ],
        });
        const listed = await partner.listTournaments('all');
        for (const answer of [board, listed]) expect(answer.text).not.toContain(reason);
        expect(listed.body.data.find((one) => one.id === round.tournament_id)?.current_round).toEqual(round);
        expect((await partner.getAttempt(scored)).body).toMatchObject({ status: 'settled', outcome: { score: 20 } });
        for (const attempt of [second, open]) {
          expect((await partner.getAttempt(attempt)).body).toMatchObject({ status: 'expired', outcome: null });
          expectError(409, 'round_closed', await partner.reportOutcome(attempt, { score: 99 }));
        }
        const late = { tournament_round_id: id, player_ref: silent.ref };
        expectError(409, 'entries_closed', await partner.createAttempt(late));

        const again = await world.operator.cancelRound(id, 'Another reason.');
        expectError(409, 'conflict', again);
        expect(again.text).toContain(reason);
        const query = `/actions?${new URLSearchParams({ action: 'cancel_round', subject: `round:${id}` })}`;
        const { data } = expectStatus(200, await world.operator.send<{ data: object[] }>('GET', query)).body;
        expect(data).toMatchObject([
          { actor: 'operator', outcome: 'refused', request: { body: { reason: 'Another reason.' } } },
          { actor: 'operator', outcome: 'done', request: { body: { reason } }, after: { id, cancellation } },
        ]);
        await world.expectAuditOk();
      },
    );

    test('only an operator can cancel a round', async () => {
      const { portal, program } = await world.newDeveloper();
      const round = await world.newRound({}, program);
      const path = `/api/operator/rounds/${round.id}/cancel`;
      const body = { reason: 'We would have to pay.' };
      for (const key of [program.test.apiKey, program.live.apiKey]) {
        for (const headers of [{ 'x-api-key': key }, { authorization: `Bearer ${key}` }]) {
          expectStatus(401, await world.http.send('POST', path, { headers, body }));
        }
      }
      expectStatus(401, await portal.send('POST', `/../operator/rounds/${round.id}/cancel`, { body }));
      expect((await program.test.getLeaderboard(round.id)).body.round).toEqual(round);
    });

    test('a round without entries is cancelled without a transfer', async () => {
      expect((await close(world, await world.newRound())).status).toBe('cancelled');
    });

    test('expired, voided and open attempts do not count as entrants', async () => {
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
      // If the player of the open attempt counted, the round would have settled. But the fee of
      // that attempt is refunded first.
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

    test('a round with exactly the minimum of entrants and scored attempts settles', async () => {
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

    /**
     * A settled round. The purse of the first player is held, and the purse of the second was paid.
     */
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

    test.each(HOLDS)('the release of a purse held by %s pays the purse once', async (reason, hold) => {
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

    test.each(HOLDS)('a purse held by %s is shown to players as held after its denial', async (reason, hold) => {
      const { round, winner } = await heldRound(hold);
      const [held] = await heldPayouts(round);
      const board = await rows(world, round, winner);
      const denied = expectStatus(200, await world.operator.denyPayout(held?.award_id ?? '', 'a bot')).body;
      const decision = { decision: 'denied', at: expect.any(String), operator: 'operator', reason: 'a bot' };
      expect(denied).toEqual({ ...held, status: 'denied', reason, decision });
      const listed = expectStatus(200, await world.operator.listPayouts('denied')).body.data;
      expect(listed.filter((payout) => payout.round_id === round.id)).toEqual([denied]);
      expect(board[0]).toMatchObject({ final_rank: 1, payout_amount: '5.00', payout_status: 'held' });
      expect(await rows(world, round, winner)).toEqual(board);
    });

    test('the denial of a held purse leaves the purse unpaid permanently', async () => {
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

    test('a concurrent release and denial leave a held purse either paid or denied', async () => {
      for (let count = 0; count < 4; count += 1) {
        const { round, winner } = await heldRound(null);
        const awardId = (await heldPayouts(round))[0]?.award_id ?? '';
        const answers = await Promise.all([world.operator.releasePayout(awardId), world.operator.denyPayout(awardId)]);
        expect(answers.map((answer) => answer.status).sort()).toEqual([200, 409]);
        expect(await world.balance(winner)).toBe(answers[0]?.status === 200 ? '104.00' : '99.00');
      }
    });
  });

  test('the audit finds no violation after the ends of rounds', () => world.expectAuditOk());
});
