/**
 * What a program's developer reads: its tournaments, their rounds, and the standings of rounds that
 * are over.
 */

import type { Tenant } from '@laurel/proto/common';
import {
  type LeaderboardRow,
  type ListRoundStandingsResponse,
  PayoutStatus,
  type Round,
  RoundStatus,
  type Tournament,
  TournamentStatus,
} from '@laurel/proto/tournament';
import { expectAccepted } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { MAX_PAID_RANKS } from '@laurel/values/limits';
import { cents } from '@laurel/values/money';
import { describe, expect, it } from 'vitest';
import { play, roundOf, tableOf } from '../rounds.fixture.ts';
import { HOUR_MS, LIVE_PROGRAM, OTHER_PROGRAM, PROGRAM, useHarness } from '../tournament.fixture.ts';
import { listRoundStandings } from './list-round-standings.ts';

const h = useHarness();

const { programId } = PROGRAM;
const MANY = 10_000;

async function pagesOf<Row>(
  read: (cursor: string) => Promise<{ readonly rows: readonly Row[]; readonly nextCursor: string }>,
): Promise<readonly (readonly Row[])[]> {
  const pages: (readonly Row[])[] = [];
  for (let cursor = ''; ; ) {
    const { rows, nextCursor } = await read(cursor);
    pages.push(rows);
    if (nextCursor === '') return pages;
    cursor = nextCursor;
  }
}

interface Query {
  readonly tenant?: Tenant;
  readonly status?: TournamentStatus;
  readonly limit?: number;
}

const tournaments = ({ tenant = PROGRAM, status = TournamentStatus.UNSPECIFIED, limit = 200 }: Query = {}) =>
  pagesOf<Tournament>(async (cursor) => {
    const read = expectAccepted(await h.tournament.listProgramTournaments({ tenant, status, cursor, limit }));
    return { rows: read.tournaments, nextCursor: read.nextCursor };
  });

const rounds = (tournamentId: string, limit = 200, tenant = PROGRAM) =>
  pagesOf<Round>(async (cursor) => {
    const request = { programId: tenant.programId, tournamentId, cursor, limit, anyProgram: false };
    const read = expectAccepted(await h.tournament.listTournamentRounds(request));
    return { rows: read.rounds, nextCursor: read.nextCursor };
  });

const standings = async (roundId: string, cursor = '', limit = 200): Promise<ListRoundStandingsResponse> =>
  expectAccepted(await h.tournament.listRoundStandings({ programId, roundId, cursor, limit }));

const tableBy = (roundId: string, limit: number) =>
  pagesOf<LeaderboardRow>((cursor) => standings(roundId, cursor, limit));

const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);

const isOf = (tenant: Tenant) => (tournament: Tournament) => tournament.tenant?.environment === tenant.environment;

const COPY = {
  text: `
insert into tournaments
select (jsonb_populate_record(n, jsonb_build_object(
  'id', gen_random_uuid(), 'created_at', n.created_at + (i / 3) * interval '1 millisecond'))).*
from tournaments n cross join generate_series(1, $2::int) as i where n.id = $1`,
};

const openIn = (tenant: Tenant, terms: Parameters<typeof h.openRound>[0] = {}) => h.openRound(terms, { tenant });

/** Ends the open round, which has no entries, and opens the next one. */
async function openNext(tenant: Tenant, { tournamentId, id }: Pick<Round, 'id' | 'tournamentId'>): Promise<Round> {
  expectAccepted(await h.tournament.closeRound({ tenant, roundId: id }));
  const closesAt = new Date(h.clock().getTime() + HOUR_MS);
  const { round } = expectAccepted(await h.tournament.openRound({ tournamentId, opensAt: undefined, closesAt }));
  return round ?? expect.fail('no round');
}

