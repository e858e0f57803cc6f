/**
 * The tournament service is scripted. The tests check what the gateway refuses by itself, and which
 * calls the service gets.
 */

import { refused } from '@laurel/errors';
import { Environment } from '@laurel/proto/common';
import { PayoutStatus, TournamentServiceService, TournamentStatus } from '@laurel/proto/tournament';
import { createTestDatabase } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startScriptedIntegration } from '../../clients/integration.fixture.ts';
import { type ScriptedService, startScriptedService } from '../../clients/scripted-service.fixture.ts';
import { operatorOf, startTestGateway } from '../../gateway.fixture.ts';
import { ROUND, TOURNAMENT } from '../../presenters/tournament.fixture.ts';
import { presentOperatorTournament, presentRound } from '../../presenters/tournament.ts';

const INVALID = { status: 400, code: 'invalid_request' };
const NOT_FOUND = { status: 404, code: 'not_found' };
const PATH = `/tournaments/${newId()}`;
const CLOSES_AT = '2999-01-01T00:00:00.000Z';

const stack = new AsyncDisposableStack();
let tournament: ScriptedService<typeof TournamentServiceService>;
let port: number;
let operate: ReturnType<typeof operatorOf>;
let programId: string;

beforeAll(async () => {
  tournament = stack.use(await startScriptedService(TournamentServiceService));
  const integration = stack.use(await startScriptedIntegration());
  const { runningUrl } = stack.use(
    await createTestDatabase({ migrations: new URL('../../../migrations/', import.meta.url) }),
  );
  const gateway = await startTestGateway({
    GATEWAY_DATABASE_URL: runningUrl,
    TOURNAMENT_ADDRESS: tournament.address,
    INTEGRATION_ADDRESS: integration.address,
  });
  ({ port } = stack.use(gateway));
  operate = operatorOf(port);
  programId = (await operate('POST', '/programs', { name: 'Arcade' })).body.id;
}, 60_000);
afterAll(() => stack.disposeAsync());
beforeEach(() => {
  tournament.script = {};
  tournament.asked.length = 0;
});

/** The calls that change something; an action also reads its subject. */
const changes = () => tournament.asked.filter(([rpc]) => rpc !== 'getTournament' && rpc !== 'getRound');

describe('opening a tournament', () => {
  const TERMS = {
    environment: 'test',
    name: 'Cup',
    metric_name: 'score',
    metric_unit: 'points',
    threshold_direction: 'higher_is_better',
    entry_fee: '1.00',
    attempt_cap: 3,
    purse_table: [{ rank: 1, amount: '10.00' }],
    min_entrants: 2,
  };

  // The tournament service's own tests cover what it refuses:
  // services/tournament/src/domain/tournament-terms.test.ts.
  test.each<[string, object]>([
    ['no environment', { environment: undefined }],
    ['an unknown environment', { environment: 'staging' }],
    ['no name', { name: '' }],
    ['a name of 256 characters', { name: 'x'.repeat(256) }],
    ['a name with NUL', { name: 'a\0b' }],
    ['a description of 2,001 characters', { description: 'x'.repeat(2_001) }],
    ['no metric', { metric_name: undefined }],
    ['a unit as a number', { metric_unit: 1 }],
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
    ['a purse that is not a list', { purse_table: { rank: 1, amount: '1.00' } }],
    ['a rank without an amount', { purse_table: [{ rank: 1 }] }],
    ['a purse from rank 0', { purse_table: [{ rank: 0, amount: '1.00' }] }],
    ['a rank that is paid nothing', { purse_table: [{ rank: 1, amount: '0.00' }] }],
    ['an amount as a number', { purse_table: [{ rank: 1, amount: 5 }] }],
    ['a negative amount', { purse_table: [{ rank: 1, amount: '-5.00' }] }],
    [
      '5,001 paid ranks',
      { purse_table: Array.from({ length: 5_001 }, (_row, index) => ({ rank: index + 1, amount: '1.00' })) },
    ],
    ['no minimum of entrants', { min_entrants: undefined }],
    ['a minimum of 0 entrants', { min_entrants: 0 }],
    ['a negative minimum of scores', { min_scored_attempts: -1 }],
    ['rounds of no length', { round_length_seconds: 0 }],
    ['rounds of half a second', { round_length_seconds: 900.5 }],
    ['a length of rounds as text', { round_length_seconds: '3600' }],
  ])('a tournament with %s is refused without a call to the tournament service', async (_what, wrong) => {
    const answer = await operate('POST', `/programs/${programId}/tournaments`, { ...TERMS, ...wrong });
    expect(answer).toMatchObject(INVALID);
    expect(tournament.asked).toEqual([]);
  });
});

