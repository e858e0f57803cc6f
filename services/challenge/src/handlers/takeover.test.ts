/**
 * Creations with the same attempt id, repeated after every state in which the first request can
 * end.
 */

import { AttemptStatus } from '@laurel/proto/attempts';
import { expectAccepted } from '@laurel/testing';
import { itContinuesAttempts, statusOf } from '@laurel/testing/takeover';
import { newId, newOwnedId } from '@laurel/values/ids';
import { describe, expect, it } from 'vitest';
import { created, HOUR_MS, PROGRAM, recorded, useHarness, verdictOf } from '../challenge.fixture.ts';

const h = useHarness();

/** Resets the status as if the commit after the response had been lost. */
async function forget(attemptId: string): Promise<void> {
  await h.server.sweepOnce();
  await h.database.query({ text: `update attempts set status = 'pending' where id = $1` }, [attemptId]);
}

describe('a creation that is sent again', () => {
  it('a repeated creation continues an attempt whose fee the wallet never received', async () => {
    const challenge = await h.open();
    const player = await h.player();
    const attemptId = newOwnedId('challenge');
    await h.stopWallet();
    expect(verdictOf(await h.create(challenge.id, player.ref, attemptId))).toBe('failure');
    await h.startWallet();

    // The wallet was down before it resolved the ref, so nothing was written. Now the ref is
    // resolved, and the wallet goes down before the charge.
    expect(await statusOf(h.database, attemptId)).toBeUndefined();
    created(await h.create(challenge.id, player.ref));
    await h.stopWallet();
    expect(verdictOf(await h.create(challenge.id, player.ref, attemptId))).toBe('failure');
    expect(await statusOf(h.database, attemptId)).toMatchObject({ status: 'pending' });
    await h.startWallet();

    created(await h.create(challenge.id, player.ref, attemptId));
    expect(await h.balance(player.accountId)).toBe(100_000n - 200n);
  });

  it('a fee that was posted but not recorded is not charged again by a repeated creation', async () => {
    const { challenge, player, attempt } = await h.openAttempt();
    await forget(attempt.id);
    expect(created(await h.create(challenge.id, player.ref, attempt.id))).toEqual(attempt);
    expect(await h.balance(player.accountId)).toBe(99_900n);
  });

  it('a repeated creation stays refused, even if the player has funds by now', async () => {
    const challenge = await h.open();
    const player = await h.player(undefined, 0n);
    const attemptId = newOwnedId('challenge');
    expect(verdictOf(await h.create(challenge.id, player.ref, attemptId))).toBe('insufficient_funds');
    expectAccepted(
      await h.wallet.deposit({ accountId: player.accountId, environment: 1, amountCents: 500n, reference: 'late' }),
    );
    expect(verdictOf(await h.create(challenge.id, player.ref, attemptId))).toBe('insufficient_funds');
    await h.server.sweepOnce();
    expect(await statusOf(h.database, attemptId)).toMatchObject({
      status: 'refused',
      closed_reason: 'insufficient_funds',
    });
    expect(await h.challenge.getAttempt({ tenant: PROGRAM, attemptId })).toMatchObject({ code: 'not_found' });
    expect(verdictOf(await h.report(attemptId, 1))).toBe('not_found');
    expect(await h.balance(player.accountId)).toBe(500n);
  });

  it('a creation that is sent several times at once makes one attempt and one charge', async () => {
    const challenge = await h.open();
    const player = await h.player();
    await using other = await h.startReplica();
    const attemptId = newOwnedId('challenge');
    const creation = {
      attemptId,
      tenant: PROGRAM,
      contestId: challenge.id,
      playerRef: player.ref,
      metadataJson: '{}',
      requestId: '',
      keyUse: undefined,
    };
    const answers = await Promise.all(
      [h.challenge, other.challenge, h.challenge, other.challenge].map((client) =>
        client.createAttempts({ creations: [creation, creation, creation] }),
      ),
    );
    const attempts = answers.flatMap((answer) => expectAccepted(answer).results.map(({ result }) => created(result)));
    expect(new Set(attempts.map((attempt) => attempt.id))).toEqual(new Set([attemptId]));
    expect(attempts).toHaveLength(12);
    expect(await h.balance(player.accountId)).toBe(99_900n);
  });
});

