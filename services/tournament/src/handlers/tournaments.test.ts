/** Tournaments: operators open, pause and close them, and partners list them. */

import {
  RoundStatus,
  ThresholdDirection,
  type Tournament,
  TournamentStatus,
  type TournamentTerms,
} from '@laurel/proto/tournament';
import { expectAccepted } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { describe, expect, it } from 'vitest';
import { play, roundOf } from '../rounds.fixture.ts';
import { HOUR_MS, LIVE_PROGRAM, OTHER_PROGRAM, PROGRAM, TEN_MINUTES_MS, useHarness } from '../tournament.fixture.ts';

const h = useHarness();

const TERMS: TournamentTerms = {
  name: 'Weekend cup',
  description: 'A description',
  metricName: 'distance',
  metricUnit: 'm',
  thresholdDirection: ThresholdDirection.HIGHER_IS_BETTER,
  tiebreak: { metricName: 'seconds', direction: ThresholdDirection.LOWER_IS_BETTER },
  entryFeeCents: 500n,
  attemptCap: 3,
  purseTable: [
    { rank: 1, amountCents: 10_000n },
    { rank: 2, amountCents: 5_000n },
  ],
  minEntrants: 2,
  minScoredAttempts: 1,
  roundLengthSeconds: 7_200,
};
const BY_HAND: TournamentTerms = { ...TERMS, tiebreak: undefined, roundLengthSeconds: undefined };

async function create(terms: Partial<TournamentTerms> = {}): Promise<Tournament> {
  const { tournament } = expectAccepted(
    await h.tournament.createTournament({ tenant: PROGRAM, terms: { ...TERMS, ...terms } }),
  );
  if (tournament === undefined) throw new Error('the response has no tournament');
  return tournament;
}

async function setStatus(tournamentId: string, status: TournamentStatus): Promise<Tournament | undefined> {
  return expectAccepted(await h.tournament.updateTournamentStatus({ tournamentId, status })).tournament;
}

async function listed(all = false, tenant = PROGRAM): Promise<readonly Tournament[]> {
  return expectAccepted(await h.tournament.listTournaments({ tenant, all })).tournaments;
}

const inMs = (ms: number) => new Date(h.clock().getTime() + ms);

describe('a tournament that an operator opens', () => {
  it('a new tournament opens its first round with its terms frozen on the round', async () => {
    const tournament = await create();
    expect(tournament).toEqual({
      id: tournament.id,
      tenant: PROGRAM,
      terms: TERMS,
      status: TournamentStatus.ACTIVE,
      createdAt: h.clock(),
      currentRound: {
        id: tournament.currentRound?.id,
        tenant: PROGRAM,
        tournamentId: tournament.id,
        tournamentName: TERMS.name,
        status: RoundStatus.OPEN,
        opensAt: h.clock(),
        closesAt: inMs(2 * HOUR_MS),
        entriesCloseAt: inMs(2 * HOUR_MS - TEN_MINUTES_MS),
        settledAt: undefined,
        entryFeeCents: TERMS.entryFeeCents,
        purseTable: TERMS.purseTable,
        entrantCount: 0,
        attemptCap: TERMS.attemptCap,
        minEntrants: TERMS.minEntrants,
        minScoredAttempts: TERMS.minScoredAttempts,
      },
    });
    expect((await listed()).find(({ id }) => id === tournament.id)).toEqual(tournament);
    expect(expectAccepted(await h.tournament.getTournament({ tournamentId: tournament.id }))).toEqual({ tournament });
    expect(await h.tournament.getTournament({ tournamentId: newId() })).toMatchObject({ code: 'not_found' });
  });

  it('a tournament without a round length opens no round automatically', async () => {
    const tournament = await create(BY_HAND);
    expect(tournament).toMatchObject({ terms: BY_HAND, currentRound: undefined });
    await h.server.sweepOnce();
    expect((await listed()).find(({ id }) => id === tournament.id)?.currentRound).toBeUndefined();
  });

  it('a tournament with invalid terms is refused', async () => {
    const bad: readonly Partial<TournamentTerms>[] = [
      { name: '' },
      { entryFeeCents: 0n },
      { attemptCap: 0 },
      { purseTable: [] },
      { purseTable: [{ rank: 2, amountCents: 1n }] },
      {
        purseTable: [
          { rank: 1, amountCents: 1n },
          { rank: 2, amountCents: 2n },
        ],
      },
      { minEntrants: 0 },
      { minScoredAttempts: -1 },
      { roundLengthSeconds: 600 },
      { roundLengthSeconds: 659 },
      { thresholdDirection: ThresholdDirection.UNSPECIFIED },
      { tiebreak: { metricName: '', direction: ThresholdDirection.LOWER_IS_BETTER } },
      { tiebreak: { metricName: 'x', direction: ThresholdDirection.UNSPECIFIED } },
    ];
    const before = (await listed(true)).length;
    for (const terms of bad) {
      expect(await h.tournament.createTournament({ tenant: PROGRAM, terms: { ...TERMS, ...terms } })).toMatchObject({
        kind: 'refused',
        code: 'invalid_request',
        message: expect.stringMatching(/\.$/),
      });
    }
    expect((await listed(true)).length).toBe(before);
  });
});

