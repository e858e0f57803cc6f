import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  expectError,
  expectStatus,
  inMinutes,
  joinWorld,
  type SharedWorld,
  tournamentTerms,
  WITH_TIEBREAK,
} from '../world.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('tournaments of /api/operator', () => {
  let world: SharedWorld;
  beforeAll(async () => {
    world = await joinWorld();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  test('the operator creates a tournament with every term that was set', async () => {
    const terms = tournamentTerms({
      ...WITH_TIEBREAK,
      description: 'Every Friday',
      entry_fee: '2.50',
      attempt_cap: 3,
      min_entrants: 2,
      min_scored_attempts: 4,
      // The ranks may be sent in any order; they are shown by rank.
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

  test('a refusal of the tournament service is a 400 with the same message', async () => {
    const program = await world.newProgram();
    const gap = [
      { rank: 1, amount: '2.00' },
      { rank: 3, amount: '1.00' },
    ];
    const refused = await world.operator.createTournament(program.id, tournamentTerms({ purse_table: gap }));
    expectError(400, 'invalid_request', refused);
    expect(refused.text).toContain('purse_table must name every rank from 1 on, each once');
    expect(expectStatus(200, await program.test.listTournaments('all')).body.data).toEqual([]);
    const { id } = await world.newTournament({}, program);
    expectError(400, 'invalid_request', await world.operator.openRound(id, { closes_at: inMinutes(10) }));
    const [listed] = expectStatus(200, await program.test.listTournaments('all')).body.data;
    expect(listed).toMatchObject({ id, current_round: null });
  });

  test('the operator can open only one round of a tournament at a time', async () => {
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

  test('the operator finds the held payout of a rank from its tournament', async () => {
    const { operator } = world;
    const terms = { purse_table: [{ rank: 1, amount: '10.00' }] };
    const round = await world.newRound(terms);
    const [winner, second] = [await world.newPlayer(), await world.newPlayer()];
    await world.playRound(round.id, winner, 2);
    const { attempt_id: attemptId } = await world.playRound(round.id, second, 1);
    type Row = { account_id: string; award_id: string | null; payout_status: string; payout_amount: string | null };
    const standings = async (query = '') =>
      expectStatus(200, await operator.send<{ data: Row[] }>('GET', `/rounds/${round.id}/standings${query}`)).body.data;
    expect(await standings()).toMatchObject([
      { rank: 1, account_id: winner.accountId, award_id: null, payout_status: 'none', payout_amount: null },
      { rank: 2, account_id: second.accountId, award_id: null, payout_status: 'none', payout_amount: null },
    ]);
    expect(await standings(`?account_id=${second.accountId}`)).toMatchObject([
      { rank: 2, account_id: second.accountId, best_attempt_id: attemptId },
    ]);
    expectStatus(204, await world.partner.holdNextAward(winner.ref));
    expectStatus(200, await world.partner.closeRound(round.id));
    const path = `/tournaments/${round.tournament_id}/rounds`;
    const { data } = expectStatus(200, await operator.send<{ data: { id: string }[] }>('GET', path)).body;
    expect(data.map(({ id }) => id)).toEqual([round.id]);
    const [first, last] = await standings();
    expect(first).toMatchObject({ payout_status: 'held', payout_amount: '10.00' });
    expect(last).toMatchObject({ payout_status: 'none', payout_amount: '0.00', award_id: null });
    const released = expectStatus(200, await operator.releasePayout(first?.award_id ?? expect.fail('no award'))).body;
    expect(released).toMatchObject({ round_id: round.id, account_id: winner.accountId, amount: '10.00' });
    expect((await standings())[0]).toMatchObject({ payout_status: 'paid', award_id: first?.award_id });
  });

  test('closing an unknown round in the sandbox is 404', async () => {
    for (const id of [randomUUID(), 'nonsense']) {
      expectError(404, 'not_found', await world.partner.closeRound(id));
      expectError(404, 'not_found', await world.partner.closeEntries(id));
    }
  });

  test('the audit lists every check once', async () => {
    const { checks } = expectStatus(200, await world.operator.audit()).body;
    const ids = checks.map((check) => check.id);
    expect(ids).toContain('completed_keys_have_a_response');
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  test('the audit finds no violation after the operator’s changes of tournaments', () => world.expectAuditOk());
});
