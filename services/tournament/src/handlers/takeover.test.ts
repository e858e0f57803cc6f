/** The same attempt id, sent again after every state in which the first request can end. */

import { AttemptStatus } from '@laurel/proto/attempts';
import { expectAccepted } from '@laurel/testing';
import { itContinuesAttempts, statusOf } from '@laurel/testing/takeover';
import { newId, newOwnedId } from '@laurel/values/ids';
import { describe, expect, it } from 'vitest';
import { findEntryOfRef } from '../repository/entries.ts';
import { findRound } from '../repository/rounds.ts';
import { created, FEE, FUNDS, HOUR_MS, PROGRAM, recorded, useHarness, verdictOf } from '../tournament.fixture.ts';

const h = useHarness();

async function entrantsOf(roundId: string) {
  return (await findRound(h.database, roundId))?.tally.entrants;
}

/**
 * Undoes the commit that opened the attempt, and with it the entry's first purchase. That commit
 * does not wait for the disk, so a crash may lose it.
 */
async function forget(attemptId: string): Promise<void> {
  await h.database.transaction(async (tx) => {
    await tx.query({ text: `update attempts set status = 'pending' where id = $1` }, [attemptId]);
    const entered = await tx.query<{ round_id: string }>(
      {
        text: `
update entries e set bought_at = null from attempts a
where a.id = $1 and e.id = a.entry_id and e.bought_at is not null
  and not exists (select from attempts o where o.entry_id = e.id and o.id <> a.id and o.status not in ('pending', 'refused'))
returning e.round_id`,
      },
      [attemptId],
    );
    await tx.query({ text: 'update round_tallies set entrants = entrants - 1 where round_id = any($1::uuid[])' }, [
      entered.map((row) => row.round_id),
    ]);
  });
}

describe('a creation that is sent again', () => {
  it('a repeated creation continues an attempt whose fee the wallet never received', async () => {
    const { round, player, attemptId } = await h.pendingAttempt();
    expect(await statusOf(h.database, attemptId)).toMatchObject({ status: 'pending' });
    created(await h.create(round.id, player.ref, attemptId));
    expect(await statusOf(h.database, attemptId)).toMatchObject({ status: 'open', fee_generation: 0 });
    expect(await h.balance(player.accountId)).toBe(FUNDS - 2n * FEE);
    expect(await entrantsOf(round.id)).toBe(1);
  });

  it('a fee that was posted but not recorded is not charged again by a repeated creation', async () => {
    const { round, player, attempt } = await h.openAttempt();
    await forget(attempt.id);
    expect(await entrantsOf(round.id)).toBe(0);
    expect(created(await h.create(round.id, player.ref, attempt.id))).toEqual(attempt);
    expect(await entrantsOf(round.id)).toBe(1);
    expect(await h.balance(player.accountId)).toBe(FUNDS - FEE);
  });

  it('a repeated creation stays refused, even if the player has funds by then', async () => {
    const round = await h.openRound();
    const player = await h.player(undefined, 0n);
    const attemptId = newOwnedId('tournament');
    expect(verdictOf(await h.create(round.id, player.ref, attemptId))).toBe('insufficient_funds');
    expectAccepted(
      await h.wallet.deposit({ accountId: player.accountId, environment: 1, amountCents: FEE, reference: 'late' }),
    );
    expect(verdictOf(await h.create(round.id, player.ref, attemptId))).toBe('insufficient_funds');
    expect(await statusOf(h.database, attemptId)).toMatchObject({
      status: 'refused',
      closed_reason: 'insufficient_funds',
    });
    expect(await entrantsOf(round.id)).toBe(0);
    expect(await h.balance(player.accountId)).toBe(FEE);
  });

  it('a repeated creation restarts an abandoned attempt for the account that the player_ref names now', async () => {
    const { round, player, attemptId } = await h.pendingAttempt();
    h.clock.advance(60_000);
    await h.server.sweepOnce();
    const heir = await h.player();
    expectAccepted(
      await h.wallet.putPlayerLink({ player: { tenant: PROGRAM, playerRef: player.ref }, email: heir.email }),
    );
    created(await h.create(round.id, player.ref, attemptId));
    expect(await h.balance(heir.accountId)).toBe(FUNDS - FEE);
    expect(await findEntryOfRef(h.database, round.id, player.ref)).toMatchObject({ accountId: heir.accountId });
    expect(await entrantsOf(round.id)).toBe(2);

    const late = await h.pendingAttempt();
    h.clock.advance(60_000);
    await h.server.sweepOnce();
    h.clock.advance(late.round.entriesCloseAt.getTime() - h.clock().getTime());
    expect(verdictOf(await h.create(late.round.id, late.player.ref, late.attemptId))).toBe('entries_closed');
    expect(await statusOf(h.database, late.attemptId)).toMatchObject({ status: 'refused', closed_reason: 'abandoned' });
    await h.server.sweepOnce();
    expect(await h.balance(late.player.accountId)).toBe(FUNDS);
  });
});

