/** All other tests of this service call AttemptService by the names of this release. */
import { createClient } from '@laurel/grpc';
import { newId, newOwnedId } from '@laurel/ids';
import { ChallengeServiceClient } from '@laurel/proto/challenge';
import { ok, verdictOf } from '@laurel/testing';
import { expect, it } from 'vitest';
import { PROGRAM, recorded, useHarness } from './challenge.fixture.ts';

const h = useHarness();

it('both names of an rpc of attempts return the same, and name the challenge as the contest', async () => {
  await using previous = createClient(ChallengeServiceClient, {
    name: 'challenge',
    address: `127.0.0.1:${h.server.port}`,
  });
  const { challenge, player } = await h.openAttempt();
  const { id: contestId } = challenge;

  const attemptId = newOwnedId('challenge');
  const item = { tenant: PROGRAM, playerRef: player.ref, requestId: '', keyUse: undefined };
  const creation = { ...item, attemptId, metadataJson: '{"a":1}' };
  const created = ok(await h.challenge.createAttempts({ creations: [{ ...creation, contestId }] })).results[0]?.result;
  const createdBefore = ok(await previous.createAttempts({ creations: [{ ...creation, challengeId: contestId }] }));
  if (created?.$case !== 'attempt') throw new Error('the attempt was not created');
  const attempt = created.value;
  expect(attempt).toMatchObject({
    id: attemptId,
    contestId,
    feeCents: 100n,
    metadataJson: '{"a":1}',
    outcome: undefined,
  });
  const { contestId: _, ...fields } = attempt;
  expect(createdBefore.results).toEqual([
    { result: { $case: 'attempt', value: { ...fields, challengeId: contestId } } },
  ]);

  const query = { tenant: PROGRAM, playerRef: player.ref, requestId: '' };
  const found = ok(await h.challenge.findOpenAttempts({ queries: [{ ...query, contestId }] })).results[0]?.result;
  const foundBefore = ok(await previous.findOpenAttempts({ queries: [{ ...query, challengeId: contestId }] }));
  expect(found).toMatchObject({ value: { attemptIds: [expect.any(String), attemptId] } });
  expect(foundBefore.results[0]?.result).toMatchObject({ value: { attemptIds: [expect.any(String), attemptId] } });

  const request = { tenant: PROGRAM, attemptId };
  const read = async () => {
    const { attempt: current } = ok(await h.challenge.getAttempt(request));
    const { attempt: older } = ok(await previous.getAttempt(request));
    expect({ ...current, challengeId: contestId }).toMatchObject(older ?? {});
    expect(older?.challengeId).toBe(contestId);
    return current;
  };
  expect(await read()).toEqual(attempt);
  const operationId = newId();
  const report = { ...item, operationId, attemptId, score: 100, evidenceJson: '' };
  const reportedBefore = ok(await previous.reportOutcomes({ reports: [report] })).results[0];
  const repeated = ok(await h.challenge.reportOutcomes({ reports: [{ ...report, tiebreak: undefined }] })).results[0];
  const outcome = recorded(repeated?.result);
  expect(outcome).toMatchObject(recorded(reportedBefore?.result));
  expect([reportedBefore?.repeated, repeated?.repeated]).toEqual([false, true]);
  expect(await read()).toMatchObject({ contestId, outcome });

  for (const service of [h.challenge, previous]) {
    const unknown = { ...request, attemptId: newOwnedId('challenge') };
    expect(await service.getAttempt(unknown)).toMatchObject({ code: 'not_found' });
    expect(await service.expireAttempt(request)).toMatchObject({ code: 'attempt_already_settled' });
    expect(await service.voidAttempt({ attemptId, reason: 'a test' })).toMatchObject({ code: 'conflict' });
    expect(ok(await service.inspectAttempt({ attemptId })).attempt?.outcome).toMatchObject({
      receiptId: outcome.receiptId,
    });
    expect(ok(await service.listSigningKeys({})).keys).toHaveLength(1);
  }
  const refused = ok(
    await previous.createAttempts({
      creations: [{ ...creation, attemptId: newOwnedId('challenge'), challengeId: newId() }],
    }),
  );
  expect(verdictOf(refused.results[0]?.result)).toBe('not_found');
});
