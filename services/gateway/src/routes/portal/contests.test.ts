/**
 * A developer's challenges and tournaments, on a gateway whose contest services are scripted: which
 * calls they get, and how their results are shown. The program of another developer gets no call.
 */
import { refused } from '@laurel/errors';
import { ChallengeServiceService, ChallengeStatus, type DriftReading, ScoreSource } from '@laurel/proto/challenge';
import { Environment } from '@laurel/proto/common';
import { PayoutStatus, TournamentServiceService, TournamentStatus } from '@laurel/proto/tournament';
import { WebhookServiceService } from '@laurel/proto/webhook';
import { createHttpClient, createPortal, createTestDatabase, type Portal, signIn } from '@laurel/testing';
import { openDocuments } from '@laurel/testing/contract';
import { newId } from '@laurel/values/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type ScriptedService, startScriptedService } from '../../clients/scripted-service.fixture.ts';
import { operatorOf, startTestGateway } from '../../gateway.fixture.ts';
import { CHALLENGE } from '../../presenters/challenge.fixture.ts';
import { presentOperatorChallenge } from '../../presenters/challenge.ts';
import { ROUND, TOURNAMENT } from '../../presenters/tournament.fixture.ts';
import { presentOperatorTournament, presentRound } from '../../presenters/tournament.ts';

const CREDENTIALS = { email: 'dev@example.com', password: 'correct horse battery' };
const OTHER_DEVELOPER = { email: 'other@example.com', password: 'correct horse battery' };
const AT = new Date('2026-11-21T12:00:00.000Z');

const stack = new AsyncDisposableStack();
let challenge: ScriptedService<typeof ChallengeServiceService>;
let tournament: ScriptedService<typeof TournamentServiceService>;
let portal: Portal;
let other: Portal;
let programId: string;

beforeAll(async () => {
  challenge = stack.use(await startScriptedService(ChallengeServiceService));
  tournament = stack.use(await startScriptedService(TournamentServiceService));
  const webhook = stack.use(await startScriptedService(WebhookServiceService, { putProgram: () => ({}) }));
  const { runningUrl } = stack.use(
    await createTestDatabase({ migrations: new URL('../../../migrations/', import.meta.url) }),
  );
  const { port } = stack.use(
    await startTestGateway({
      GATEWAY_DATABASE_URL: runningUrl,
      CHALLENGE_ADDRESS: challenge.address,
      TOURNAMENT_ADDRESS: tournament.address,
      WEBHOOK_ADDRESS: webhook.address,
      PORTAL_RATE_LIMIT_PER_MINUTE: '100000',
    }),
  );
  const operate = operatorOf(port);
  const http = stack.use(createHttpClient({ baseUrl: `http://127.0.0.1:${port}`, onAnswer: openDocuments().check }));
  const open = async (credentials: typeof CREDENTIALS) => {
    const { id } = (await operate('POST', '/developers', credentials)).body;
    const program = (await operate('POST', '/programs', { name: 'Arcade', developer_id: id })).body;
    return { portal: createPortal(http, (await signIn(http, credentials)).body.token), programId: program.id };
  };
  ({ portal, programId } = await open(CREDENTIALS));
  ({ portal: other } = await open(OTHER_DEVELOPER));
}, 60_000);
afterAll(() => stack.disposeAsync());
beforeEach(() => {
  challenge.script = {};
  tournament.script = {};
  challenge.asked.length = 0;
  tournament.asked.length = 0;
});

const get = (path: string, from = portal) => from.send('GET', `/programs/${programId}${path}`);
const asked = () => [...challenge.asked, ...tournament.asked];

const ID = newId();
const RESOURCE_PATHS = [
  `/challenges/${ID}`,
  `/challenges/${ID}/statistics`,
  `/tournaments/${ID}`,
  `/tournaments/${ID}/rounds`,
  `/rounds/${ID}/standings`,
];
const LIST_PATHS = ['/challenges', '/tournaments'];