describe('an attempt that another request continues', () => {
  itContinuesAttempts({
    harness: h,
    service: () => h.tournament,
    tenant: PROGRAM,
    fundsCents: FUNDS,
    feeCents: FEE,
    ttlMs: HOUR_MS,
    answersOpen: true,
    async openAttempt() {
      const { round, player, attempt } = await h.openAttempt();
      return { player, attempt, again: async (id) => created(await h.create(round.id, player.ref, id)) };
    },
    async pendingAttempt() {
      const { round, player, attemptId } = await h.pendingAttempt();
      return { player, attemptId, again: async (id) => created(await h.create(round.id, player.ref, id)) };
    },
    report: (attemptId) => h.report(attemptId, 1),
    forget,
  });
});

describe('a pending attempt that a call finds', () => {
  it('a read or a report resolves a pending attempt', async () => {
    const { round, player, attempt: read } = await h.openAttempt();
    await forget(read.id);
    expect(expectAccepted(await h.tournament.getAttempt({ tenant: PROGRAM, attemptId: read.id })).attempt).toEqual(
      read,
    );
    expect(await statusOf(h.database, read.id)).toMatchObject({ status: 'open' });
    expect(await entrantsOf(round.id)).toBe(1);

    await forget(read.id);
    recorded(await h.report(read.id, 1));
    expect((await findRound(h.database, round.id))?.tally).toEqual({
      entrants: 1,
      scoredPlayers: 1,
      scoredAttempts: 1,
    });
    expect(await h.balance(player.accountId)).toBe(FUNDS - FEE);
  });

  it('a pending attempt counts towards the cap until its fee is known to be absent', async () => {
    const round = await h.openRound({ attemptCap: 2 });
    const player = await h.player();
    created(await h.create(round.id, player.ref));
    const attemptId = newOwnedId('tournament');
    await h.stopWallet();
    expect(verdictOf(await h.create(round.id, player.ref, attemptId))).toBe('failure');
    await h.startWallet();
    expect(verdictOf(await h.create(round.id, player.ref))).toBe('attempt_cap_reached');
    h.clock.advance(60_000);
    await h.server.sweepOnce();
    created(await h.create(round.id, player.ref));
    // The abandoned attempt no longer counts towards the cap.
    expect(verdictOf(await h.create(round.id, player.ref, attemptId))).toBe('attempt_cap_reached');
  });

  it('a pending attempt that was paid for is refunded at the end of its round', async () => {
    const round = await h.openRound({}, { lengthMs: HOUR_MS / 2 });
    const player = await h.player();
    const [read, reported] = [
      created(await h.create(round.id, player.ref)),
      created(await h.create(round.id, player.ref)),
    ];
    await forget(read.id);
    await forget(reported.id);
    h.clock.advance(HOUR_MS / 2);
    const { attempt } = expectAccepted(await h.tournament.getAttempt({ tenant: PROGRAM, attemptId: read.id }));
    expect(attempt).toEqual({ ...read, status: AttemptStatus.EXPIRED });
    expect(verdictOf(await h.report(reported.id, 1))).toBe('round_closed');
    expect(await statusOf(h.database, read.id)).toMatchObject({ status: 'expired', closed_reason: 'round_closed' });
    expect(await statusOf(h.database, reported.id)).toMatchObject({
      status: 'expiring',
      closed_reason: 'round_closed',
    });
    await h.server.sweepOnce();
    expect(await h.balance(player.accountId)).toBe(FUNDS);
    expect(await entrantsOf(round.id)).toBe(0);
  });
});

