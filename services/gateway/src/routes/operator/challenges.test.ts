/**
 * The challenge service is scripted. The tests check which calls it gets, and what an operator sees
 * of its results.
 */
import { refused } from '@laurel/errors';
import {
  ChallengeServiceService,
  ChallengeStatus,
  PrizeStructure,
  ScoreSource,
  ThresholdDirection,
} from '@laurel/proto/challenge';
import { Environment } from '@laurel/proto/common';
import { createTestDatabase } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type ScriptedService, startScriptedService } from '../../clients/scripted-service.fixture.ts';
import { operatorOf, startTestGateway } from '../../gateway.fixture.ts';
import { CHALLENGE } from '../../presenters/challenge.fixture.ts';
import { presentOperatorChallenge } from '../../presenters/challenge.ts';
import { presentStatistics } from '../../presenters/challenge-statistics.ts';
import { CHALLENGE_TERMS } from './terms.fixture.ts';

const AT = new Date('2026-11-21T12:00:00.000Z');
const PATH = `/challenges/${CHALLENGE.id}`;

const stack = new AsyncDisposableStack();
let challenge: ScriptedService<typeof ChallengeServiceService>;
let operate: ReturnType<typeof operatorOf>;

beforeAll(async () => {
  challenge = stack.use(await startScriptedService(ChallengeServiceService));
  const { runningUrl } = stack.use(
    await createTestDatabase({ migrations: new URL('../../../migrations/', import.meta.url) }),
  );
  const gateway = await startTestGateway({ GATEWAY_DATABASE_URL: runningUrl, CHALLENGE_ADDRESS: challenge.address });
  operate = operatorOf(stack.use(gateway).port);
}, 60_000);
afterAll(() => stack.disposeAsync());
beforeEach(() => {
  challenge.script = {};
  challenge.asked.length = 0;
});

/** The requests of this rpc alone, because an action also reads its subject by another rpc. */
const askedOf = (rpc: string) => challenge.asked.filter(([name]) => name === rpc).map(([, request]) => request);

