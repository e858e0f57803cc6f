/**
 * Forwards listened samples to a challenge service in memory, which counts a sample id once, as the
 * real one does.
 */

import { type ListenedScore, ListenedScoreStatus } from '@laurel/proto/challenge';
import { newId } from '@laurel/values/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type IntegrationDatabase, startIntegrationDatabase } from '../database.fixture.ts';
import { reportHashOf } from '../domain/report-identity.ts';
import { insertListenedSamples, type ListenedSample } from '../repository/listened-samples.ts';
import { createForwardListenedSamples, type ForwardingDeps } from './forward-listened-samples.ts';

const NOW = new Date('2026-11-22T10:00:00Z');

class ChallengeInMemory {
  readonly counted = new Map<string, ListenedScore>();
  calls = 0;
  failure: 'before' | 'after' | null = null;

  readonly recordListenedScores: ForwardingDeps['challenge']['recordListenedScores'] = async ({ scores }) => {
    this.calls += 1;
    const failure = this.failure;
    this.failure = null;
    if (failure === 'before') throw new Error('unreachable');
    for (const score of scores) if (!this.counted.has(score.sampleId)) this.counted.set(score.sampleId, score);
    if (failure === 'after') throw new Error('the response was lost');
    return { statuses: scores.map(() => ListenedScoreStatus.RECORDED) };
  };
}

let database: IntegrationDatabase;
let challenge: ChallengeInMemory;
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  database = await startIntegrationDatabase(stack);
});
afterAll(() => stack.disposeAsync());
beforeEach(() => {
  challenge = new ChallengeInMemory();
});

/** Commits this many samples of one new integration, a millisecond apart. */
async function listen(count: number): Promise<readonly ListenedSample[]> {
  const { id, tenant } = await database.newIntegration();
  const challengeId = newId();
  const samples = Array.from({ length: count }, (_, index) => ({
    integrationId: id,
    reportHash: reportHashOf(id, `run ${index}`),
    tenant,
    challengeId,
    playerRef: `player ${index % 3}`,
    score: index / 2,
    receivedAt: new Date(NOW.getTime() + index),
  }));
  await insertListenedSamples(database.superuser, samples, () => undefined);
  return samples;
}

function forward(): Promise<void> {
  return createForwardListenedSamples({ database: database.connect(), challenge })(NOW);
}

describe('forwarding listened samples', () => {
  it('each sample is forwarded once, with its tenant, challenge, player and score', async () => {
    const samples = await listen(450);
    await forward();
    expect(challenge.calls).toBe(3);
    expect([...challenge.counted.values()].map(({ playerRef, score }) => ({ playerRef, score }))).toEqual(
      samples.map(({ playerRef, score }) => ({ playerRef, score })),
    );
    const [sample] = samples;
    expect(new Set([...challenge.counted.values()].map(({ challengeId }) => challengeId))).toEqual(
      new Set([sample?.challengeId]),
    );
    expect([...challenge.counted.values()][0]?.tenant?.programId).toBe(sample?.tenant.programId);
    await forward();
    expect(challenge.calls).toBe(3);
  });

  it('a sample waits while the challenge service cannot be reached', async () => {
    await listen(3);
    challenge.failure = 'before';
    await expect(forward()).rejects.toThrow('unreachable');
    expect(challenge.counted.size).toBe(0);
    await forward();
    expect(challenge.counted.size).toBe(3);
  });

  it('a sample whose response was lost is sent again, but counts once', async () => {
    await listen(3);
    challenge.failure = 'after';
    await expect(forward()).rejects.toThrow('the response was lost');
    const before = new Map(challenge.counted);
    await forward();
    expect(challenge.calls).toBe(2);
    expect(challenge.counted).toEqual(before);
  });

  it('a sample that two replicas forward at once counts once', async () => {
    await listen(300);
    await Promise.all([forward(), forward()]);
    expect(challenge.counted.size).toBe(300);
    const calls = challenge.calls;
    await forward();
    expect(challenge.calls).toBe(calls);
  });
});