describe('the tournaments of a program', () => {
  it('the tournaments of a program are listed newest first, in one environment', async () => {
    const tenant = { ...PROGRAM, programId: newId() };
    const opened: Round['id'][] = [];
    for (let count = 0; count < 5; count += 1) {
      h.clock.advance(1);
      opened.push((await openIn(tenant)).tournamentId);
    }
    const live = await openIn({ ...LIVE_PROGRAM, programId: tenant.programId });
    await openIn(OTHER_PROGRAM);
    const pages = await tournaments({ tenant, limit: 2 });
    expect(pages.map(idsOf)).toEqual([[opened[4], opened[3]], [opened[2], opened[1]], [opened[0]]]);
    expect(pages.flat().every(isOf(tenant))).toBe(true);
    for (const tournament of pages.flat()) {
      expect(expectAccepted(await h.tournament.getTournament({ tournamentId: tournament.id }))).toEqual({ tournament });
    }
    const ofLive = await tournaments({ tenant: { ...LIVE_PROGRAM, programId: tenant.programId } });
    expect(ofLive.map(idsOf)).toEqual([[live.tournamentId]]);
  });

  it('the tournaments of a program are filtered by status', async () => {
    const tenant = { ...PROGRAM, programId: newId() };
    const [active, paused] = [await openIn(tenant), await openIn(tenant)];
    const { ACTIVE, PAUSED, CLOSED } = TournamentStatus;
    expectAccepted(await h.tournament.updateTournamentStatus({ tournamentId: paused.tournamentId, status: PAUSED }));
    const filtered = async (status: TournamentStatus) => (await tournaments({ tenant, status })).map(idsOf);
    expect(await filtered(ACTIVE)).toEqual([[active.tournamentId]]);
    expect(await filtered(PAUSED)).toEqual([[paused.tournamentId]]);
    expect(await filtered(CLOSED)).toEqual([[]]);
  });

  it(`the ${MANY} tournaments of a program are listed once each and in order, on as many pages as they need`, async () => {
    const tenant = { ...PROGRAM, programId: newId() };
    const { tournamentId } = await openIn(tenant);
    await h.database.query(COPY, [tournamentId, MANY - 1]);
    const pages = await tournaments({ tenant });
    expect(pages).toHaveLength(MANY / 200);
    expect(new Set(idsOf(pages.flat())).size).toBe(MANY);
    const keys = pages.flat().map(({ id, createdAt }) => `${createdAt?.toISOString()} ${id}`);
    expect(keys).toEqual(keys.toSorted().toReversed());
  }, 60_000);

  it('a page has fewer tournaments or rounds if their purses have the maximum number of ranks', async () => {
    const tenant = { ...PROGRAM, programId: newId() };
    const purse = Array<ReturnType<typeof cents>>(MAX_PAID_RANKS).fill(cents(1n));
    const { tournamentId, id } = await openIn(tenant, { purse });
    await h.database.query(COPY, [tournamentId, 5]);
    expect((await tournaments({ tenant })).map(({ length }) => length)).toEqual([4, 2]);
    let round: Pick<Round, 'id' | 'tournamentId'> = { id, tournamentId };
    for (let count = 0; count < 5; count += 1) round = await openNext(tenant, round);
    expect((await rounds(tournamentId, 200, tenant)).map(({ length }) => length)).toEqual([4, 2]);
  });

  it('the tournaments of a program are not found for another program', async () => {
    const { round, attempt } = await h.openAttempt();
    await h.report(attempt.id, 1);
    const { tournamentId, id: roundId } = round;
    expect(expectAccepted(await h.tournament.getProgramTournament({ programId, tournamentId })).tournament?.id).toBe(
      tournamentId,
    );
    const page = { cursor: '', limit: 10, anyProgram: false };
    for (const ids of [
      { programId: OTHER_PROGRAM.programId, tournamentId, roundId },
      { programId, tournamentId: newId(), roundId: newId() },
    ]) {
      expect(await h.tournament.getProgramTournament(ids)).toMatchObject({ code: 'not_found' });
      expect(await h.tournament.listTournamentRounds({ ...ids, ...page })).toMatchObject({ code: 'not_found' });
      expect(await h.tournament.listRoundStandings({ ...ids, ...page })).toMatchObject({ code: 'not_found' });
    }
  });

  it('a cursor that Laurel did not return is refused for tournaments, rounds and standings', async () => {
    const { tournamentId, id: roundId } = await h.openRound();
    for (const cursor of ['nonsense', Buffer.from('["0"]').toString('base64url'), newId()]) {
      const page = { programId, tournamentId, roundId, cursor, limit: 10, anyProgram: false };
      const listed = await h.tournament.listProgramTournaments({ ...page, tenant: PROGRAM, status: 0 });
      expect(listed).toMatchObject({ code: 'invalid_request' });
      expect(await h.tournament.listTournamentRounds(page)).toMatchObject({ code: 'invalid_request' });
      expect(await h.tournament.listRoundStandings(page)).toMatchObject({ code: 'invalid_request' });
    }
  });
});