describe('opening a challenge', () => {
  let path: string;
  beforeAll(async () => {
    path = `/programs/${(await operate('POST', '/programs', { name: 'Arcade' })).body.id}/challenges`;
  });

  test('the challenge service chooses the size of a calibration unless the operator sets it', async () => {
    challenge.script.createChallenge = async () => ({ challenge: CHALLENGE });
    for (const given of [
      {},
      { min_calibration_n: null },
      { min_calibration_n: 1 },
      { min_calibration_n: 10_000_000 },
    ]) {
      expect((await operate('POST', path, { ...CHALLENGE_TERMS, ...given })).status).toBe(201);
    }
    const sent = askedOf('createChallenge') as { terms: { minCalibrationN: number } }[];
    expect(sent.map(({ terms }) => terms.minCalibrationN)).toEqual([0, 0, 1, 10_000_000]);
    for (const wrong of [0, 1.5, '200', 10_000_001]) {
      const answer = await operate('POST', path, { ...CHALLENGE_TERMS, min_calibration_n: wrong });
      expect([answer.status, answer.code]).toEqual([400, 'invalid_request']);
    }
  });

  test('fields that the operator leaves out get the defaults of the contract', async () => {
    expect((await operate('POST', path, CHALLENGE_TERMS)).status).toBe(404);
    expect(askedOf('createChallenge')).toEqual([
      {
        tenant: { programId: path.split('/')[2], environment: Environment.TEST },
        terms: {
          name: 'Sprint',
          description: undefined,
          feeCents: 100n,
          prizeCents: 400n,
          prizeStructure: PrizeStructure.THRESHOLD,
          topN: undefined,
          metricName: 'score',
          metricUnit: 'points',
          thresholdDirection: ThresholdDirection.HIGHER_IS_BETTER,
          scoreMin: undefined,
          scoreMax: undefined,
          targetPassRate: 0.2,
          integrityTier: 1,
          minCalibrationN: 0,
          minCalibrationPlayers: 20,
          dailyAttemptCap: 10,
          requiredVerificationLevel: 0,
          jurisdictions: [],
          parentChallengeId: '',
        },
        status: ChallengeStatus.CALIBRATING,
        threshold: undefined,
      },
    ]);
  });

  // The challenge service's own tests cover what it refuses:
  // services/challenge/src/handlers/challenges.test.ts.
  test.each<[string, object | string]>([
    ['an unknown environment', { environment: 'staging' }],
    ['no name', { name: undefined }],
    ['an empty name', { name: '' }],
    ['a fee of nothing', { fee: '0.00' }],
    ['a fee with one decimal', { fee: '1.0' }],
    ['a fee as a number', { fee: 1 }],
    ['a negative prize', { prize: '-5.00' }],
    ['an unknown direction', { threshold_direction: 'sideways' }],
    ['a pass rate of 0', { target_pass_rate: 0 }],
    ['a pass rate of 1', { target_pass_rate: 1 }],
    ['tier 0', { integrity_tier: 0 }],
    ['tier 4', { integrity_tier: 4 }],
    ['tier 1.5', { integrity_tier: 1.5 }],
    ['an unknown status', { status: 'nonsense' }],
    ['a status that only a change has', { status: 'closed', threshold: 100 }],
    ['a cap of 0', { daily_attempt_cap: 0 }],
    ['a negative cap', { daily_attempt_cap: -1 }],
    ['a verification level of 4', { required_verification_level: 4 }],
    ['jurisdictions that are not a list', { jurisdictions: 'US-CA' }],
    ['a parent that is not an id', { parent_challenge_id: 'nonsense' }],
    ['an unknown prize structure', { prize_structure: 'lottery' }],
    [
      'a bar that is not finite',
      JSON.stringify({ ...CHALLENGE_TERMS, status: 'live', threshold: 100 }).replace(':100}', ':1e999}'),
    ],
  ])('a challenge with %s is refused without a call to the challenge service', async (_what, wrong) => {
    const answer = await operate('POST', path, typeof wrong === 'string' ? wrong : { ...CHALLENGE_TERMS, ...wrong });
    expect(answer).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(challenge.asked).toEqual([]);
  });

  test('a rung may be opened live without a bar of its own', async () => {
    challenge.script.createChallenge = async () => ({ challenge: CHALLENGE });
    const rung = { ...CHALLENGE_TERMS, status: 'live', parent_challenge_id: CHALLENGE.id };
    expect((await operate('POST', path, rung)).status).toBe(201);
    expect(askedOf('createChallenge')).toMatchObject([
      { status: ChallengeStatus.LIVE, threshold: undefined, terms: { parentChallengeId: CHALLENGE.id } },
    ]);
  });
});

describe('reading the challenges of a program', () => {
  let programId: string;
  beforeAll(async () => {
    programId = (await operate('POST', '/programs', { name: 'Arcade' })).body.id;
  });
  const list = (query: string, id = programId) => operate('GET', `/programs/${id}/challenges${query}`);

  test('challenges are listed in one environment and by status, with their terms', async () => {
    challenge.script.listProgramChallenges = async () => ({ challenges: [CHALLENGE], nextCursor: 'next' });
    const listed = await list('?environment=live&status=suspended&cursor=here&limit=7');
    expect([listed.status, listed.body]).toEqual([
      200,
      { data: [presentOperatorChallenge(CHALLENGE)], next_cursor: 'next' },
    ]);
    challenge.script.listProgramChallenges = async () => ({ challenges: [], nextCursor: '' });
    expect((await list('?environment=test')).body).toEqual({ data: [], next_cursor: null });
    const tenant = { programId, environment: Environment.LIVE };
    expect(challenge.asked).toEqual([
      ['listProgramChallenges', { tenant, status: ChallengeStatus.SUSPENDED, cursor: 'here', limit: 7 }],
      [
        'listProgramChallenges',
        { tenant: { ...tenant, environment: Environment.TEST }, status: 0, cursor: '', limit: 200 },
      ],
    ]);
  });

  test('challenges of an unknown program are 404 without a call', async () => {
    for (const id of [newId(), 'nonsense']) {
      expect(await list('?environment=test', id)).toMatchObject({ status: 404, code: 'not_found' });
    }
    const test = '?environment=test';
    for (const query of ['', '?environment=prod', `${test}&status=open`, `${test}&limit=0`, `${test}&limit=201`]) {
      expect(await list(query), query).toMatchObject({ status: 400, code: 'invalid_request' });
    }
    expect(await list(`${test}&program_id=${programId}`)).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(challenge.asked).toEqual([]);
    challenge.script.listProgramChallenges = async () => refused('invalid_request', 'The cursor is not valid.');
    expect(await list(`${test}&cursor=x`)).toMatchObject({ status: 400, code: 'invalid_request' });
  });
});

