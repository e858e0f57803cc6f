/**
 * What an operator reads of a round: the round itself, and its standings with accounts and awards.
 */

import {
  type InspectedStanding,
  type InspectStandingsResponse,
  PayoutStatus,
  type Round,
  RoundStatus,
} from '@laurel/proto/tournament';
import { expectAccepted } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { cents } from '@laurel/values/money';
import { describe, expect, it } from 'vitest';
import { awardIdOfRank } from '../domain/purse.ts';
import { play, roundOf, tableOf } from '../rounds.fixture.ts';
import { OTHER_PROGRAM, PROGRAM, useHarness } from '../tournament.fixture.ts';

const h = useHarness();

const inspect = async (roundId: string, cursor = '', limit = 200): Promise<InspectStandingsResponse> =>
  expectAccepted(await h.tournament.inspectStandings({ roundId, cursor, limit }));

async function inspectAll(roundId: string, limit: number): Promise<readonly (readonly InspectedStanding[])[]> {
  const pages: (readonly InspectedStanding[])[] = [];
  for (let cursor = ''; ; ) {
    const { rows, nextCursor } = await inspect(roundId, cursor, limit);
    pages.push(rows);
    if (nextCursor === '') return pages;
    cursor = nextCursor;
  }
}

/** Plays one attempt of a new player for each score. Returns the players by their scores. */
async function playAll({ id }: Pick<Round, 'id'>, scores: readonly number[]) {
  const players = new Map<number, Awaited<ReturnType<typeof h.player>>>();
  for (const score of scores) {
    const player = await h.player();
    await play(h, id, player, score);
    players.set(score, player);
  }
  return players;
}

const accountsOf = (rows: readonly InspectedStanding[]) => rows.map(({ accountId }) => accountId);

describe('a round that an operator reads', () => {
  it('an operator finds a round of any program', async () => {
    for (const tenant of [PROGRAM, OTHER_PROGRAM]) {
      const { id, tournamentId } = await h.openRound({}, { tenant });
      const { round } = expectAccepted(await h.tournament.getRound({ roundId: id }));
      expect(round).toMatchObject({ id, tournamentId, tenant, status: RoundStatus.OPEN });
      if (tenant === PROGRAM) expect(round).toEqual(await roundOf(h, id));
    }
    expect(await h.tournament.getRound({ roundId: newId() })).toMatchObject({ code: 'not_found' });
  });

  it('an operator reads the same rounds of a tournament as its developer', async () => {
    const { id, tournamentId } = await h.openRound();
    const page = { tournamentId, cursor: '', limit: 10 };
    const read = (programId: string, anyProgram: boolean) =>
      h.tournament.listTournamentRounds({ ...page, programId, anyProgram });
    expect(expectAccepted(await read('', true))).toEqual(expectAccepted(await read(PROGRAM.programId, false)));
    expect(expectAccepted(await read('', true)).rounds.map((round) => round.id)).toEqual([id]);
    const unknown = { ...page, programId: '', tournamentId: newId(), anyProgram: true };
    expect(await h.tournament.listTournamentRounds(unknown)).toMatchObject({ code: 'not_found' });
    // A caller that forgets the program does not become an operator.
    await expect(read('', false)).rejects.toThrow();
  });
});