describe('the rounds of a tournament', () => {
  it('the rounds of a tournament are listed newest first, each once, as every viewer sees them', async () => {
    const first = await h.openRound();
    const { tournamentId } = first;
    const opened = [first.id];
    for (let count = 0; count < 4; count += 1) {
      opened.unshift((await openNext(PROGRAM, { tournamentId, id: opened[0] ?? '' })).id);
    }
    const pages = await rounds(tournamentId, 2);
    expect(idsOf(pages.flat())).toEqual(opened);
    expect(pages.map(({ length }) => length)).toEqual([2, 2, 1]);
    for (const round of pages.flat()) expect(round).toEqual(await roundOf(h, round.id));
  });
});

describe('the standings that a developer reads', () => {
  it('the standings of a round that is not over are withheld from its developer', async () => {
    const { round, attempt } = await h.openAttempt();
    await h.report(attempt.id, 7);
    const running = await standings(round.id);
    expect(running).toEqual({
      round: await roundOf(h, round.id),
      scoredPlayers: 1,
      isWithheld: true,
      rows: [],
      nextCursor: '',
    });
    const undone = new Error('undone');
    const settling = h.database.transaction(async (tx) => {
      await tx.query({ text: `update rounds set status = 'settling' where id = $1` }, [round.id]);
      const read = listRoundStandings({ database: { ...h.database, query: tx.query.bind(tx) } });
      const context = { requestId: undefined, caller: undefined, signal: new AbortController().signal };
      const page = { programId, roundId: round.id, cursor: '', limit: 200 };
      expect(await read(page, context)).toMatchObject({ scoredPlayers: 1, isWithheld: true, rows: [], nextCursor: '' });
      throw undone;
    });
    await expect(settling).rejects.toBe(undone);
    expectAccepted(await h.tournament.closeRound({ tenant: PROGRAM, roundId: round.id }));
    expect(await standings(round.id)).toMatchObject({ isWithheld: false, rows: [{ rank: 1n, bestScore: 7 }] });
  });

  it.each([
    ['settled', 1, RoundStatus.SETTLED, PayoutStatus.PAID],
    ['cancelled', 100, RoundStatus.CANCELLED, PayoutStatus.REFUNDED],
  ])(
    'the standings of a %s round are the complete table, page by page',
    async (_, minEntrants, status, payoutStatus) => {
      const round = await h.openRound({ minEntrants });
      for (const score of [3, 1, 5, 2, 4]) await play(h, round.id, await h.player(), score);
      expectAccepted(await h.tournament.closeRound({ tenant: PROGRAM, roundId: round.id }));
      const pages = await tableBy(round.id, 2);
      expect(pages.map(({ length }) => length)).toEqual([2, 2, 1]);
      expect(pages.flat()).toEqual(await tableOf(h, round.id));
      expect(pages.flat().map(({ rank, bestScore }) => [rank, bestScore])).toEqual(
        [5, 4, 3, 2, 1].map((score, index) => [BigInt(index + 1), score]),
      );
      const first = await standings(round.id, '', 2);
      expect(first).toMatchObject({ round: { status }, scoredPlayers: 5, rows: [{ payoutStatus }, {}] });
      const beyond = Buffer.from('["6"]').toString('base64url');
      expect(await standings(round.id, beyond)).toMatchObject({ rows: [], nextCursor: '' });
    },
  );
});
