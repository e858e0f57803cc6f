import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  expectError,
  expectStatus,
  inMinutes,
  startWorld,
  tournamentTerms,
  WITH_TIEBREAK,
  type World,
} from '../world.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('tournaments of /api/operator', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  test('the operator creates a tournament with every term that was set, and no round', async () => {
    const terms = tournamentTerms({
      ...WITH_TIEBREAK,
      description: 'Every Friday',
      entry_fee: '2.50',
      attempt_cap: 3,
      min_entrants: 2,
      min_scored_attempts: 4,
      // Sent in any order; shown by rank.
      purse_table: [
        { rank: 2, amount: '0.50' },
        { rank: 1, amount: '100.00' },
        { rank: 3, amount: '0.50' },
      ],
    });
    const created = expectStatus(201, await world.operator.createTournament(world.program.id, terms)).body;
    expect(created).toEqual({
      id: expect.stringMatching(UUID),
      program_id: world.program.id,
      environment: 'test',
      name: 'Friday cup',
      description: 'Every Friday',
      metric_name: 'points',
      metric_unit: 'points',
      threshold_direction: 'higher_is_better',
      tiebreak_metric_name: 'moves',
      tiebreak_direction: 'lower_is_better',
      entry_fee: '2.50',
      attempt_cap: 3,
      purse_amount: '101.00',
      purse_table: [
        { rank: 1, amount: '100.00' },
        { rank: 2, amount: '0.50' },
        { rank: 3, amount: '0.50' },
      ],
      min_entrants: 2,
      min_scored_attempts: 4,
      round_length_seconds: null,
      status: 'active',
      created_at: expect.stringMatching(TIMESTAMP),
      current_round: null,
    });
  });

  test('a new tournament with a round length opens its first round immediately', async () => {
    const created = await world.newTournament({ round_length_seconds: 900 });
    const round = created.current_round ?? expect.fail('no round opened');
    expect(created.round_length_seconds).toBe(900);
    expect(round).toMatchObject({ status: 'open', tournament_id: created.id, tournament_name: created.name });
    expect(Date.parse(round.closes_at) - Date.parse(round.opens_at)).toBe(900_000);
    expect(Date.parse(round.entries_close_at) - Date.parse(round.opens_at)).toBe(300_000);
  });

  test.each([
    ['no name', { name: '' }],
    ['a name of 256 characters', { name: 'x'.repeat(256) }],
    ['a name with NUL', { name: 'a\0b' }],
    ['no metric', { metric_name: undefined }],
    ['an unknown environment', { environment: 'staging' }],
    ['an unknown direction', { threshold_direction: 'sideways' }],
    ['a tiebreak metric without a direction', { tiebreak_metric_name: 'moves' }],
    ['a tiebreak direction without a metric', { tiebreak_direction: 'lower_is_better' }],
    ['an unknown tiebreak direction', { tiebreak_metric_name: 'moves', tiebreak_direction: 'down' }],
    ['a free entry', { entry_fee: '0.00' }],
    ['a negative fee', { entry_fee: '-1.00' }],
    ['a fee as a number', { entry_fee: 1 }],
    ['a fee with one decimal', { entry_fee: '1.0' }],
    ['a cap of 0', { attempt_cap: 0 }],
    ['a cap of 1.5', { attempt_cap: 1.5 }],
    ['a cap as text', { attempt_cap: '3' }],
    ['no purse', { purse_table: undefined }],
    ['an empty purse', { purse_table: [] }],
    ['a purse that is no list', { purse_table: { rank: 1, amount: '1.00' } }],
    ['a purse from rank 2', { purse_table: [{ rank: 2, amount: '1.00' }] }],
    ['a purse from rank 0', { purse_table: [{ rank: 0, amount: '1.00' }] }],
    [
      'a gap in the purse',
      {
        purse_table: [
          { rank: 1, amount: '2.00' },
          { rank: 3, amount: '1.00' },
        ],
      },
    ],
    [
      'a rank twice',
      {
        purse_table: [
          { rank: 1, amount: '2.00' },
          { rank: 1, amount: '1.00' },
        ],
      },
    ],
    [
      'a purse that grows with the rank',
      {
        purse_table: [
          { rank: 1, amount: '1.00' },
          { rank: 2, amount: '1.01' },
        ],
      },
    ],
    ['a rank that is paid nothing', { purse_table: [{ rank: 1, amount: '0.00' }] }],
    ['an amount as a number', { purse_table: [{ rank: 1, amount: 5 }] }],
    ['a negative amount', { purse_table: [{ rank: 1, amount: '-5.00' }] }],
    ['no minimum of entrants', { min_entrants: undefined }],
    ['a minimum of 0 entrants', { min_entrants: 0 }],
    ['a negative minimum of scores', { min_scored_attempts: -1 }],
    ['rounds of no length', { round_length_seconds: 0 }],
    ['rounds of half a second', { round_length_seconds: 900.5 }],
    ['rounds in which no entry is possible', { round_length_seconds: 600 }],
    ['rounds that are open for entries for less than a minute', { round_length_seconds: 659 }],
  ])('the operator cannot create a tournament with %s', async (_what, changes) => {
    const before = await world.digest();
    const answer = await world.operator.createTournament(world.program.id, tournamentTerms(changes));
    expectError(400, 'invalid_request', answer);
    expect(await world.digest()).toEqual(before);
  });

  test('the operator pauses, resumes and permanently closes a tournament', async () => {
    const { id } = await world.newTournament();
    const change = (status: string) => world.operator.updateTournament(id, { status });
    for (const status of ['paused', 'paused', 'active', 'closed', 'closed']) {
      expect(expectStatus(200, await change(status)).body).toMatchObject({ id, status });
    }
    expectError(409, 'conflict', await change('active'));
    expectError(409, 'conflict', await change('paused'));
  });

  test('the operator can change only the status of a tournament', async () => {
    const tournament = await world.newTournament();
    const before = await world.digest();
    for (const body of [
      {},
      { status: 'open' },
      { status: null },
      { entry_fee: '9.00' },
      { status: 'active', entry_fee: '9.00' },
      { status: 'active', purse_table: [{ rank: 1, amount: '1000.00' }] },
    ]) {
      const answer = await world.operator.send('PATCH', `/tournaments/${tournament.id}`, { body });
      expectError(400, 'invalid_request', answer);
    }
    expect(await world.digest()).toEqual(before);
  });

  test('the operator opens one round of a tournament at a time, with the tournament’s terms frozen on it', async () => {
    const tournament = await world.newTournament({ entry_fee: '2.00', attempt_cap: 4, min_scored_attempts: 1 });
    const opensAt = inMinutes(5);
    const closesAt = inMinutes(120);
    const times = { opens_at: opensAt, closes_at: closesAt };
    const round = expectStatus(201, await world.operator.openRound(tournament.id, times)).body;
    expect(round).toMatchObject({
      tournament_id: tournament.id,
      tournament_name: tournament.name,
      status: 'open',
      ...times,
      entry_fee: '2.00',
      attempt_cap: 4,
      purse_amount: '10.00',
      min_entrants: 1,
      min_scored_attempts: 1,
      entrant_count: 0,
    });
    expectError(409, 'conflict', await world.operator.openRound(tournament.id, { closes_at: closesAt }));
  });

  test('a round without a start opens now, and the instants of a round may have any offset', async () => {
    const tournament = await world.newTournament();
    const closesAt = new Date(Date.now() + 3 * 3_600_000);
    const berlin = new Date(closesAt.getTime() + 3_600_000).toISOString().replace('Z', '+01:00');
    const times = { opens_at: null, closes_at: berlin };
    const round = expectStatus(201, await world.operator.openRound(tournament.id, times)).body;
    expect(round.closes_at).toBe(closesAt.toISOString());
    expect(Math.abs(Date.parse(round.opens_at) - Date.now())).toBeLessThan(10_000);
  });

  test.each(['paused', 'closed'])('no round opens in a tournament that is %s', async (status) => {
    const tournament = await world.newTournament();
    expectStatus(200, await world.operator.updateTournament(tournament.id, { status }));
    expectError(409, 'conflict', await world.operator.openRound(tournament.id, { closes_at: inMinutes(60) }));
  });

  test('a tournament with a round length that is made active again opens its next round', async () => {
    const program = await world.newProgram();
    const tournament = await world.newTournament({ round_length_seconds: 900 }, program);
    const first = tournament.current_round ?? expect.fail('no round opened');
    expectStatus(200, await world.operator.updateTournament(tournament.id, { status: 'paused' }));
    expectStatus(200, await program.test.closeRound(first.id));
    const resumed = expectStatus(200, await world.operator.updateTournament(tournament.id, { status: 'active' })).body;
    expect(resumed.current_round).toMatchObject({ status: 'open' });
    expect(resumed.current_round?.id).not.toBe(first.id);
  });

  test.each([
    ['no end', () => ({})],
    ['an end in the past', () => ({ closes_at: inMinutes(-1) })],
    ['an end before its beginning', () => ({ opens_at: inMinutes(60), closes_at: inMinutes(30) })],
    [
      'an end at its beginning',
      () => ({ opens_at: '2999-01-01T00:00:00.000Z', closes_at: '2999-01-01T00:00:00.000Z' }),
    ],
    ['an end in a minute', () => ({ closes_at: inMinutes(1) })],
    ['an end in ten minutes', () => ({ closes_at: inMinutes(10) })],
    ['an end in eleven minutes less a second', () => ({ closes_at: inMinutes(11 - 1 / 60) })],
    ['an end ten minutes after a later beginning', () => ({ opens_at: inMinutes(60), closes_at: inMinutes(70) })],
    ['entries that would have closed', () => ({ opens_at: inMinutes(-60), closes_at: inMinutes(9) })],
    ['an end that is no instant', () => ({ closes_at: 'tomorrow' })],
    ['an end without an offset', () => ({ closes_at: '2999-01-01T00:00:00' })],
    ['an end beyond the year 9999', () => ({ closes_at: '9999-12-31T23:59:59-05:00' })],
    ['an end a millisecond beyond the bounds', () => ({ closes_at: '9999-01-01T00:00:00.001Z' })],
    ['a beginning before 1900', () => ({ opens_at: '1899-12-31T23:59:59.999Z', closes_at: inMinutes(60) })],
    ['a beginning in the first year', () => ({ opens_at: '0001-01-01T00:00:00+01:00', closes_at: inMinutes(60) })],
    ['an end as a number', () => ({ closes_at: Date.now() + 3_600_000 })],
    ['an end on a day that is none', () => ({ closes_at: '2999-02-30T00:00:00.000Z' })],
  ])('the operator cannot open a round with %s', async (_what, times) => {
    const tournament = await world.newTournament();
    const before = await world.digest();
    const answer = await world.operator.send('POST', `/tournaments/${tournament.id}/rounds`, { body: times() });
    expectError(400, 'invalid_request', answer);
    expect(await world.digest()).toEqual(before);
  });

  test('the tournament routes of the operator answer 404 to unknown and malformed ids, and 401 without the token', async () => {
    const times = { closes_at: inMinutes(60) };
    for (const id of [randomUUID(), 'nonsense']) {
      expectError(404, 'not_found', await world.operator.createTournament(id, tournamentTerms()));
      expectError(404, 'not_found', await world.operator.updateTournament(id, { status: 'closed' }));
      expectError(404, 'not_found', await world.operator.openRound(id, times));
      expectError(404, 'not_found', await world.partner.closeRound(id));
      expectError(404, 'not_found', await world.partner.closeEntries(id));
    }
    const { id } = await world.newTournament();
    for (const [method, path, body] of [
      ['POST', `/programs/${world.program.id}/tournaments`, tournamentTerms()],
      ['PATCH', `/tournaments/${id}`, { status: 'closed' }],
      ['POST', `/tournaments/${id}/rounds`, times],
    ] as const) {
      const headers = { authorization: 'Bearer nonsense' };
      expectStatus(401, await world.http.send(method, `/api/operator${path}`, { body, headers }));
    }
  });

  test('the audit lists every check once, including those of both owners of attempts', async () => {
    const { checks } = expectStatus(200, await world.operator.audit()).body;
    const ids = checks.map((check) => check.id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  test('the audit is good after the operator’s changes of tournaments', () => world.expectAuditOk());
});