describe('an attempt that another request continues', () => {
  itContinuesAttempts({
    harness: h,
    service: () => h.challenge,
    tenant: PROGRAM,
    fundsCents: 100_000n,
    feeCents: 100n,
    ttlMs: HOUR_MS,
    answersOpen: false,
    async openAttempt() {
      const { challenge, player, attempt } = await h.openAttempt();
      return { player, attempt, again: async (id) => created(await h.create(challenge.id, player.ref, id)) };
    },
    async pendingAttempt() {
      const { challenge, player, attemptId } = await h.pendingAttempt();
      return { player, attemptId, again: async (id) => created(await h.create(challenge.id, player.ref, id)) };
    },
    report: (attemptId) => h.report(attemptId, 1),
    forget,
  });
});

describe('a pending attempt that a reader finds', () => {
  it('a read or a report resolves a pending attempt', async () => {
    const { challenge, player, attempt: read } = await h.openAttempt();
    const reported = created(await h.create(challenge.id, player.ref));
    await forget(read.id);
    await forget(reported.id);
    expect(expectAccepted(await h.challenge.getAttempt({ tenant: PROGRAM, attemptId: read.id })).attempt).toEqual(read);
    expect(await statusOf(h.database, read.id)).toMatchObject({ status: 'open' });
    expect(recorded(await h.report(reported.id, 1)).metThreshold).toBe(false);
  });

  it('a pending attempt whose fee was posted is opened by the sweeper and expires at its deadline', async () => {
    const { player, attempt } = await h.openAttempt();
    await forget(attempt.id);
    h.clock.advance(HOUR_MS);
    await h.server.sweepOnce();
    await h.server.sweepOnce();
    const { attempt: read } = expectAccepted(await h.challenge.getAttempt({ tenant: PROGRAM, attemptId: attempt.id }));
    expect(read).toEqual({ ...attempt, status: AttemptStatus.EXPIRED });
    expect(await h.balance(player.accountId)).toBe(100_000n);
  });
});

describe('a player whose link moved', () => {
  it('a player_ref that was linked to another account pays from that account', async () => {
    const challenge = await h.open({ dailyAttemptCap: 2 });
    const before = await h.player();
    const after = await h.player();
    const won = created(await h.create(challenge.id, before.ref));
    recorded(await h.report(won.id, 100));
    expect(verdictOf(await h.create(challenge.id, before.ref))).toBe('challenge_already_claimed');
    const unfinished = await h.open();
    const open = created(await h.create(unfinished.id, before.ref));

    expectAccepted(
      await h.wallet.putPlayerLink({ player: { tenant: PROGRAM, playerRef: before.ref }, email: after.email }),
    );
    created(await h.create(challenge.id, before.ref));
    expect(await h.balance(after.accountId)).toBe(99_900n);
    // Caches an account for the ref, then moves the link: only the charge can find the new account.
    created(await h.create(unfinished.id, after.ref));
    expectAccepted(
      await h.wallet.putPlayerLink({ player: { tenant: PROGRAM, playerRef: after.ref }, email: before.email }),
    );
    created(await h.create(unfinished.id, after.ref));
    expect(await h.balance(after.accountId)).toBe(99_800n);
    expect(await h.balance(before.accountId)).toBe(100_000n - 300n + 2_000n);

    // Open attempts stay with the account that paid.
    const outcome = recorded(await h.report(open.id, 100, newId()));
    expect(outcome.award?.amountCents).toBe(2_000n);
    expect(await h.balance(before.accountId)).toBe(100_000n - 300n + 4_000n);
  });

  it('a player_ref is refused without a charge if the rules refuse the account of its new link', async () => {
    const challenge = await h.open({ dailyAttemptCap: 1 });
    const before = await h.player();
    const after = await h.player();
    const warm = await h.open();
    created(await h.create(warm.id, before.ref));
    created(await h.create(challenge.id, after.ref));
    expectAccepted(
      await h.wallet.putPlayerLink({ player: { tenant: PROGRAM, playerRef: before.ref }, email: after.email }),
    );
    const attemptId = newOwnedId('challenge');
    expect(verdictOf(await h.create(challenge.id, before.ref, attemptId))).toBe('attempt_cap_reached');
    expect(verdictOf(await h.create(challenge.id, before.ref, attemptId))).toBe('attempt_cap_reached');
    expect(await statusOf(h.database, attemptId)).toMatchObject({
      status: 'refused',
      closed_reason: 'attempt_cap_reached',
    });
    expect(await h.balance(after.accountId)).toBe(99_900n);
    expect(await h.balance(before.accountId)).toBe(99_900n);
  });
});
