/**
 * Status changes by an operator: when a reinstatement needs a note, and the history of the changes.
 */
import { ChallengeStatus } from '@laurel/proto/challenge';
import { expectAccepted } from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, useHarness } from '../challenge.fixture.ts';
import { all, everyNth, openWithoutCap, usePlay } from '../workers/monitor.fixture.ts';

const h = useHarness();
const { attempts, settle, play, drift, waiting } = usePlay(h);
const { LIVE, SUSPENDED, CLOSED, CALIBRATING } = ChallengeStatus;
let other: Awaited<ReturnType<Harness['startReplica']>>;
beforeAll(async () => {
  other = await h.startReplica();
});
afterAll(() => other[Symbol.asyncDispose]());

async function change(challengeId: string, status: ChallengeStatus, note?: string) {
  const answer = await h.challenge.updateChallengeStatus({ challengeId, status, note });
  return 'kind' in answer ? answer.code : answer.challenge?.status;
}

async function drifted() {
  const challenge = await openWithoutCap(h);
  await play(challenge.id, all(true, 60));
  expect((await drift(challenge.id)).challenge?.status).toBe(SUSPENDED);
  return challenge.id;
}

describe('a challenge that the drift monitor suspended', () => {
  it('a challenge suspended by drift can be reinstated only with a note', async () => {
    const id = await drifted();
    expect(await change(id, LIVE)).toBe('invalid_request');
    expect(await change(id, LIVE, '')).toBe('invalid_request');
    expect(await change(id, LIVE, ' \n')).toBe('invalid_request');
    expect((await drift(id)).changes).toHaveLength(1);

    const before = await drift(id);
    h.clock.advance(1_000);
    expect(await change(id, LIVE, 'The game was patched.')).toBe(LIVE);
    const after = await drift(id);
    expect(after).toMatchObject({ startedAt: h.clock(), now: { attempts: 0n, passes: 0n }, readings: [] });
    expect(after.changes).toEqual([
      ...before.changes,
      {
        changedAt: h.clock(),
        from: SUSPENDED,
        to: LIVE,
        cause: 'operator',
        note: 'The game was patched.',
        evidence: undefined,
      },
    ]);
    expect(after.changes[0]?.evidence).toMatchObject({ attempts: 50n, passes: 50n });
  });

  it('a reinstated challenge is judged only by its attempts since the reinstatement', async () => {
    const id = await drifted();
    expect(await change(id, LIVE, 'It may go on.')).toBe(LIVE);
    await play(id, all(true, 49));
    expect((await drift(id)).challenge?.status).toBe(LIVE);
    await play(id, [true]);
    const { changes, readings } = await drift(id);
    expect(changes.map(({ cause, to }) => [cause, to])).toEqual([
      ['drift', SUSPENDED],
      ['operator', LIVE],
      ['drift', SUSPENDED],
    ]);
    expect(readings).toHaveLength(1);
    expect(await h.eventsOf(id)).toHaveLength(2);
  });

  it('a challenge suspended by drift is closed without a note, permanently', async () => {
    const id = await drifted();
    expect(await change(id, CLOSED)).toBe(CLOSED);
    expect(await change(id, LIVE, 'Too late.')).toBe('conflict');
  });

  it('a challenge suspended by drift keeps that cause if an operator suspends it again', async () => {
    const id = await drifted();
    expect(await change(id, SUSPENDED, 'Noted.')).toBe(SUSPENDED);
    expect(await change(id, LIVE)).toBe('invalid_request');
    expect((await drift(id)).changes).toHaveLength(1);
  });
});

describe('an operator', () => {
  it('an operator needs no note to reinstate a challenge that an operator suspended', async () => {
    const { id } = await openWithoutCap(h);
    await play(id, everyNth(40, 5));
    const open = await attempts(id, 5);
    expect(await change(id, SUSPENDED, 'A look at the scores.')).toBe(SUSPENDED);
    await settle(open, all(true, 5));
    expect(await change(id, LIVE)).toBe(LIVE);
    await h.server.sweepOnce();
    expect(await waiting(id)).toBe(0);
    const { now, changes } = await drift(id);
    expect(now?.attempts).toBe(0n);
    expect(changes.map(({ cause, from, to, note }) => ({ cause, from, to, note }))).toEqual([
      { cause: 'operator', from: LIVE, to: SUSPENDED, note: 'A look at the scores.' },
      { cause: 'operator', from: SUSPENDED, to: LIVE, note: '' },
    ]);
  });

  it('an operator suspends and reinstates a calibrating challenge, which has no monitor', async () => {
    const { id } = await h.open({}, { status: CALIBRATING });
    expect(await change(id, SUSPENDED)).toBe(SUSPENDED);
    expect(await change(id, LIVE)).toBe(CALIBRATING);
    expect(await drift(id)).toMatchObject({ startedAt: undefined, now: undefined });
    expect((await drift(id)).changes.map(({ from, to }) => [from, to])).toEqual([
      [CALIBRATING, SUSPENDED],
      [SUSPENDED, CALIBRATING],
    ]);
  });

  it('a request for the current status adds nothing to the history', async () => {
    const { id } = await openWithoutCap(h);
    expect(await change(id, LIVE, 'Nothing to do.')).toBe(LIVE);
    expect((await drift(id)).changes).toEqual([]);
  });

  it('a note has at most 2,000 characters', async () => {
    const { id } = await openWithoutCap(h);
    expect(await change(id, SUSPENDED, '𝄞'.repeat(2_001))).toBe('invalid_request');
    expect(await change(id, SUSPENDED, 'a\0b')).toBe('invalid_request');
    expect(await change(id, SUSPENDED, '𝄞'.repeat(2_000))).toBe(SUSPENDED);
  });

  it('an operator can change a challenge while two drift monitors change it', async () => {
    const { id } = await openWithoutCap(h);
    const waves = await Promise.all(Array.from({ length: 4 }, () => attempts(id, 60)));
    let isChanging = true;
    const counting = [h.server, other.server].map(async (server) => {
      while (isChanging) await server.sweepOnce();
    });
    const settling = waves.map((ids) => settle(ids, all(true, 60)));
    for (let time = 0; time < 10; time += 1) {
      expect(await change(id, SUSPENDED)).toBe(SUSPENDED);
      expect(await change(id, LIVE, 'Again.')).toBe(LIVE);
    }
    await Promise.all(settling);
    isChanging = false;
    await Promise.all(counting);
    await h.server.sweepOnce();
    const { changes, now } = await drift(id);
    // Each change begins where the one before it ended.
    expect(changes.slice(1).map(({ from }) => from)).toEqual(changes.slice(0, -1).map(({ to }) => to));
    expect(await h.eventsOf(id)).toHaveLength(changes.filter(({ to }) => to === SUSPENDED).length);
    expect(now?.attempts).toBeLessThanOrEqual(240n);
    expect(await waiting(id)).toBe(0);
  });
});

describe('the drift of a challenge', () => {
  it('the monitor of an unknown challenge is not found', async () => {
    const challengeId = '00000000-0000-7000-8000-000000000000';
    expect(await h.challenge.getDrift({ challengeId })).toMatchObject({ code: 'not_found' });
    expect(await change(challengeId, SUSPENDED)).toBe('not_found');
  });

  it('the claimed band lies around the target pass rate, and its upper edge is at most 1', async () => {
    const { id } = await openWithoutCap(h, { targetPassRate: 0.9 });
    const { claimedLow, claimedHigh } = expectAccepted(await h.challenge.getDrift({ challengeId: id }));
    expect([claimedLow, claimedHigh]).toEqual([0.6, 1]);
  });
});
