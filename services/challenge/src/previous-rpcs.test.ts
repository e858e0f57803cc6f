/** Every other test of this service calls these rpcs, and so AttemptService behind them. */
import { createClient } from '@laurel/grpc';
import { newOwnedId } from '@laurel/ids';
import { AttemptServiceClient } from '@laurel/proto/attempts';
import { ok } from '@laurel/testing';
import { expect, it } from 'vitest';
import { PROGRAM, recorded, useHarness } from './challenge.fixture.ts';

const h = useHarness();

it('both names of an rpc of attempts give the same answer, in which the contest is the challenge', async () => {
  await using attempts = createClient(AttemptServiceClient, {
    name: 'challenge',
    address: `127.0.0.1:${h.server.port}`,
  });
  const { challenge, attempt } = await h.openAttempt();
  const request = { tenant: PROGRAM, attemptId: attempt.id };
  const { id: contestId } = challenge;
  const read = async () => {
    const { attempt: current } = ok(await attempts.getAttempt(request));
    const { attempt: previous } = ok(await h.challenge.getAttempt(request));
    expect({ ...previous, contestId: previous?.challengeId }).toEqual({ ...current, challengeId: contestId });
    return current;
  };
  expect(await read()).toMatchObject({ id: attempt.id, contestId, feeCents: 100n, outcome: undefined });
  const outcome = recorded(await h.report(attempt.id, 100));
  expect(await read()).toMatchObject({ contestId, outcome });
  for (const service of [attempts, h.challenge]) {
    const unknown = { ...request, attemptId: newOwnedId('challenge') };
    expect(await service.getAttempt(unknown)).toMatchObject({ code: 'not_found' });
    expect(await service.expireAttempt(request)).toMatchObject({ code: 'attempt_already_settled' });
    expect(await service.voidAttempt({ attemptId: attempt.id, reason: 'a test' })).toMatchObject({ code: 'conflict' });
    expect(ok(await service.inspectAttempt({ attemptId: attempt.id })).attempt).toMatchObject({ outcome });
    expect(ok(await service.listSigningKeys({})).keys).toHaveLength(1);
  }
});
