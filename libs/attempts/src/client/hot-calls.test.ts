import { refused } from '@laurel/errors';
import { MAX_ITEMS, MAX_MULTIPLEXED_BYTES } from '@laurel/grpc';
import {
  AttemptStatus,
  CreateAttemptsRequest,
  CreateAttemptsResponse,
  ReportOutcomesRequest,
} from '@laurel/proto/attempts';
import { Environment } from '@laurel/proto/common';
import { newId, newOwnedId } from '@laurel/values/ids';
import { MAX_PLAYER_REF_CHARACTERS } from '@laurel/values/tenant';
import { describe, expect, test } from 'vitest';
import { MAX_EVIDENCE_BYTES, MAX_METADATA_BYTES } from '../domain/index.ts';
import type { ChallengeClient } from './challenge.ts';
import { createHotCalls } from './hot-calls.ts';
import type { TournamentClient } from './tournament.ts';

type Sent = { attemptId: string };

/**
 * Stubs of the two services. Each gives every item the same result, and records its calls in
 * `asked`.
 */
function services(result: object | undefined) {
  const asked: string[] = [];
  const client = (name: string) => ({
    createAttempts: async ({ creations }: { creations: Sent[] }) => {
      asked.push(...creations.map(({ attemptId }) => `${name} creates ${attemptId}`));
      return { results: creations.map(() => ({ result })) };
    },
    reportOutcomes: async ({ reports }: { reports: Sent[] }) => {
      asked.push(...reports.map(({ attemptId }) => `${name} reports ${attemptId}`));
      return { results: reports.map(() => ({ result, repeated: name === 'tournament' })) };
    },
    findOpenAttempts: async ({ queries }: { queries: { contestId: string }[] }) => {
      asked.push(...queries.map(({ contestId }) => `${name} looks in ${contestId}`));
      return { results: queries.map(() => ({ result })) };
    },
  });
  const challenge = client('challenge') as unknown as ChallengeClient;
  const tournament = client('tournament') as unknown as TournamentClient;
  return { asked, calls: createHotCalls({ challenge, tournament }) };
}

const tenant = { programId: newId(), environment: Environment.TEST };
const creation = (attemptId: string) => ({
  attemptId,
  contestId: newId(),
  tenant,
  playerRef: 'p',
  metadataJson: '{}',
  requestId: '',
  keyUse: undefined,
});
const report = (attemptId: string) => ({
  operationId: newId(),
  attemptId,
  tenant,
  score: 1,
  tiebreak: undefined,
  evidenceJson: '',
  requestId: '',
  keyUse: undefined,
});
const [ofChallenge, ofTournament] = [newOwnedId('challenge'), newOwnedId('tournament')];

describe('a hot call', () => {
  test('a hot call goes to the service that owns the attempt', async () => {
    const { asked, calls } = services({ $case: 'attempt', value: 'made' });
    await using _calls = calls;
    const answers = await Promise.all([
      calls.createAttempt(creation(ofChallenge)),
      calls.createAttempt(creation(ofTournament)),
      calls.reportOutcome(report(ofTournament)),
      calls.reportOutcome(report(ofChallenge)),
    ]);
    expect(answers).toEqual(['made', 'made', 'made', 'made']);
    expect(asked.sort()).toEqual([
      `challenge creates ${ofChallenge}`,
      `challenge reports ${ofChallenge}`,
      `tournament creates ${ofTournament}`,
      `tournament reports ${ofTournament}`,
    ]);
  });

  test('the result of a report states whether the same operation had already recorded the outcome', async () => {
    const { calls } = services({ $case: 'outcome', value: 'recorded' });
    await using _calls = calls;
    expect(await calls.reportOutcomeWithRepeated(report(ofChallenge))).toEqual({
      outcome: 'recorded',
      repeated: false,
    });
    expect(await calls.reportOutcomeWithRepeated(report(ofTournament))).toEqual({
      outcome: 'recorded',
      repeated: true,
    });
  });

  test('a hot call asks the service of the contest for open attempts, and no round is reported as calibrating', async () => {
    const { asked, calls } = services({ $case: 'found', value: { attemptIds: ['a'], isCalibrating: true } });
    await using _calls = calls;
    const query = { tenant, playerRef: 'p', requestId: '' };
    const found = await Promise.all([
      calls.findOpenAttempts({ ...query, parent: { kind: 'challenge', id: 'c' } }),
      calls.findOpenAttempts({ ...query, parent: { kind: 'round', id: 'r' } }),
    ]);
    expect(found).toEqual([
      { attemptIds: ['a'], isCalibrating: true },
      { attemptIds: ['a'], isCalibrating: true },
    ]);
    expect(asked.sort()).toEqual(['challenge looks in c', 'tournament looks in r']);
  });

  test('a hot call for an id without the tag of a contest service is not_found without calling a service', async () => {
    const { asked, calls } = services(undefined);
    expect(await calls.reportOutcome(report(newId()))).toEqual(refused('not_found'));
    expect(await calls.reportOutcome(report('nonsense'))).toEqual(refused('not_found'));
    expect(asked).toEqual([]);
  });

  test('a hot call returns a refusal as a value', async () => {
    const { calls } = services({ $case: 'refused', value: { code: 'round_closed', message: '' } });
    expect(await calls.reportOutcome(report(ofTournament))).toEqual(refused('round_closed'));
  });

  test.each([
    ['no result', undefined],
    ['a failure', { $case: 'failure', value: { message: 'x' } }],
    ['a code that is none', { $case: 'refused', value: { code: 'nope', message: '' } }],
  ])('a hot call rejects on %s, because the result is unknown', async (_name, result) => {
    const { calls } = services(result);
    await expect(calls.reportOutcome(report(ofTournament))).rejects.toThrow('tournament.report_outcomes');
  });
});

describe('a call with the maximum number of items, each of the maximum size', () => {
  const keyUse = { keyId: newId(), fingerprint: Buffer.alloc(32), isFirst: true, usedAt: new Date() };
  const playerRef = '🎯'.repeat(MAX_PLAYER_REF_CHARACTERS);
  const metadataJson = 'x'.repeat(MAX_METADATA_BYTES);
  const largest = { tenant, playerRef, metadataJson, requestId: newId(), keyUse, attemptId: ofChallenge };
  const outcome = { attemptId: ofChallenge, score: 1, tiebreak: 1, requestId: newId(), keyUse, tenant };
  const report = { ...outcome, operationId: newId(), evidenceJson: 'x'.repeat(MAX_EVIDENCE_BYTES) };
  const attempt = {
    id: ofChallenge,
    contestId: newId(),
    playerRef,
    status: AttemptStatus.OPEN,
    feeCents: 2n ** 62n,
    createdAt: new Date(),
    metadataJson,
    outcome: undefined,
  };
  const many = <Item>(item: Item) => Array<Item>(MAX_ITEMS).fill(item);

  test.each([
    ['creations', () => CreateAttemptsRequest.encode({ creations: many({ ...largest, contestId: newId() }) })],
    ['reports', () => ReportOutcomesRequest.encode({ reports: many(report) })],
    [
      'attempts that were created',
      () =>
        CreateAttemptsResponse.encode({
          results: many({ result: { $case: 'attempt' as const, value: attempt } }),
        }),
    ],
  ])('a call of the largest %s fits into a message', (_, encode) => {
    expect(encode().finish().length).toBeLessThanOrEqual(MAX_MULTIPLEXED_BYTES);
  });
});