describe('reading a challenge', () => {
  const change = {
    changedAt: AT,
    from: ChallengeStatus.LIVE,
    to: ChallengeStatus.SUSPENDED,
    cause: 'operator',
    note: 'A look at the scores.',
    evidence: undefined,
  };
  const shown = { at: AT.toISOString(), from: 'live', to: 'suspended', cause: 'operator' };

  test('a challenge is shown with the change that gave the challenge its status', async () => {
    for (const [statusChange, expected] of [
      [undefined, null],
      [change, { ...shown, note: change.note }],
      [
        { ...change, cause: 'drift', note: '' },
        { ...shown, cause: 'drift', note: null },
      ],
    ] as const) {
      challenge.script.getChallenge = async () => ({ challenge: CHALLENGE, statusChange });
      const read = await operate('GET', PATH);
      expect([read.status, read.body]).toEqual([
        200,
        { ...presentOperatorChallenge(CHALLENGE), status_change: expected },
      ]);
    }
  });

  test('operators see the statistics of a challenge as its developer sees them', async () => {
    const statistics = {
      drift: {
        challenge: CHALLENGE,
        startedAt: undefined,
        now: undefined,
        claimedLow: 0.1,
        claimedHigh: 0.3,
        logLimit: 7.6,
        attemptsBeforeJudging: 50n,
        readings: [],
        changes: [change],
      },
      scores: {
        source: ScoreSource.BAR_SAMPLES,
        count: 3n,
        isComplete: true,
        bins: [{ from: 1, to: 3, samples: 3n }],
      },
      passRate: { attempts: 0n, passes: 0n, low: undefined, high: undefined, at: AT },
      passRates: [],
      barSoFar: 2.5,
      ramp: undefined,
      rampCompletedAt: undefined,
    };
    challenge.script.getChallengeStatistics = async () => statistics;
    const read = await operate('GET', `${PATH}/statistics?bins=5`);
    expect([read.status, read.body]).toEqual([200, presentStatistics(statistics)]);
    await operate('GET', `${PATH}/statistics`);
    const any = { programId: '', anyProgram: true, challengeId: CHALLENGE.id };
    expect(challenge.asked).toEqual([
      ['getChallengeStatistics', { ...any, bins: 5 }],
      ['getChallengeStatistics', { ...any, bins: 30 }],
    ]);
    for (const bins of ['4', '101', 'x', '']) {
      const answer = await operate('GET', `${PATH}/statistics?bins=${bins}`);
      expect([answer.status, answer.code]).toEqual([400, 'invalid_request']);
    }
    expect(challenge.asked).toHaveLength(2);
  });
});

