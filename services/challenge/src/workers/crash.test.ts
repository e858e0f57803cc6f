/**
 * What a process leaves, and what repairs it, when it dies around the commits of a suspension, a
 * completed ramp or a reinstatement. A failpoint that throws there simulates the crash.
 */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ChallengeStatus } from '@laurel/proto/challenge';
import { expectAccepted } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { PROGRAM, useHarness } from '../challenge.fixture.ts';
import type { FailpointName } from '../failpoints.ts';
import { all, everyNth, openWithoutCap, usePlay } from './monitor.fixture.ts';

// The folder is set before any import, because the library reads its path when it is loaded.
const failpoints = vi.hoisted(() => {
  const { mkdtempSync } = process.getBuiltinModule('node:fs');
  const folder = mkdtempSync(`${process.getBuiltinModule('node:os').tmpdir()}/laurel-failpoints-`);
  process.env.FAILPOINTS_DIR = folder;
  return folder;
});
afterAll(() => rmSync(failpoints, { recursive: true }));

const h = useHarness();
const { attempts, settle, play, drift, waiting } = usePlay(h);
const { LIVE, SUSPENDED } = ChallengeStatus;

/**
 * Settles the attempts, which wakes the worker, and waits until the worker has met the failpoint.
 */
async function settleUntil(name: FailpointName, ids: readonly string[], passed: readonly boolean[]): Promise<void> {
  writeFileSync(join(failpoints, name), 'throw');
  await settle(ids, passed);
  await expect.poll(() => existsSync(join(failpoints, name))).toBe(false);
}

async function stateOf(challengeId: string) {
  const { challenge, now, changes } = await drift(challengeId);
  return {
    status: challenge?.status,
    prizeCents: challenge?.offeredPrizeCents,
    counted: now?.attempts,
    waiting: await waiting(challengeId),
    changes: changes.map(({ cause }) => cause),
    events: (await h.eventsOf(challengeId)).length,
  };
}

describe('a suspension', () => {
  it('after a crash before the commit of a suspension, the next run suspends the challenge', async () => {
    const { id } = await openWithoutCap(h);
    await settleUntil('challenge.monitor.before-commit', await attempts(id, 60), all(true, 60));
    expect(await stateOf(id)).toMatchObject({ status: LIVE, counted: 0n, waiting: 60, changes: [], events: 0 });
    await h.server.sweepOnce();
    expect(await stateOf(id)).toMatchObject({
      status: SUSPENDED,
      counted: 50n,
      waiting: 0,
      changes: ['drift'],
      events: 1,
    });
  });

  it('after a crash right after the commit of a suspension, the next run changes nothing', async () => {
    const { id } = await openWithoutCap(h);
    await settleUntil('challenge.monitor.after-commit', await attempts(id, 60), all(true, 60));
    const suspended = { status: SUSPENDED, counted: 50n, waiting: 0, changes: ['drift'], events: 1 };
    expect(await stateOf(id)).toMatchObject(suspended);
    await h.server.sweepOnce();
    expect(await stateOf(id)).toMatchObject(suspended);
  });
});

describe('a completed ramp', () => {
  it.each([
    ['challenge.monitor.before-commit', { prizeCents: 500n, counted: 0n, waiting: 100, changes: ['seeded'] }],
    ['challenge.monitor.after-commit', { prizeCents: 2_000n, counted: 100n, waiting: 0, changes: ['seeded', 'ramp'] }],
  ] as const)(
    'a crash at %s leaves the ramp fully completed or unchanged, and the next run completes it',
    async (name, left) => {
      const { id } = await h.open(
        { dailyAttemptCap: 100_000, targetPassRate: 0.25 },
        { status: ChallengeStatus.CALIBRATING },
      );
      const distribution = { p5: 20, p25: 40, p50: 60, p75: 100, p95: 120 };
      const seeding = { operationId: newId(), tenant: PROGRAM, challengeId: id, distribution, sampleSize: 500n };
      expectAccepted(await h.challenge.seedChallenge({ ...seeding, keyUse: undefined }));
      await settleUntil(name, await attempts(id, 100), everyNth(100, 4));
      expect(await stateOf(id)).toMatchObject({ status: LIVE, ...left });
      await h.server.sweepOnce();
      expect(await stateOf(id)).toMatchObject({
        status: LIVE,
        prizeCents: 2_000n,
        counted: 100n,
        waiting: 0,
        changes: ['seeded', 'ramp'],
      });
    },
  );
});

describe('a reinstatement', () => {
  it.each([
    ['challenge.status.before-commit', { status: SUSPENDED, counted: 50n, changes: ['drift'] }],
    ['challenge.status.after-commit', { status: LIVE, counted: 0n, changes: ['drift', 'operator'] }],
  ] as const)(
    'a crash at %s leaves a challenge reinstated or unchanged, and after the operator repeats it, it is reinstated once',
    async (name, left) => {
      const { id } = await openWithoutCap(h);
      await play(id, all(true, 60));
      const reinstate = () =>
        h.challenge.updateChallengeStatus({ challengeId: id, status: LIVE, note: 'It was a bot.' });
      writeFileSync(join(failpoints, name), 'throw');
      await expect(reinstate()).rejects.toThrow();
      expect(await stateOf(id)).toMatchObject(left);
      expect(expectAccepted(await reinstate()).challenge?.status).toBe(LIVE);
      expect(await stateOf(id)).toMatchObject({ status: LIVE, counted: 0n, changes: ['drift', 'operator'], events: 1 });
    },
  );
});