describe('the challenges and tournaments of a program', () => {
  test('another developer’s challenges and tournaments are 404 without a call', async () => {
    for (const path of [...RESOURCE_PATHS, ...LIST_PATHS.map((list) => `${list}?environment=test`)]) {
      expect(await get(path, other)).toMatchObject({ status: 404, code: 'not_found' });
    }
    expect(asked()).toEqual([]);
  });

  test('a challenge or tournament that the service does not find for the program is 404', async () => {
    for (const path of RESOURCE_PATHS) expect(await get(path)).toMatchObject({ status: 404, code: 'not_found' });
    expect(asked()).toEqual([
      ['getProgramChallenge', { programId, challengeId: ID }],
      ['getChallengeStatistics', { programId, challengeId: ID, bins: 30, anyProgram: false }],
      ['getProgramTournament', { programId, tournamentId: ID }],
      ['listTournamentRounds', { programId, tournamentId: ID, cursor: '', limit: 200, anyProgram: false }],
      ['listRoundStandings', { programId, roundId: ID, cursor: '', limit: 200 }],
    ]);
  });

  test('a malformed id is 404 without a call', async () => {
    for (const path of RESOURCE_PATHS) expect(await get(path.replace(ID, 'x'))).toMatchObject({ status: 404 });
    const bad = [
      ...LIST_PATHS.flatMap((list) => [
        list,
        `${list}?environment=prod`,
        `${list}?environment=test&status=open`,
        `${list}?environment=test&limit=0`,
        `${list}?environment=test&limit=201`,
        `${list}?environment=test&cursor=`,
      ]),
      ...['4', '101', 'x', '30.5', '-5', ''].map((bins) => `/challenges/${ID}/statistics?bins=${bins}`),
      `/tournaments/${ID}/rounds?limit=201`,
      `/rounds/${ID}/standings?limit=0`,
    ];
    for (const path of bad) expect(await get(path), path).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(asked()).toEqual([]);
  });

  test('a cursor that the contest service refuses is 400', async () => {
    const refuse = async () => refused('invalid_request', 'The cursor is not valid.');
    challenge.script = { listProgramChallenges: refuse };
    tournament.script = { listProgramTournaments: refuse, listTournamentRounds: refuse, listRoundStandings: refuse };
    const paths = [
      ...LIST_PATHS.map((list) => `${list}?environment=live&`),
      `${RESOURCE_PATHS[3]}?`,
      `${RESOURCE_PATHS[4]}?`,
    ];
    for (const path of paths) expect(await get(`${path}cursor=nonsense`)).toMatchObject({ status: 400 });
    expect(asked()).toHaveLength(paths.length);
  });
});

describe('challenges', () => {
  test('challenges are listed and read with their terms, in one environment and by status', async () => {
    challenge.script = {
      listProgramChallenges: async () => ({ challenges: [CHALLENGE], nextCursor: 'next' }),
      getProgramChallenge: async () => ({ challenge: CHALLENGE }),
    };
    const listed = await get('/challenges?environment=live&status=suspended&cursor=here&limit=7');
    expect(listed).toMatchObject({ status: 200 });
    expect(listed.body).toEqual({ data: [presentOperatorChallenge(CHALLENGE)], next_cursor: 'next' });
    expect((await get(`/challenges/${ID}`)).body).toEqual(presentOperatorChallenge(CHALLENGE));
    const tenant = { programId, environment: Environment.LIVE };
    expect(challenge.asked[0]).toEqual([
      'listProgramChallenges',
      { tenant, status: ChallengeStatus.SUSPENDED, cursor: 'here', limit: 7 },
    ]);
    challenge.script = { listProgramChallenges: async () => ({ challenges: [], nextCursor: '' }) };
    expect((await get('/challenges?environment=test')).body).toEqual({ data: [], next_cursor: null });
  });

  const reading: DriftReading = { attempts: 50n, passes: 10n, logRatioAbove: 0.5, logRatioBelow: -1, readAt: AT };
  const drift = {
    challenge: CHALLENGE,
    startedAt: undefined,
    now: undefined,
    claimedLow: 0.1,
    claimedHigh: 0.3,
    logLimit: 7.6,
    attemptsBeforeJudging: 50n,
    readings: [],
    changes: [],
  };

  test('the statistics of a calibrating challenge have samples and no monitor', async () => {
    challenge.script = {
      getChallengeStatistics: async () => ({
        drift,
        scores: {
          source: ScoreSource.BAR_SAMPLES,
          count: 3n,
          isComplete: true,
          bins: [
            { from: 1, to: 2, samples: 1n },
            { from: 2, to: 3, samples: 2n },
          ],
        },
        passRate: { attempts: 0n, passes: 0n, low: undefined, high: undefined, at: AT },
        passRates: [],
        barSoFar: 2.5,
        ramp: undefined,
        rampCompletedAt: undefined,
      }),
    };
    expect((await get(`/challenges/${ID}/statistics?bins=5`)).body).toEqual({
      scores: {
        count: 3,
        from: 1,
        to: 3,
        bins: [
          { from: 1, to: 2, count: 1 },
          { from: 2, to: 3, count: 2 },
        ],
        threshold: null,
        source: 'bar_samples',
        complete: true,
      },
      pass_rate: { target: 0.2, attempts: 0, passes: 0, observed: null, low: null, high: null, over_time: [] },
      calibration: { collected: 3, required: 200, players_collected: 2, players_required: 20, bar_so_far: 2.5 },
      ramp: null,
      drift: null,
      status_changes: [],
    });
    expect(challenge.asked).toEqual([
      ['getChallengeStatistics', { programId, challengeId: ID, bins: 5, anyProgram: false }],
    ]);
  });

  test('the statistics of a live challenge have the pass rate, the ramp and the monitor', async () => {
    const live = { ...CHALLENGE, status: ChallengeStatus.LIVE, threshold: 100, calibration: undefined };
    const rate = { attempts: 50n, passes: 10n, low: 0.11, high: 0.33, at: AT };
    const change = {
      changedAt: AT,
      from: ChallengeStatus.CALIBRATING,
      to: ChallengeStatus.LIVE,
      cause: 'calibrated',
      note: '',
      evidence: undefined,
    };
    challenge.script = {
      getChallengeStatistics: async () => ({
        drift: { ...drift, challenge: live, startedAt: AT, now: reading, readings: [reading], changes: [change] },
        scores: { source: ScoreSource.PAID_ATTEMPTS, count: 0n, isComplete: false, bins: [] },
        passRate: rate,
        passRates: [rate],
        barSoFar: undefined,
        ramp: { fullPrizeCents: 2_000n, attemptsSeen: 100n, attemptsRequired: 100n },
        rampCompletedAt: AT,
      }),
    };
    const at = AT.toISOString();
    const shown = { attempts: 50, passes: 10, observed: 0.2, low: 0.11, high: 0.33 };
    const evidence = { attempts: 50, passes: 10, evidence_above: 0.5, evidence_below: -1 };
    expect((await get(`/challenges/${ID}/statistics`)).body).toEqual({
      scores: { count: 0, from: null, to: null, bins: [], threshold: 100, source: 'paid_attempts', complete: false },
      pass_rate: { target: 0.2, ...shown, over_time: [{ at, ...shown }] },
      calibration: null,
      ramp: {
        full_prize: '20.00',
        offered_prize: '4.00',
        attempts_seen: 100,
        attempts_required: 100,
        completed_at: at,
      },
      drift: { started_at: at, ...evidence, limit: 7.6, readings: [{ at, ...evidence }] },
      status_changes: [{ at, from: 'calibrating', to: 'live', cause: 'calibrated', note: null }],
    });
  });
});

