/**
 * What each viewer sees of a board: masked, the window of a running round, or the complete table of
 * a round that is over.
 */

import type { AttemptOpener, PendingResolver, Wallet } from '@laurel/attempts';
import type { Player } from '@laurel/attempts/domain';
import {
  type GetLeaderboardResponse,
  PayoutStatus,
  RoundStatus,
  GetLeaderboardResponse_View as View,
} from '@laurel/proto/tournament';
import { expectAccepted } from '@laurel/testing';
import { newId, newOwnedId } from '@laurel/values/ids';
import { describe, expect, it } from 'vitest';
import { boardOf, play, roundOf, tableOf } from '../rounds.fixture.ts';
import {
  BY_SECONDS,
  created,
  LIVE_PROGRAM,
  OTHER_PROGRAM,
  PROGRAM,
  recorded,
  useHarness,
  verdictOf,
} from '../tournament.fixture.ts';
import { getLeaderboard } from './get-leaderboard.ts';

const h = useHarness();

const refsOf = ({ rows }: GetLeaderboardResponse) => rows.map(({ playerRef }) => playerRef);
const close = async (roundId: string) =>
  expectAccepted(await h.tournament.closeRound({ tenant: PROGRAM, roundId })).round;

describe('a board', () => {
  it('a board is not found by another tenant', async () => {
    const { round, player } = await h.openAttempt();
    for (const tenant of [OTHER_PROGRAM, LIVE_PROGRAM]) {
      const request = { tenant, roundId: round.id, playerRef: player.ref };
      expect(await h.tournament.getLeaderboard(request)).toMatchObject({ code: 'not_found' });
    }
    const unknown = { tenant: PROGRAM, roundId: newId(), playerRef: player.ref };
    expect(await h.tournament.getLeaderboard(unknown)).toMatchObject({ code: 'not_found' });
  });

  it('a board is masked for every viewer who has not entered, in every state of the round', async () => {
    const { round, player, attempt } = await h.openAttempt();
    const outsider = await h.player();
    const poor = await h.player(undefined, 0n);
    expect(verdictOf(await h.create(round.id, poor.ref))).toBe('insufficient_funds');
    const blocked = await h.player();
    await h.block(blocked.accountId);
    expect(verdictOf(await h.create(round.id, blocked.ref))).toBe('blocked');
    // An entry into another round is not an entry into this one.
    await play(h, (await h.openRound()).id, outsider, 1);
    recorded(await h.report(attempt.id, 7));
    const refs = ['', newId(), outsider.ref, poor.ref, blocked.ref];
    const seen = async () => Promise.all(refs.map((ref) => boardOf(h, round.id, ref)));

    const running = await seen();
    expect(running[0]).toEqual({
      round: expect.objectContaining({ id: round.id, status: RoundStatus.OPEN, entrantCount: 1 }),
      view: View.MASKED,
      scoredPlayers: 1,
      rows: [],
      playerEntryId: '',
    });
    expect(new Set(running.map((one) => JSON.stringify(one, bigints))).size).toBe(1);
    await close(round.id);
    const over = await seen();
    expect(over[0]).toMatchObject({ view: View.MASKED, rows: [], round: { status: RoundStatus.SETTLED } });
    expect(new Set(over.map((one) => JSON.stringify(one, bigints))).size).toBe(1);
    expect((await boardOf(h, round.id, player.ref)).view).toBe(View.COMPLETE);
  });

  it('a board shows the entry of the account that the player_ref names now', async () => {
    const round = await h.openRound({ attemptCap: 2 });
    const [before, after] = [await h.player(), await h.player()];
    const play = async (ref: string, score: number) =>
      recorded(await h.report(created(await h.create(round.id, ref)).id, score));
    await play(before.ref, 2);
    expectAccepted(
      await h.wallet.putPlayerLink({ player: { tenant: PROGRAM, playerRef: before.ref }, email: after.email }),
    );
    await play(before.ref, 1);
    const board = await boardOf(h, round.id, before.ref);
    expect(board.rows.map(({ playerRef }) => playerRef)).toEqual([before.ref, before.ref]);
    expect(board.playerEntryId).toBe(board.rows[1]?.entryId);
    expect((await boardOf(h, round.id, 'nobody')).playerEntryId).toBe('');
  });

  it('every viewer of a masked board causes the same queries', async () => {
    const { round } = await h.openAttempt();
    const outsider = await h.player();
    const poor = await h.player(undefined, 0n);
    await h.create(round.id, poor.ref);
    // The refusal is written after the response; a reader waits for it.
    await boardOf(h, round.id, poor.ref);
    const workFor = async (playerRef: string) => {
      const statements: string[] = [];
      const query: typeof h.database.query = (statement, values) => {
        statements.push(statement.text);
        return h.database.query(statement, values);
      };
      const resolver = { resolve: () => Promise.reject(new Error('the wallet was asked for a fee')) };
      const resolvePlayer = async ({ playerRef: ref }: Player) => {
        const player = { tenant: PROGRAM, playerRef: ref };
        return expectAccepted(await h.wallet.resolvePlayers({ players: [player] })).accountIds[0] || null;
      };
      const board = getLeaderboard({
        database: { ...h.database, query },
        opener: { isKnownPosted: () => false } as unknown as AttemptOpener,
        resolver: resolver as unknown as PendingResolver,
        wallet: { resolvePlayer } as unknown as Wallet,
        clock: h.clock,
      });
      const context = { requestId: undefined, caller: undefined, signal: new AbortController().signal };
      expect(await board({ tenant: PROGRAM, roundId: round.id, playerRef }, context)).toMatchObject({
        view: View.MASKED,
      });
      return statements;
    };
    const anonymous = await workFor('');
    expect(anonymous.length).toBe(5);
    for (const ref of [newId(), outsider.ref, poor.ref]) expect(await workFor(ref)).toEqual(anonymous);
  });

  it('an entrant who has scored sees the entrant’s own row and one row on either side', async () => {
    const round = await h.openRound();
    const players = await Promise.all(Array.from({ length: 5 }, () => h.player()));
    const [viewer] = players;
    if (viewer === undefined) throw new Error('no player');
    const attempt = created(await h.create(round.id, viewer.ref));
    expect(await boardOf(h, round.id, viewer.ref)).toEqual({
      round: await roundOf(h, round.id),
      view: View.WINDOW,
      scoredPlayers: 0,
      rows: [],
      playerEntryId: expect.any(String),
    });

    for (const [index, player] of players.slice(1).entries()) await play(h, round.id, player, (index + 1) * 10);
    expect(await boardOf(h, round.id, viewer.ref)).toMatchObject({ view: View.WINDOW, scoredPlayers: 4, rows: [] });
    recorded(await h.report(attempt.id, 25));
    const board = await boardOf(h, round.id, viewer.ref);
    const row = (rank: number, playerRef: string | undefined, bestScore: number) => ({
      rank: BigInt(rank),
      playerRef,
      bestScore,
      bestTiebreak: undefined,
      bestScoreAt: h.clock(),
      paidAttempts: 1,
      finalRank: undefined,
      payoutCents: undefined,
      payoutStatus: PayoutStatus.NONE,
      entryId: playerRef === viewer.ref ? board.playerEntryId : expect.any(String),
    });
    expect(board).toMatchObject({ view: View.WINDOW, scoredPlayers: 5, round: { entrantCount: 5 } });
    expect(board.rows).toEqual([row(2, players[3]?.ref, 30), row(3, viewer.ref, 25), row(4, players[2]?.ref, 20)]);
    expect(refsOf(await boardOf(h, round.id, players[4]?.ref))).toEqual([players[4]?.ref, players[3]?.ref]);
    expect(refsOf(await boardOf(h, round.id, players[1]?.ref))).toEqual([players[2]?.ref, players[1]?.ref]);
  });

  it('a board has one row for two refs of one account, with the best run', async () => {
    const round = await h.openRound(BY_SECONDS);
    const player = await h.player();
    const second = await h.secondRefOf(player);
    await play(h, round.id, player, 10, { tiebreak: 9 });
    h.clock.advance(1_000);
    await play(h, round.id, { ref: second }, 10, { tiebreak: 5 });
    const at = h.clock();
    h.clock.advance(1_000);
    await play(h, round.id, player, 10, { tiebreak: 5 });
    for (const ref of [player.ref, second]) {
      const { rows, scoredPlayers, round: seen } = await boardOf(h, round.id, ref);
      expect(rows).toMatchObject([
        { playerRef: second, bestScore: 10, bestTiebreak: 5, bestScoreAt: at, paidAttempts: 3 },
      ]);
      expect([scoredPlayers, seen?.entrantCount]).toEqual([1, 1]);
    }
  });

  it('a board is the same for every ref of an entrant', async () => {
    const round = await h.openRound();
    const [player, other] = [await h.player(), await h.player()];
    const alias = await h.secondRefOf(player);
    expect((await boardOf(h, round.id, alias)).view).toBe(View.MASKED);
    const attempt = created(await h.create(round.id, player.ref));
    expect(await boardOf(h, round.id, alias)).toMatchObject({ view: View.WINDOW, rows: [] });
    recorded(await h.report(attempt.id, 7));
    expect(await boardOf(h, round.id, alias)).toEqual(await boardOf(h, round.id, player.ref));
    expect(refsOf(await boardOf(h, round.id, alias))).toEqual([player.ref]);

    // The ref moves to another account, which has not entered. The other ref of the first account
    // still sees the board.
    expectAccepted(
      await h.wallet.putPlayerLink({ player: { tenant: PROGRAM, playerRef: player.ref }, email: other.email }),
    );
    expect((await boardOf(h, round.id, player.ref)).view).toBe(View.MASKED);
    expect(refsOf(await boardOf(h, round.id, alias))).toEqual([player.ref]);
    await close(round.id);
    expect((await boardOf(h, round.id, alias)).view).toBe(View.COMPLETE);
    expect((await boardOf(h, round.id, player.ref)).view).toBe(View.MASKED);
  });

  it('a board finds the entry of a ref that never played, even if the purchase was not recorded', async () => {
    const { round, player, attempt } = await h.openAttempt();
    const alias = await h.secondRefOf(player);
    await h.database.query({ text: `update attempts set status = 'pending' where id = $1` }, [attempt.id]);
    await h.database.query({ text: 'update entries set bought_at = null where round_id = $1' }, [round.id]);
    await h.database.query({ text: 'update round_tallies set entrants = 0 where round_id = $1' }, [round.id]);
    expect(await boardOf(h, round.id, alias)).toMatchObject({ view: View.WINDOW, round: { entrantCount: 1 } });
  });

  it('a board orders equal runs by time, not by the ref', async () => {
    const round = await h.openRound();
    const late = await h.player('aaa');
    const early = await h.player('zzz');
    await play(h, round.id, early, 1);
    h.clock.advance(1);
    await play(h, round.id, late, 1);
    expect(refsOf(await boardOf(h, round.id, late.ref))).toEqual(['zzz', 'aaa']);
  });

  it('a board counts an entry as soon as its creation has a response', async () => {
    const { round, player, attemptId } = await h.pendingAttempt();
    const other = await h.player();
    const lone = await h.openRound();
    expect((await boardOf(h, round.id, player.ref)).round?.entrantCount).toBe(1);
    created(await h.create(lone.id, other.ref));
    expect((await boardOf(h, lone.id, other.ref)).round?.entrantCount).toBe(1);

    // The fee is posted but not recorded, as after a crash in between.
    const undone = await h.openAttempt();
    await h.database.query({ text: `update attempts set status = 'pending' where id = $1` }, [undone.attempt.id]);
    await h.database.query({ text: 'update entries set bought_at = null where round_id = $1' }, [undone.round.id]);
    await h.database.query({ text: 'update round_tallies set entrants = 0 where round_id = $1' }, [undone.round.id]);
    expect((await boardOf(h, undone.round.id)).round?.entrantCount).toBe(0);
    expect(await boardOf(h, undone.round.id, undone.player.ref)).toMatchObject({
      view: View.WINDOW,
      round: { entrantCount: 1 },
    });
    created(await h.create(round.id, player.ref, attemptId));
  });

  it('a board is masked for a player whose fee the wallet never received', async () => {
    const { player, round } = await h.openAttempt();
    const second = await h.player();
    await h.create(round.id, second.ref);
    await h.stopWallet();
    const fresh = await h.openRound();
    expect(verdictOf(await h.create(fresh.id, player.ref, newOwnedId('tournament')))).toBe('failure');
    await h.startWallet();
    expect((await boardOf(h, fresh.id, player.ref)).view).toBe(View.MASKED);
    expect((await boardOf(h, fresh.id)).round?.entrantCount).toBe(0);
  });

  it('a board is consistent in every response while scores arrive', async () => {
    const round = await h.openRound({ attemptCap: 40 });
    const players = await Promise.all(Array.from({ length: 6 }, () => h.player()));
    const [viewer] = players;
    if (viewer === undefined) throw new Error('no player');
    await play(h, round.id, viewer, 50);
    let isDone = false;
    const traffic = Promise.all(
      players.slice(1).map(async (player) => {
        for (let count = 0; count < 12; count += 1) await play(h, round.id, player, count * 10 + Math.random());
      }),
    ).then(() => {
      isDone = true;
    });
    let looks = 0;
    while (!isDone) {
      const { rows, scoredPlayers } = await boardOf(h, round.id, viewer.ref);
      const own = rows.findIndex(({ playerRef }) => playerRef === viewer.ref);
      const rank = Number(rows[own]?.rank);
      expect([own, rows.length - own]).toEqual([rank === 1 ? 0 : 1, rank === scoredPlayers ? 1 : 2]);
      expect(rows.map((row) => Number(row.rank))).toEqual(rows.map((_, index) => rank - own + index));
      looks += 1;
    }
    await traffic;
    expect(looks).toBeGreaterThan(5);
  });
});