describe('a player whose link moved', () => {
  it('a player_ref that was linked to another account pays from that account', async () => {
    const round = await h.openRound({ attemptCap: 1 });
    const before = await h.player();
    const after = await h.player();
    const first = created(await h.create(round.id, before.ref));
    expect(verdictOf(await h.create(round.id, before.ref))).toBe('attempt_cap_reached');

    expectAccepted(
      await h.wallet.putPlayerLink({ player: { tenant: PROGRAM, playerRef: before.ref }, email: after.email }),
    );
    const second = created(await h.create(round.id, before.ref));
    expect(await h.balance(after.accountId)).toBe(FUNDS - FEE);
    expect(await entrantsOf(round.id)).toBe(2);

    recorded(await h.report(first.id, 10));
    recorded(await h.report(second.id, 5));
    expect(await findEntryOfRef(h.database, round.id, before.ref)).toMatchObject({
      accountId: after.accountId,
      best: { attemptId: second.id, score: 5 },
    });
    expect((await findRound(h.database, round.id))?.tally).toEqual({
      entrants: 2,
      scoredPlayers: 2,
      scoredAttempts: 2,
    });
  });

  it('the fee of an earlier attempt is refunded to the account that paid', async () => {
    const { player: before, attempt } = await h.openAttempt();
    const after = await h.player();
    expectAccepted(
      await h.wallet.putPlayerLink({ player: { tenant: PROGRAM, playerRef: before.ref }, email: after.email }),
    );
    expectAccepted(await h.tournament.expireAttempt({ tenant: PROGRAM, attemptId: attempt.id }));
    expect(await Promise.all([before, after].map(({ accountId }) => h.balance(accountId)))).toEqual([FUNDS, FUNDS]);
  });

  it('an attempt moves to the new account of its player_ref if only the charge detects the new link', async () => {
    const round = await h.openRound();
    const before = await h.player();
    const after = await h.player();
    const warm = await h.openRound();
    created(await h.create(warm.id, before.ref));
    expectAccepted(
      await h.wallet.putPlayerLink({ player: { tenant: PROGRAM, playerRef: before.ref }, email: after.email }),
    );
    const attempt = created(await h.create(round.id, before.ref));
    expect(await h.balance(after.accountId)).toBe(FUNDS - FEE);
    expect(await findEntryOfRef(h.database, round.id, before.ref)).toMatchObject({ accountId: after.accountId });
    expect(await entrantsOf(round.id)).toBe(1);
    recorded(await h.report(attempt.id, 1, { operationId: newId() }));
  });

  it('a player_ref is refused without a charge if the rules refuse the account of its new link', async () => {
    const round = await h.openRound({ attemptCap: 1 });
    const before = await h.player();
    const after = await h.player();
    const warm = await h.openRound();
    created(await h.create(warm.id, before.ref));
    created(await h.create(round.id, after.ref));
    expectAccepted(
      await h.wallet.putPlayerLink({ player: { tenant: PROGRAM, playerRef: before.ref }, email: after.email }),
    );
    const attemptId = newOwnedId('tournament');
    expect(verdictOf(await h.create(round.id, before.ref, attemptId))).toBe('attempt_cap_reached');
    expect(verdictOf(await h.create(round.id, before.ref, attemptId))).toBe('attempt_cap_reached');
    expect(await statusOf(h.database, attemptId)).toMatchObject({
      status: 'refused',
      closed_reason: 'attempt_cap_reached',
    });
    expect(await h.balance(after.accountId)).toBe(FUNDS - FEE);
    expect(await h.balance(before.accountId)).toBe(FUNDS - FEE);
    expect(await entrantsOf(round.id)).toBe(1);
  });
});