describe('reading tournaments and rounds', () => {
  const ROUND_PATH = `/rounds/${ROUND.id}`;
  const AT = new Date('2026-11-21T12:00:00.000Z');

  test('tournaments are listed in one environment and by status, with their terms', async () => {
    tournament.script.listProgramTournaments = async () => ({ tournaments: [TOURNAMENT], nextCursor: 'next' });
    tournament.script.getTournament = async () => ({ tournament: TOURNAMENT });
    const one = presentOperatorTournament(TOURNAMENT);
    const path = `/programs/${programId}/tournaments`;
    const listed = await operate('GET', `${path}?environment=test&status=paused&cursor=here&limit=3`);
    expect([listed.status, listed.body]).toEqual([200, { data: [one], next_cursor: 'next' }]);
    expect((await operate('GET', `/tournaments/${TOURNAMENT.id}`)).body).toEqual(one);
    const tenant = { programId, environment: Environment.TEST };
    expect(tournament.asked).toEqual([
      ['listProgramTournaments', { tenant, status: TournamentStatus.PAUSED, cursor: 'here', limit: 3 }],
      ['getTournament', { tournamentId: TOURNAMENT.id }],
    ]);
  });

  test('the rounds of a tournament are listed, and a round shows its program and environment', async () => {
    tournament.script.listTournamentRounds = async () => ({ rounds: [ROUND], nextCursor: '' });
    tournament.script.getRound = async () => ({ round: ROUND });
    const listed = await operate('GET', `/tournaments/${TOURNAMENT.id}/rounds?limit=7`);
    expect([listed.status, listed.body]).toEqual([200, { data: [presentRound(ROUND)], next_cursor: null }]);
    const owner = { program_id: ROUND.tenant?.programId, environment: 'live', cancellation: null };
    expect((await operate('GET', ROUND_PATH)).body).toEqual({ ...presentRound(ROUND), ...owner });
    const any = { programId: '', anyProgram: true };
    expect(tournament.asked).toEqual([
      ['listTournamentRounds', { ...any, tournamentId: TOURNAMENT.id, cursor: '', limit: 7 }],
      ['getRound', { roundId: ROUND.id }],
    ]);
  });

  test('the standings of a round show the account and the award of each row', async () => {
    const row = {
      rank: 1n,
      playerRef: 'player',
      bestScore: 7,
      bestTiebreak: undefined,
      bestScoreAt: AT,
      paidAttempts: 2,
      finalRank: 1n,
      payoutCents: 500n,
      payoutStatus: PayoutStatus.DENIED,
      entryId: 'entry',
    };
    const [accountId, awardId, bestAttemptId] = [newId(), newId(), newId()];
    const running = { ...row, finalRank: undefined, payoutCents: undefined, payoutStatus: PayoutStatus.NONE };
    tournament.script.inspectStandings = async () => ({
      round: ROUND,
      scoredPlayers: 4,
      rows: [
        { row, accountId, awardId, bestAttemptId },
        { row: running, accountId, awardId: '', bestAttemptId },
      ],
      nextCursor: 'next',
    });
    const read = await operate('GET', `${ROUND_PATH}/standings?cursor=here&limit=2`);
    const shown = {
      rank: 1,
      player_ref: 'player',
      best_score: 7,
      best_tiebreak: null,
      best_score_at: AT.toISOString(),
      paid_attempts: 2,
      account_id: accountId,
      best_attempt_id: bestAttemptId,
    };
    expect([read.status, read.body]).toEqual([
      200,
      {
        round: { ...presentRound(ROUND), program_id: ROUND.tenant?.programId, environment: 'live', cancellation: null },
        scored_players: 4,
        data: [
          { ...shown, final_rank: 1, payout_amount: '5.00', payout_status: 'denied', award_id: awardId },
          { ...shown, final_rank: null, payout_amount: null, payout_status: 'none', award_id: null },
        ],
        next_cursor: 'next',
      },
    ]);
    await operate('GET', `${ROUND_PATH}/standings?account_id=${accountId.toUpperCase()}`);
    expect(tournament.asked).toEqual([
      ['inspectStandings', { roundId: ROUND.id, cursor: 'here', limit: 2, accountId: undefined }],
      ['inspectStandings', { roundId: ROUND.id, cursor: '', limit: 200, accountId }],
    ]);
  });

  test('an unknown tournament or round is 404, and a malformed id reaches no service', async () => {
    const reads = [PATH, `${PATH}/rounds`, `/rounds/${newId()}`, `/rounds/${newId()}/standings`];
    for (const path of reads) expect(await operate('GET', path), path).toMatchObject(NOT_FOUND);
    expect(tournament.asked).toHaveLength(reads.length);
    tournament.asked.length = 0;
    for (const path of ['/tournaments/x', '/tournaments/x/rounds', '/rounds/x', '/rounds/x/standings']) {
      expect(await operate('GET', path), path).toMatchObject(NOT_FOUND);
    }
    expect(await operate('GET', `/programs/${newId()}/tournaments?environment=test`)).toMatchObject(NOT_FOUND);
    const list = `/programs/${programId}/tournaments`;
    for (const path of [
      list,
      `${list}?environment=prod`,
      `${list}?environment=test&status=open`,
      `${list}?environment=test&limit=201`,
      `${PATH}/rounds?limit=0`,
      `${PATH}/rounds?status=open`,
      `${ROUND_PATH}/standings?limit=201`,
      `${ROUND_PATH}/standings?cursor=`,
      `${ROUND_PATH}/standings?account_id=x`,
    ]) {
      expect(await operate('GET', path), path).toMatchObject(INVALID);
    }
    expect(tournament.asked).toEqual([]);
  });

  test('a cursor that the tournament service refuses is 400', async () => {
    const refuse = async () => refused('invalid_request', 'The cursor is not valid.');
    tournament.script = { listProgramTournaments: refuse, listTournamentRounds: refuse, inspectStandings: refuse };
    for (const path of [
      `/programs/${programId}/tournaments?environment=test&cursor=x`,
      `${PATH}/rounds?cursor=x`,
      `${ROUND_PATH}/standings?cursor=x`,
    ]) {
      expect(await operate('GET', path), path).toMatchObject(INVALID);
    }
  });
});