describe('the complete table', () => {
  it('the complete table can be read in pages of any size', async () => {
    const round = await h.openRound({ attemptCap: 2 });
    const players = await Promise.all(Array.from({ length: 7 }, () => h.player()));
    for (const [index, player] of players.entries()) await play(h, round.id, player, index);
    const ask = (tenant = PROGRAM, roundId = round.id) =>
      h.tournament.listStandings({ tenant, roundId, cursor: Buffer.alloc(0), limit: 10 });
    expect(await ask()).toMatchObject({ code: 'not_found' });
    await close(round.id);

    const table = await tableOf(h, round.id);
    expect(table.map((row) => [row.rank, row.playerRef, row.finalRank, row.payoutCents, row.payoutStatus])).toEqual(
      players
        .toReversed()
        .map(({ ref }, index) => [
          BigInt(index + 1),
          ref,
          BigInt(index + 1),
          [10_000n, 5_000n, 5_000n][index] ?? 0n,
          index < 3 ? PayoutStatus.PAID : PayoutStatus.NONE,
        ]),
    );
    for (const limit of [1, 2, 3, 7, 8]) expect(await tableOf(h, round.id, limit)).toEqual(table);
    expect(await ask(OTHER_PROGRAM)).toMatchObject({ code: 'not_found' });
    expect(await ask(PROGRAM, newId())).toMatchObject({ code: 'not_found' });
  });

  it('the complete table of a round without a score is empty', async () => {
    const { round, player } = await h.openAttempt();
    await close(round.id);
    expect(await tableOf(h, round.id)).toEqual([]);
    expect(await boardOf(h, round.id, player.ref)).toMatchObject({
      view: View.COMPLETE,
      scoredPlayers: 0,
      round: { status: RoundStatus.CANCELLED, entrantCount: 0 },
    });
  });
});

function bigints(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
