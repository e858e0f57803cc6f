/** The ramp of a seeded challenge: 100 settled paid attempts confirm its prize. */

import { ChallengeStatus } from '@laurel/proto/challenge';
import { expectAccepted } from '@laurel/testing';
import { describe, expect, it } from 'vitest';
import { created, PROGRAM, useHarness } from '../challenge.fixture.ts';
import { all, everyNth, openSeeded, openWithoutCap, usePlay } from './monitor.fixture.ts';

const h = useHarness();
const { attempts, settle, play, drift } = usePlay(h);

async function read(challengeId: string) {
  const { challenge } = expectAccepted(await h.challenge.getChallenge({ challengeId }));
  return { status: challenge?.status, prizeCents: challenge?.offeredPrizeCents, ramp: challenge?.ramp };
}

async function prizeOfNewAttempt(challengeId: string) {
  const player = await h.player();
  const { id } = created(await h.create(challengeId, player.ref));
  const [row] = await h.database.query<{ prize_cents: bigint }>(
    { text: 'select prize_cents from attempts where id = $1' },
    [id],
  );
  return row?.prize_cents;
}

describe('the ramp', () => {
  it('the 100th settled paid attempt completes the ramp', async () => {
    const id = await openSeeded(h);
    await play(id, everyNth(99, 4));
    expect(await read(id)).toMatchObject({ prizeCents: 500n, ramp: { attemptsSeen: 99n, attemptsRequired: 100n } });
    expect(await prizeOfNewAttempt(id)).toBe(500n);

    await play(id, [true]);
    expect(await read(id)).toEqual({ status: ChallengeStatus.LIVE, prizeCents: 2_000n, ramp: undefined });
    expect(await prizeOfNewAttempt(id)).toBe(2_000n);
    const { changes, now } = await drift(id);
    expect(changes.map(({ cause, from, to }) => ({ cause, from, to }))).toEqual([
      { cause: 'seeded', from: ChallengeStatus.CALIBRATING, to: ChallengeStatus.LIVE },
      { cause: 'ramp', from: ChallengeStatus.LIVE, to: ChallengeStatus.LIVE },
    ]);
    expect(changes[1]?.evidence).toEqual({ ...now, readAt: h.clock() });
    expect(now?.attempts).toBe(100n);
    expect(await h.eventsOf(id)).toEqual([]);

    await play(id, everyNth(20, 4));
    expect((await drift(id)).changes).toHaveLength(2);
  });

  it('an attempt that was created before the ramp was completed keeps the capped prize', async () => {
    const id = await openSeeded(h);
    const open = await attempts(id, 1);
    // At most 100 attempts on an unconfirmed bar are open at once.
    await play(id, everyNth(60, 4));
    await play(id, everyNth(40, 4));
    expect((await read(id)).prizeCents).toBe(2_000n);
    await settle(open, [true]);
    const { attempt } = expectAccepted(await h.challenge.getAttempt({ attemptId: open[0] ?? '', tenant: PROGRAM }));
    expect(attempt?.outcome?.award?.amountCents).toBe(500n);
  });

  it('a challenge whose bar drifts during the ramp is suspended and starts the ramp again', async () => {
    const id = await openSeeded(h);
    await play(id, all(true, 100));
    expect(await read(id)).toMatchObject({ status: ChallengeStatus.SUSPENDED, prizeCents: 500n });
    const request = { challengeId: id, status: ChallengeStatus.LIVE, note: 'The partner mended its game.' };
    expectAccepted(await h.challenge.updateChallengeStatus(request));
    expect(await read(id)).toMatchObject({ status: ChallengeStatus.LIVE, ramp: { attemptsSeen: 0n } });
    await play(id, everyNth(100, 4));
    expect(await read(id)).toMatchObject({ prizeCents: 2_000n, ramp: undefined });
  });

  it('a challenge whose bar the operator set has no ramp to complete', async () => {
    const { id } = await openWithoutCap(h);
    await play(id, everyNth(100, 5));
    expect((await drift(id)).changes).toEqual([]);
  });
});