describe('the standings that an operator reads', () => {
  it('an operator can page through all rows of a running round with their accounts', async () => {
    const round = await h.openRound();
    const players = await playAll(round, [3, 1, 5, 2, 4]);
    const pages = await inspectAll(round.id, 2);
    expect(pages.map(({ length }) => length)).toEqual([2, 2, 1]);
    expect(pages.flat().map(({ row }) => [row?.rank, row?.bestScore, row?.payoutStatus, row?.finalRank])).toEqual(
      [5, 4, 3, 2, 1].map((score, index) => [BigInt(index + 1), score, PayoutStatus.NONE, undefined]),
    );
    expect(accountsOf(pages.flat())).toEqual([5, 4, 3, 2, 1].map((score) => players.get(score)?.accountId));
    expect(pages.flat().every(({ awardId }) => awardId === '')).toBe(true);
    expect(await inspect(round.id, '', 2)).toMatchObject({ round: await roundOf(h, round.id), scoredPlayers: 5 });
  });

  it('the standing of a single account equals that account’s row in the whole table', async () => {
    const round = await h.openRound({ purse: [500n, 300n].map(cents) });
    const players = await playAll(round, [3, 1, 5, 2, 4]);
    const own = async (accountId: string) =>
      expectAccepted(await h.tournament.inspectStandings({ roundId: round.id, cursor: '', limit: 1, accountId }));
    const expectRows = async () => {
      const { rows } = await inspect(round.id);
      expect(rows).toHaveLength(5);
      for (const row of rows) {
        expect(await own(row.accountId)).toMatchObject({ rows: [row], scoredPlayers: 5, nextCursor: '' });
        const described = expectAccepted(await h.tournament.inspectAttempt({ attemptId: row.bestAttemptId }));
        expect(described.attempt?.outcome?.score).toBe(row.row?.bestScore);
      }
    };
    await expectRows();
    expectAccepted(await h.tournament.closeRound({ tenant: PROGRAM, roundId: round.id }));
    await expectRows();
    const waiting = await h.player();
    expect((await own(waiting.accountId)).rows).toEqual([]);
    expect((await own(players.get(5)?.accountId ?? '')).rows[0]?.awardId).toBe(awardIdOfRank(round.id, 1));
  });

  it('the standings of a settled round show operators the award and the status of each payout', async () => {
    const purse = [500n, 300n, 200n].map(cents);
    const round = await h.openRound({ purse });
    const players = await playAll(round, [4, 3, 2, 1]);
    for (const score of [3, 2]) {
      const playerRef = players.get(score)?.ref ?? '';
      expectAccepted(await h.wallet.holdNextAward({ player: { tenant: PROGRAM, playerRef } }));
    }
    expectAccepted(await h.tournament.closeRound({ tenant: PROGRAM, roundId: round.id }));
    expectAccepted(await h.tournament.denyAward({ awardId: awardIdOfRank(round.id, 3) }));
    const { rows } = await inspect(round.id);
    expect(rows.map(({ row, awardId }) => [row?.payoutCents, row?.payoutStatus, awardId])).toEqual([
      [500n, PayoutStatus.PAID, awardIdOfRank(round.id, 1)],
      [300n, PayoutStatus.HELD, awardIdOfRank(round.id, 2)],
      [200n, PayoutStatus.DENIED, awardIdOfRank(round.id, 3)],
      [0n, PayoutStatus.NONE, ''],
    ]);
    for (const { row, accountId, awardId } of rows.slice(0, 3)) {
      const { payout } = expectAccepted(await h.wallet.getPayout({ awardId }));
      expect(payout).toMatchObject({ awardId, accountId, amountCents: row?.payoutCents });
    }
    // Everyone else reads that the payout is held.
    expect((await tableOf(h, round.id)).map(({ payoutStatus }) => payoutStatus)).toEqual([
      PayoutStatus.PAID,
      PayoutStatus.HELD,
      PayoutStatus.HELD,
      PayoutStatus.NONE,
    ]);
  });

  it('the standings of a cancelled round show operators every entry as refunded', async () => {
    const round = await h.openRound({ minEntrants: 100 });
    await playAll(round, [2, 1]);
    expectAccepted(await h.tournament.closeRound({ tenant: PROGRAM, roundId: round.id }));
    const { rows, round: read } = await inspect(round.id);
    expect(read?.status).toBe(RoundStatus.CANCELLED);
    expect(rows.map(({ row }) => row)).toEqual(await tableOf(h, round.id));
    expect(rows.map(({ row, awardId }) => [row?.payoutStatus, awardId])).toEqual([
      [PayoutStatus.REFUNDED, ''],
      [PayoutStatus.REFUNDED, ''],
    ]);
  });

  it('a page of standings after the last rank is empty', async () => {
    const round = await h.openRound();
    await playAll(round, [2, 1]);
    const cursorOf = (rank: string) => Buffer.from(JSON.stringify([rank])).toString('base64url');
    expect(await inspect(round.id, cursorOf('2'))).toMatchObject({ rows: [], nextCursor: '' });
    expect(await inspect(round.id, cursorOf('3'))).toMatchObject({ rows: [], nextCursor: '' });
    for (const cursor of ['nonsense', cursorOf('0'), newId()]) {
      const read = await h.tournament.inspectStandings({ roundId: round.id, cursor, limit: 10 });
      expect(read).toMatchObject({ code: 'invalid_request' });
    }
    const unknown = await h.tournament.inspectStandings({ roundId: newId(), cursor: '', limit: 10 });
    expect(unknown).toMatchObject({ code: 'not_found' });
  });
});
