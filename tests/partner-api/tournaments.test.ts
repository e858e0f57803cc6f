import { randomUUID } from 'node:crypto';
import type { Tournament } from '@laurel/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  expectError,
  expectStatus,
  inMinutes,
  joinWorld,
  type Program,
  type SharedWorld,
  WITH_TIEBREAK,
} from '../world.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const TEN_MINUTES_MS = 600_000;

describe('GET /v1/tournaments', () => {
  let world: SharedWorld;
  beforeAll(async () => {
    world = await joinWorld();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  async function list(program: Program, status?: 'all'): Promise<Tournament[]> {
    return expectStatus(200, await program.test.listTournaments(status)).body.data;
  }

  test('the tournament list of a program without tournaments is empty', async () => {
    const program = await world.newProgram();
    expect(expectStatus(200, await program.test.listTournaments()).body).toEqual({ data: [] });
  });

  test('the tournament list shows a tournament and its open round with exactly the fields of the contract', async () => {
    const program = await world.newProgram();
    const terms = {
      ...WITH_TIEBREAK,
      name: 'Slalom',
      description: 'Down the hill',
      metric_name: 'time',
      metric_unit: 'seconds',
      threshold_direction: 'lower_is_better',
      entry_fee: '2.50',
      attempt_cap: 3,
      min_entrants: 2,
      min_scored_attempts: 4,
    };
    const tournament = await world.newTournament(terms, program);
    const round = await world.openRound(tournament.id);
    const expectedRound = {
      id: expect.stringMatching(UUID),
      tournament_id: tournament.id,
      tournament_name: 'Slalom',
      status: 'open',
      opens_at: expect.stringMatching(TIMESTAMP),
      closes_at: expect.stringMatching(TIMESTAMP),
      entries_close_at: expect.stringMatching(TIMESTAMP),
      settled_at: null,
      entry_fee: '2.50',
      funding: 'house',
      purse_amount: '10.00',
      purse_table: [
        { rank: 1, amount: '5.00' },
        { rank: 2, amount: '3.00' },
        { rank: 3, amount: '2.00' },
      ],
      pool_amount: '0.00',
      rollover_in: '0.00',
      entrant_count: 0,
      attempt_cap: 3,
      min_entrants: 2,
      min_scored_attempts: 4,
    };
    expect(round).toEqual(expectedRound);
    expect(await list(program)).toEqual([
      {
        id: tournament.id,
        name: 'Slalom',
        description: 'Down the hill',
        metric_name: 'time',
        metric_unit: 'seconds',
        threshold_direction: 'lower_is_better',
        entry_fee: '2.50',
        attempt_cap: 3,
        status: 'active',
        created_at: tournament.created_at,
        current_round: round,
      },
    ]);
    expect(Date.parse(round.closes_at) - Date.parse(round.entries_close_at)).toBe(TEN_MINUTES_MS);
  });

  test('the current round is the open round or else the most recent one', async () => {
    const program = await world.newProgram();
    const tournament = await world.newTournament({}, program);
    const current = async () => (await list(program))[0]?.current_round ?? null;
    expect(await current()).toBeNull();
    const first = await world.openRound(tournament.id);
    expect(await current()).toEqual(first);
    const closed = expectStatus(200, await program.test.closeRound(first.id)).body;
    expect(closed).toMatchObject({ id: first.id, status: 'cancelled' });
    expect(await current()).toEqual(closed);
    const second = await world.openRound(tournament.id);
    expect(second.id).not.toBe(first.id);
    expect(await current()).toEqual(second);
    expectStatus(200, await program.test.closeRound(second.id));
    expect(await current()).toMatchObject({ id: second.id, status: 'cancelled' });
  });

  test('a round that has not begun is shown as the open one', async () => {
    const program = await world.newProgram();
    const tournament = await world.newTournament({}, program);
    const times = { opens_at: inMinutes(30), closes_at: inMinutes(60) };
    const round = expectStatus(201, await world.operator.openRound(tournament.id, times)).body;
    expect(round).toMatchObject({ status: 'open', ...times });
    expect((await list(program))[0]?.current_round).toEqual(round);
  });

  test('a tournament with a round length opens its next round as the last one closes', async () => {
    const program = await world.newProgram();
    const tournament = await world.newTournament({ round_length_seconds: 3600 }, program);
    const first = tournament.current_round ?? expect.fail('no round opened');
    expect(first).toMatchObject({ status: 'open', tournament_id: tournament.id, opens_at: tournament.created_at });
    expect(Date.parse(first.closes_at) - Date.parse(first.opens_at)).toBe(3_600_000);
    expectStatus(200, await program.test.closeRound(first.id));
    const second = (await list(program))[0]?.current_round ?? expect.fail('no second round');
    expect(second).toMatchObject({ status: 'open' });
    expect(second.id).not.toBe(first.id);
    expect(Date.parse(second.closes_at) - Date.parse(second.opens_at)).toBe(3_600_000);
  });

  test.each(['paused', 'closed'])('no further round opens in a tournament that is %s', async (status) => {
    const program = await world.newProgram();
    const tournament = await world.newTournament({ round_length_seconds: 3600 }, program);
    const round = tournament.current_round ?? expect.fail('no round opened');
    expectStatus(200, await world.operator.updateTournament(tournament.id, { status }));
    // The current round continues.
    const player = await world.newPlayer({ partner: program.test });
    const entry = { tournament_round_id: round.id, player_ref: player.ref };
    const attempt = expectStatus(201, await program.test.createAttempt(entry));
    expectStatus(200, await program.test.reportOutcome(attempt.body.id, { score: 1 }));
    expectStatus(200, await program.test.closeRound(round.id));
    expect((await list(program, 'all'))[0]).toMatchObject({
      status,
      current_round: { id: round.id, status: 'settled' },
    });
  });

  test('the tournament list shows only active tournaments without status=all', async () => {
    const program = await world.newProgram();
    const tournaments: Tournament[] = [];
    for (const name of ['first', 'second', 'third', 'fourth']) {
      tournaments.push(await world.newTournament({ name }, program));
    }
    const [first, second, third, fourth] = tournaments.map(({ id }) => id);
    expectStatus(200, await world.operator.updateTournament(second ?? '', { status: 'paused' }));
    expectStatus(200, await world.operator.updateTournament(third ?? '', { status: 'closed' }));
    expect((await list(program)).map(({ id }) => id)).toEqual([first, fourth]);
    const all = await list(program, 'all');
    expect(all.map(({ id, status }) => [id, status])).toEqual([
      [first, 'active'],
      [second, 'paused'],
      [third, 'closed'],
      [fourth, 'active'],
    ]);
    expectStatus(200, await world.operator.updateTournament(second ?? '', { status: 'active' }));
    expect((await list(program)).map(({ id }) => id)).toEqual([first, second, fourth]);
  });

  test.each(['active', 'paused', 'ALL', '', 'all&status=all'])(
    'the tournament list refuses the status "%s"',
    async (status) => {
      expectError(400, 'invalid_request', await world.partner.send('GET', `/v1/tournaments?status=${status}`));
    },
  );

  test('the tournament list ignores a player_ref', async () => {
    const program = await world.newProgram();
    const tournament = await world.newTournament({}, program);
    await world.openRound(tournament.id);
    const plain = expectStatus(200, await program.test.listTournaments());
    const named = await program.test.send('GET', `/v1/tournaments?player_ref=${randomUUID()}`);
    expect(expectStatus(200, named).text).toBe(plain.text);
  });

  test('the tournament list counts an entrant of the current round once', async () => {
    const program = await world.newProgram();
    const round = await world.newRound({}, program);
    for (let count = 1; count <= 2; count += 1) {
      const player = await world.newPlayer({ partner: program.test });
      const entry = { tournament_round_id: round.id, player_ref: player.ref };
      for (let buys = 0; buys < 2; buys += 1) expectStatus(201, await program.test.createAttempt(entry));
      expect((await list(program))[0]?.current_round?.entrant_count).toBe(count);
    }
  });

  test('the tournament list keeps programs and environments separate', async () => {
    const program = await world.newProgram();
    const other = await world.newProgram();
    const sandbox = await world.newTournament({}, program);
    const live = await world.newTournament({ environment: 'live' }, program);
    const ids = async (partner: Program['test']) =>
      expectStatus(200, await partner.listTournaments('all')).body.data.map(({ id }) => id);
    expect(await ids(program.test)).toEqual([sandbox.id]);
    expect(await ids(program.live)).toEqual([live.id]);
    expect(await ids(other.test)).toEqual([]);
    expect(await ids(other.live)).toEqual([]);
  });

  test('the audit finds no violation after the lists of tournaments', () => world.expectAuditOk());
});