describe('changing the status of a challenge', () => {
  test('an operator’s note reaches the challenge service and the log of actions', async () => {
    challenge.script.getChallenge = async () => ({ challenge: CHALLENGE, statusChange: undefined });
    challenge.script.updateChallengeStatus = async () => ({ challenge: CHALLENGE });
    const note = 'The metric was measured twice; fixed in 4.1.';
    const changed = await operate('PATCH', PATH, { status: 'live', note });
    expect([changed.status, changed.body]).toEqual([200, presentOperatorChallenge(CHALLENGE)]);
    await operate('PATCH', PATH, { status: 'suspended' });
    const challengeId = CHALLENGE.id;
    expect(askedOf('updateChallengeStatus')).toEqual([
      { challengeId, status: ChallengeStatus.LIVE, note },
      { challengeId, status: ChallengeStatus.SUSPENDED, note: undefined },
    ]);
    const { data } = (await operate('GET', `/actions?action=change_challenge&subject=challenge:${challengeId}`)).body;
    expect(data.map(({ request }: { request: { body: object } }) => request.body)).toEqual([
      { status: 'suspended' },
      { status: 'live', note },
    ]);
  });

  test('an invalid status or note is 400', async () => {
    for (const note of ['', 'n'.repeat(2_001), 'a\0b', 7, null]) {
      const answer = await operate('PATCH', PATH, { status: 'live', note });
      expect([answer.status, answer.code]).toEqual([400, 'invalid_request']);
    }
    const calibrating = await operate('PATCH', PATH, { status: 'calibrating' });
    expect([calibrating.status, calibrating.code]).toEqual([400, 'invalid_request']);
    expect(askedOf('updateChallengeStatus')).toEqual([]);
    challenge.script.updateChallengeStatus = async () => refused('invalid_request', 'note is needed after drift.');
    const refusal = await operate('PATCH', PATH, { status: 'live' });
    expect([refusal.status, refusal.code]).toEqual([400, 'invalid_request']);
    challenge.script.updateChallengeStatus = async () => ({ challenge: CHALLENGE });
    expect((await operate('PATCH', PATH, { status: 'live', note: 'ü'.repeat(2_000) })).status).toBe(200);
  });
});

describe('the calibration of a challenge', () => {
  const EMPTY = {
    challenge: CHALLENGE,
    samples: 0n,
    players: 0n,
    fairShare: 20n,
    quantiles: [],
    histogram: [],
    bar: undefined,
    barInterval: undefined,
    seeded: undefined,
    seededSampleSize: 0n,
  };
  const SHOWN = {
    challenge_id: CHALLENGE.id,
    samples: 0,
    players: 0,
    fair_share: 20,
    required: { samples: 200, players: 20 },
    quantiles: [],
    histogram: [],
    bar: null,
    bar_interval: null,
    seeded: null,
  };

  test('a calibration without samples is shown empty', async () => {
    challenge.script.getCalibration = async () => EMPTY;
    const shown = await operate('GET', `${PATH}/calibration`);
    expect([shown.status, shown.body]).toEqual([200, SHOWN]);
    expect(challenge.asked).toEqual([['getCalibration', { challengeId: CHALLENGE.id }]]);
  });

  test('a calibration is shown with its quantiles, its histogram and its bar', async () => {
    challenge.script.getCalibration = async () => ({
      ...EMPTY,
      samples: 3n,
      players: 2n,
      quantiles: [{ share: 0.5, score: 0 }],
      histogram: [
        { from: -1, to: 0.5, samples: 2n },
        { from: 0.5, to: 2, samples: 1n },
      ],
      bar: 0,
      barInterval: { low: -1, high: 2 },
    });
    expect((await operate('GET', `${PATH}/calibration`)).body).toEqual({
      ...SHOWN,
      samples: 3,
      players: 2,
      quantiles: [{ share: 0.5, score: 0 }],
      histogram: [
        { from: -1, to: 0.5, samples: 2 },
        { from: 0.5, to: 2, samples: 1 },
      ],
      bar: 0,
      bar_interval: { low: -1, high: 2 },
    });
  });

  test('a seeded challenge is shown with the percentiles of the partner', async () => {
    const seeded = { p5: 1, p25: 2, p50: 3, p75: 4, p95: 5 };
    challenge.script.getCalibration = async () => ({ ...EMPTY, bar: 1.5, seeded, seededSampleSize: 500n });
    const shown = await operate('GET', `${PATH}/calibration`);
    expect(shown.body).toEqual({ ...SHOWN, bar: 1.5, seeded: { ...seeded, sample_size: 500 } });
  });
});