describe("a tournament's status", () => {
  it('a paused tournament opens no round until it is active again', async () => {
    const tournament = await create();
    const firstId = tournament.currentRound?.id ?? '';
    expect((await setStatus(tournament.id, TournamentStatus.PAUSED))?.currentRound).toEqual(tournament.currentRound);
    const player = await h.player();
    await play(h, firstId, player, 1, { tiebreak: 1 });

    h.clock.advance(2 * HOUR_MS);
    await h.server.sweepOnce();
    const paused = (await listed(true)).find(({ id }) => id === tournament.id);
    expect(paused).toMatchObject({ status: TournamentStatus.PAUSED });
    expect(paused?.currentRound).toMatchObject({ id: firstId, status: RoundStatus.CANCELLED, entrantCount: 1 });

    h.clock.advance(HOUR_MS);
    const resumed = await setStatus(tournament.id, TournamentStatus.ACTIVE);
    expect(resumed?.currentRound).toMatchObject({ status: RoundStatus.OPEN, opensAt: h.clock(), entrantCount: 0 });
    expect(resumed?.currentRound?.id).not.toBe(firstId);
    expect((await setStatus(tournament.id, TournamentStatus.ACTIVE))?.currentRound).toEqual(resumed?.currentRound);
  });

  it('a closed tournament opens no further round and stays closed', async () => {
    const tournament = await create();
    await setStatus(tournament.id, TournamentStatus.CLOSED);
    h.clock.advance(2 * HOUR_MS);
    await h.server.sweepOnce();
    await h.server.sweepOnce();
    const closed = (await listed(true)).find(({ id }) => id === tournament.id);
    expect(closed?.currentRound?.id).toBe(tournament.currentRound?.id);
    for (const status of [TournamentStatus.ACTIVE, TournamentStatus.PAUSED]) {
      expect(await h.tournament.updateTournamentStatus({ tournamentId: tournament.id, status })).toMatchObject({
        code: 'conflict',
      });
    }
    expect((await setStatus(tournament.id, TournamentStatus.CLOSED))?.status).toBe(TournamentStatus.CLOSED);
  });

  it('the status of an unknown tournament is not found', async () => {
    const change = { tournamentId: newId(), status: TournamentStatus.PAUSED };
    expect(await h.tournament.updateTournamentStatus(change)).toMatchObject({ code: 'not_found' });
  });
});

describe('a round that was not opened in time', () => {
  it('a missing round is opened once, whichever sweeper runs', async () => {
    const tournament = await create();
    const replica = await h.startReplica();
    await setStatus(tournament.id, TournamentStatus.PAUSED);
    expectAccepted(await h.tournament.closeRound({ tenant: PROGRAM, roundId: tournament.currentRound?.id ?? '' }));
    // The tournament is now in the state that a resume leaves if it opens no round.
    await h.database.query({ text: `update tournaments set status = 'active' where id = $1` }, [tournament.id]);
    await Promise.all([h.server.sweepOnce(), replica.server.sweepOnce()]);
    const rounds = await h.database.query<{ number: number; status: string }>(
      { text: 'select number, status from rounds where tournament_id = $1 order by number' },
      [tournament.id],
    );
    expect(rounds).toEqual([
      { number: 1, status: 'cancelled' },
      { number: 2, status: 'open' },
    ]);
    await replica[Symbol.asyncDispose]();
  });
});