describe('tournaments', () => {
  test('tournaments are listed and read with their terms, and their rounds listed', async () => {
    tournament.script = {
      listProgramTournaments: async () => ({ tournaments: [TOURNAMENT], nextCursor: '' }),
      getProgramTournament: async () => ({ tournament: TOURNAMENT }),
      listTournamentRounds: async () => ({ rounds: [ROUND], nextCursor: 'next' }),
    };
    const one = presentOperatorTournament(TOURNAMENT);
    expect((await get('/tournaments?environment=test&status=paused&limit=3')).body).toEqual({
      data: [one],
      next_cursor: null,
    });
    expect((await get(`/tournaments/${ID}`)).body).toEqual(one);
    expect((await get(`/tournaments/${ID}/rounds?cursor=here`)).body).toEqual({
      data: [presentRound(ROUND)],
      next_cursor: 'next',
    });
    const tenant = { programId, environment: Environment.TEST };
    expect(tournament.asked).toEqual([
      ['listProgramTournaments', { tenant, status: TournamentStatus.PAUSED, cursor: '', limit: 3 }],
      ['getProgramTournament', { programId, tournamentId: ID }],
      ['listTournamentRounds', { programId, tournamentId: ID, cursor: 'here', limit: 200, anyProgram: false }],
    ]);
  });

  test('the standings of a round show only counts while they are withheld', async () => {
    const head = { round: ROUND, scoredPlayers: 4 };
    tournament.script = {
      listRoundStandings: async () => ({ ...head, isWithheld: true, rows: [], nextCursor: '' }),
    };
    const path = `/rounds/${ID}/standings`;
    const counts = { round: presentRound(ROUND), scored_players: 4 };
    expect((await get(path)).body).toEqual({ ...counts, withheld: true, data: [], next_cursor: null });

    const row = {
      rank: 1n,
      playerRef: 'player',
      bestScore: 7,
      bestTiebreak: undefined,
      bestScoreAt: AT,
      paidAttempts: 2,
      finalRank: 1n,
      payoutCents: 500n,
      payoutStatus: PayoutStatus.PAID,
      entryId: '',
    };
    tournament.script = {
      listRoundStandings: async () => ({ ...head, isWithheld: false, rows: [row], nextCursor: 'next' }),
    };
    expect((await get(`${path}?limit=1`)).body).toEqual({
      ...counts,
      withheld: false,
      data: [
        {
          rank: 1,
          player_ref: 'player',
          best_score: 7,
          best_tiebreak: null,
          best_score_at: AT.toISOString(),
          paid_attempts: 2,
          final_rank: 1,
          payout_amount: '5.00',
          payout_status: 'paid',
        },
      ],
      next_cursor: 'next',
    });
  });
});