describe('the drift monitor of a challenge', () => {
  const CLAIM = { claimedLow: 0.2 / 1.5, claimedHigh: 0.3, logLimit: Math.log(2_000), attemptsBeforeJudging: 50n };
  const NONE = { challenge: CHALLENGE, startedAt: undefined, now: undefined, ...CLAIM, readings: [], changes: [] };
  const SHOWN = {
    challenge_id: CHALLENGE.id,
    status: 'calibrating',
    started_at: null,
    attempts: 0,
    passes: 0,
    pass_rate: null,
    log_ratio_above: 0,
    log_ratio_below: 0,
    claimed: { low: 0.2 / 1.5, high: 0.3 },
    log_limit: Math.log(2_000),
    attempts_before_judging: 50,
    readings: [],
    changes: [],
  };

  test('a challenge without a monitor shows no evidence', async () => {
    challenge.script.getDrift = async () => NONE;
    const shown = await operate('GET', `${PATH}/drift`);
    expect([shown.status, shown.body]).toEqual([200, SHOWN]);
    expect(challenge.asked).toEqual([['getDrift', { challengeId: CHALLENGE.id }]]);
  });

  test('a drift monitor is shown with its evidence and with the changes of the status', async () => {
    const reading = { attempts: 80n, passes: 60n, logRatioAbove: 8.5, logRatioBelow: -20, readAt: AT };
    const evidence = { attempts: 80, passes: 60, pass_rate: 0.75, log_ratio_above: 8.5, log_ratio_below: -20 };
    const change = { changedAt: AT, from: ChallengeStatus.LIVE, to: ChallengeStatus.SUSPENDED };
    challenge.script.getDrift = async () => ({
      ...NONE,
      challenge: { ...CHALLENGE, status: ChallengeStatus.SUSPENDED },
      startedAt: AT,
      now: reading,
      readings: [reading],
      changes: [
        { ...change, cause: 'drift', note: '', evidence: reading },
        { ...change, cause: 'operator', note: 'by hand', evidence: undefined },
      ],
    });
    const at = AT.toISOString();
    const shownChange = { changed_at: at, from: 'live', to: 'suspended' };
    expect((await operate('GET', `${PATH}/drift`)).body).toEqual({
      ...SHOWN,
      status: 'suspended',
      started_at: at,
      ...evidence,
      readings: [{ ...evidence, read_at: at }],
      changes: [
        { ...shownChange, cause: 'drift', note: null, evidence },
        { ...shownChange, cause: 'operator', note: 'by hand', evidence: null },
      ],
    });
  });
});

test('a malformed id of a challenge is 404 without a call', async () => {
  for (const rest of ['', '/calibration', '/drift', '/statistics']) {
    expect(await operate('GET', `/challenges/nonsense${rest}`)).toMatchObject({ status: 404, code: 'not_found' });
    expect(challenge.asked).toEqual([]);
    expect(await operate('GET', `/challenges/${newId()}${rest}`)).toMatchObject({ status: 404, code: 'not_found' });
    expect(challenge.asked).toHaveLength(1);
    challenge.asked.length = 0;
  }
  const close = (id: string) => operate('PATCH', `/challenges/${id}`, { status: 'closed' });
  expect(await close('nonsense')).toMatchObject({ status: 404, code: 'not_found' });
  expect(challenge.asked).toEqual([]);
  expect(await close(newId())).toMatchObject({ status: 404, code: 'not_found' });
  expect(askedOf('updateChallengeStatus')).toHaveLength(1);
});