describe('a round that an operator opens', () => {
  it('an operator’s round must take entries for at least a minute', async () => {
    const { id: tournamentId } = await create(BY_HAND);
    const closesAt = inMs(1.1 * TEN_MINUTES_MS);
    for (const tooSoon of [60_000, TEN_MINUTES_MS, 1.1 * TEN_MINUTES_MS - 1]) {
      const asked = { tournamentId, opensAt: undefined, closesAt: inMs(tooSoon) };
      expect(await h.tournament.openRound(asked)).toMatchObject({ code: 'invalid_request' });
      expect(await h.tournament.openRound({ ...asked, opensAt: inMs(-HOUR_MS) })).toMatchObject({
        code: 'invalid_request',
      });
    }
    const { round } = expectAccepted(await h.tournament.openRound({ tournamentId, opensAt: undefined, closesAt }));
    expect(round).toMatchObject({
      opensAt: h.clock(),
      entriesCloseAt: inMs(60_000),
      closesAt,
      status: RoundStatus.OPEN,
    });
    const player = await h.player();
    h.clock.advance(60_000);
    expect(await h.create(round?.id ?? '', player.ref)).toMatchObject({ value: { code: 'entries_closed' } });

    h.clock.advance(TEN_MINUTES_MS);
    await h.server.sweepOnce();
    const later = { tournamentId, opensAt: inMs(HOUR_MS), closesAt: inMs(2 * HOUR_MS) };
    const { round: next } = expectAccepted(await h.tournament.openRound(later));
    expect(next).toMatchObject({ opensAt: later.opensAt, closesAt: later.closesAt, status: RoundStatus.OPEN });
    expect(await h.create(next?.id ?? '', player.ref)).toMatchObject({ value: { code: 'entries_closed' } });
    expect((await listed()).find(({ id }) => id === tournamentId)?.currentRound).toEqual(next);
  });

  it('opening a round is refused while another round is open', async () => {
    const { id: tournamentId } = await create(BY_HAND);
    const ask = (changes: object = {}) =>
      h.tournament.openRound({ tournamentId, opensAt: undefined, closesAt: inMs(HOUR_MS), ...changes });
    expect(await ask({ tournamentId: newId() })).toMatchObject({ code: 'not_found' });
    expect(await ask({ closesAt: undefined })).toMatchObject({ code: 'invalid_request' });
    expect(await ask({ closesAt: h.clock() })).toMatchObject({ code: 'invalid_request' });
    expect(await ask({ opensAt: inMs(HOUR_MS) })).toMatchObject({ code: 'invalid_request' });
    expectAccepted(await ask());
    expect(await ask()).toMatchObject({ code: 'conflict' });
    await setStatus(tournamentId, TournamentStatus.PAUSED);
    expect(await ask()).toMatchObject({ code: 'conflict' });
  });

  it('only one of several concurrent calls to open a round opens a round', async () => {
    const { id: tournamentId } = await create(BY_HAND);
    const asked = Array.from({ length: 5 }, () =>
      h.tournament.openRound({ tournamentId, opensAt: undefined, closesAt: inMs(HOUR_MS) }),
    );
    const answers = await Promise.all(asked);
    expect(answers.filter((answer) => 'round' in answer).length).toBe(1);
    expect(answers.filter((answer) => 'code' in answer && answer.code === 'conflict').length).toBe(4);
  });
});

describe('the list of tournaments', () => {
  it('the list of tournaments has the active tournaments, oldest first', async () => {
    const tenant = { ...PROGRAM, programId: newId() };
    const open = async () =>
      expectAccepted(await h.tournament.createTournament({ tenant, terms: TERMS })).tournament?.id ?? '';
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      ids.push(await open());
      h.clock.advance(1_000);
    }
    await setStatus(ids[1] ?? '', TournamentStatus.PAUSED);
    expect((await listed(false, tenant)).map(({ id }) => id)).toEqual([ids[0], ids[2]]);
    expect((await listed(true, tenant)).map(({ id }) => id)).toEqual(ids);
    expect(await listed(true, { ...tenant, environment: LIVE_PROGRAM.environment })).toEqual([]);
    expect(await listed(true, { ...tenant, programId: OTHER_PROGRAM.programId })).toEqual([]);

    const tournament = await create();
    const player = await h.player();
    await h.create(tournament.currentRound?.id ?? '', player.ref);
    await h.create(tournament.currentRound?.id ?? '', player.ref);
    const [now] = (await listed()).filter(({ id }) => id === tournament.id);
    expect(now?.currentRound?.entrantCount).toBe(1);
    expect(now?.currentRound).toEqual(await roundOf(h, tournament.currentRound?.id ?? ''));
  });
});
