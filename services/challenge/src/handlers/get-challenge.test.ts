/** What an operator reads of one challenge: the last change of its status. */

import { ChallengeStatus } from '@laurel/proto/challenge';
import { expectAccepted } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { describe, expect, it } from 'vitest';
import { PROGRAM, useHarness } from '../challenge.fixture.ts';
import { all, everyNth, openWithoutCap, usePlay } from '../workers/monitor.fixture.ts';
import { createSamplesHarness } from './samples.fixture.ts';

const h = useHarness();
const s = createSamplesHarness(h);
const { play, drift } = usePlay(h);
const { LIVE, SUSPENDED, CALIBRATING } = ChallengeStatus;

const read = async (challengeId: string) => expectAccepted(await h.challenge.getChallenge({ challengeId }));

const changed = async (challengeId: string, status: ChallengeStatus, note?: string) =>
  expectAccepted(await h.challenge.updateChallengeStatus({ challengeId, status, note }));

describe('the last change of a status', () => {
  it('a challenge that still has its first status has no last change', async () => {
    expect((await read((await h.open()).id)).statusChange).toBeUndefined();
  });

  it('the last change of a status is the newest one of the history', async () => {
    const { id } = await openWithoutCap(h);
    await play(id, all(true, 60));
    expect(await read(id)).toMatchObject({
      challenge: { status: SUSPENDED },
      statusChange: { changedAt: h.clock(), from: LIVE, to: SUSPENDED, cause: 'drift', note: '' },
    });
    expect((await read(id)).statusChange).toEqual((await drift(id)).changes.at(-1));
    h.clock.advance(1_000);
    const { challenge } = await changed(id, LIVE, 'The game was patched.');
    expect(await read(id)).toEqual({
      challenge,
      statusChange: {
        changedAt: h.clock(),
        from: SUSPENDED,
        to: LIVE,
        cause: 'operator',
        note: 'The game was patched.',
        evidence: undefined,
      },
    });
    // The request does not change the status, so no change is recorded.
    h.clock.advance(1_000);
    await changed(id, LIVE, 'Again.');
    expect((await read(id)).statusChange?.note).toBe('The game was patched.');
  });

  it('the completion of a ramp is not the last change of a status', async () => {
    const { id } = await s.open({ dailyAttemptCap: 100_000, targetPassRate: 0.2 });
    const distribution = { p5: 10, p25: 20, p50: 30, p75: 95, p95: 100 };
    const seeding = { operationId: newId(), tenant: PROGRAM, challengeId: id, distribution };
    expectAccepted(await h.challenge.seedChallenge({ ...seeding, sampleSize: 500n, keyUse: undefined }));
    await play(id, everyNth(100, 5));
    expect((await drift(id)).changes).toMatchObject([{ cause: 'seeded' }, { cause: 'ramp' }]);
    expect((await read(id)).statusChange).toMatchObject({ from: CALIBRATING, to: LIVE, cause: 'seeded' });
  });
});
