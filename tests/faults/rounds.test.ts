import { randomUUID } from 'node:crypto';
import type { Round } from '@laurel/sdk';
import type { Answer } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { enter, movements, newPlayers, openAttempt, rows } from '../money/rounds.ts';
import { eventually, expectError, expectStatus, fullBoard, type Player, startWorld, type World } from '../world.ts';

describe('a round after a fault', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ failpoints: true, restart: true });
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  test('an entry that was charged but got no response is refunded after a fault', async () => {
    const round = await world.newRound();
    const player = await world.newPlayer();
    world.stack.arm('tournament.create.after-charge', 'kill');
    const answer = await enter(world, round, player);
    expect([0, 500], answer.text).toContain(answer.status);
    expect(world.stack.isFired('tournament.create.after-charge')).toBe(true);
    await world.stack.ready();
    expect(await world.balance(player)).toBe('99.00');
    const closed = await insist(() => world.partner.closeRound(round.id));
    // The fee was posted and refunded: a round without a score has no entrants.
    expect(closed).toMatchObject({ status: 'cancelled', entrant_count: 0 });
    expect(await movements(world, player)).toEqual(['fee -1.00', 'refund 1.00']);
  });

  test('an entry whose service died before the charge is never charged later', async () => {
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

  test('a round that closes while the wallet is down settles once the wallet is back', async () => {
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
    // Only the wallet knows whose account a ref names, so while it is down no row is marked as the
    // player's own.
    expect(board.data).toEqual(running.map(({ is_player, ...row }) => row));
    expectError(409, 'entries_closed', await enter(world, round, first));
    await world.stack.restart('wallet');
    await awaitStatus(round, 'settled');
    // The tournament service has reached the wallet; the gateway's own channels to it may still be
    // broken.
    const isReached = async () => (await world.operator.statement(first.accountId, 'test')).status === 200 || undefined;
    await eventually(isReached, 'the gateway reaches the wallet again');
    expect(await movements(world, first)).toEqual(['fee -1.00', 'purse 5.00']);
    expect(await movements(world, second)).toEqual(['fee -1.00', 'purse 3.00']);
    expect(await movements(world, silent)).toEqual(['fee -1.00', 'refund 1.00']);
    expectError(409, 'round_closed', await world.partner.reportOutcome(open, { score: 100 }));
    await world.expectAuditOk();
  });

  test('a round that ends while every service is down settles once when they are back', async () => {
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
    // The time of these rounds ends while the services are down. Triggers keep a live round from
    // ending early, so this update disables them.
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

  /**
   * Repeats the request until the round is closed; the callers' breakers reject it while a service
   * has just restarted.
   */
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

  test('the audit finds no violation after faults in rounds', () => world.expectAuditOk());
});