describe('changing a tournament', () => {
  test('only the status of a tournament can be changed', async () => {
    for (const body of [
      {},
      { status: 'open' },
      { status: null },
      { entry_fee: '9.00' },
      { status: 'active', entry_fee: '9.00' },
      { status: 'active', purse_table: [{ rank: 1, amount: '1000.00' }] },
    ]) {
      expect(await operate('PATCH', PATH, body), JSON.stringify(body)).toMatchObject(INVALID);
    }
    expect(changes()).toEqual([]);
  });
});

describe('opening a round by hand', () => {
  // The tournament service refuses what depends on the present:
  // services/tournament/src/domain/round-{opening,length}.test.ts.
  test.each<[string, object]>([
    ['no end', {}],
    ['an end that is not an instant', { closes_at: 'tomorrow' }],
    ['an end without an offset', { closes_at: '2999-01-01T00:00:00' }],
    ['an end beyond the year 9999', { closes_at: '9999-12-31T23:59:59-05:00' }],
    ['an end a millisecond beyond the bounds', { closes_at: '9999-01-01T00:00:00.001Z' }],
    ['a beginning before 1900', { opens_at: '1899-12-31T23:59:59.999Z', closes_at: CLOSES_AT }],
    ['a beginning in the first year', { opens_at: '0001-01-01T00:00:00+01:00', closes_at: CLOSES_AT }],
    ['an end as a number', { closes_at: Date.parse(CLOSES_AT) }],
    ['an end on a day that is none', { closes_at: '2999-02-30T00:00:00.000Z' }],
  ])('a round with %s is refused without a call to the tournament service that opens it', async (_what, times) => {
    expect(await operate('POST', `${PATH}/rounds`, times)).toMatchObject(INVALID);
    expect(changes()).toEqual([]);
  });

  test('an opening time may be absent, and an instant may have any offset', async () => {
    const times = { opens_at: null, closes_at: '2999-01-01T01:00:00+01:00' };
    await operate('POST', `${PATH}/rounds`, times);
    expect(changes()).toMatchObject([['openRound', { opensAt: undefined, closesAt: new Date(CLOSES_AT) }]]);
  });
});

describe('cancelling a round', () => {
  const ROUND = `/rounds/${newId()}/cancel`;

  test.each<[string, object]>([
    ['no reason', {}],
    ['an empty reason', { reason: '' }],
    ['a blank reason', { reason: ' \n' }],
    ['a reason of 1,001 characters', { reason: '🎯'.repeat(1_001) }],
    ['a reason with NUL', { reason: 'a\0b' }],
    ['a reason as a number', { reason: 1 }],
  ])('a cancellation with %s is refused without a call to the tournament service', async (_what, body) => {
    expect(await operate('POST', ROUND, body)).toMatchObject(INVALID);
    expect(changes()).toEqual([]);
  });

  test('a cancellation reaches the tournament service with its reason and operator', async () => {
    expect(await operate('POST', ROUND, { reason: 'a bug', operator: 'somebody else' })).toMatchObject(NOT_FOUND);
    const roundId = ROUND.split('/')[2];
    expect(changes()).toMatchObject([['cancelRound', { roundId, reason: 'a bug', operator: 'operator' }]]);
  });
});

test('a change of an unknown tournament is 404', async () => {
  const calls: [string, string, object][] = [
    ['PATCH', PATH, { status: 'closed' }],
    ['POST', `${PATH}/rounds`, { closes_at: CLOSES_AT }],
    ['POST', `/rounds/${newId()}/cancel`, { reason: 'a bug' }],
  ];
  for (const [method, path, body] of calls) {
    expect(await operate(method, path, body)).toMatchObject(NOT_FOUND);
  }
  tournament.asked.length = 0;
  const withoutToken = operatorOf(port, 'nonsense');
  for (const [method, path, body] of [...calls, ['POST', `/programs/${programId}/tournaments`, {}] as const]) {
    expect(await withoutToken(method, path, body)).toMatchObject({ status: 401, code: 'unauthorized' });
  }
  expect(tournament.asked).toEqual([]);
});
