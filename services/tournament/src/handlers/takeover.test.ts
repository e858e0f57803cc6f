/** The same attempt id sent again, after every state in which the first request can end. */
import { newId, newOwnedId } from '@laurel/ids';
import { AttemptStatus } from '@laurel/proto/tournament';
import { ok } from '@laurel/testing';
import { describe, expect, it } from 'vitest';
import { findEntryOfRef } from '../repository/entries.ts';
import { findRound } from '../repository/rounds.ts';
import { created, FEE, FUNDS, HOUR_MS, PROGRAM, recorded, useHarness, verdictOf } from '../tournament.fixture.ts';

const h = useHarness();

async function statusOf(attemptId: string) {
  const [row] = await h.database.query<{ status: string; closed_reason: string | null; fee_generation: number }>(
    { text: 'select status, closed_reason, fee_generation from attempts where id = $1' },
    [attemptId],
  );
  return row;
}

async function entrantsOf(roundId: string) {
  return (await findRound(h.database, roundId))?.tally.entrants;
}

/** As if the commit that opened the attempt, which waits for no disk, had been lost: it also booked the entry's first purchase. */
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

describe('a create that is sent again', () => {
  it('a create that is sent again continues an attempt whose fee the wallet never received', async () => {
    const { round, player, attemptId } = await h.pendingAttempt();
    expect(await statusOf(attemptId)).toMatchObject({ status: 'pending' });
    created(await h.create(round.id, player.ref, attemptId));
    expect(await statusOf(attemptId)).toMatchObject({ status: 'open', fee_generation: 0 });
    expect(await h.balance(player.accountId)).toBe(FUNDS - 2n * FEE);
    expect(await entrantsOf(round.id)).toBe(1);
  });

  it('a create that is sent again does not charge twice when the fee was posted but not recorded, and the player has entered', async () => {
    const { round, player, attempt } = await h.openAttempt();
    await forget(attempt.id);
    expect(await entrantsOf(round.id)).toBe(0);
    expect(created(await h.create(round.id, player.ref, attempt.id))).toEqual(attempt);
    expect(await entrantsOf(round.id)).toBe(1);
    expect(await h.balance(player.accountId)).toBe(FUNDS - FEE);
  });

  it('a create that is sent again is refused as the first time, though the player has funds by now', async () => {
    const round = await h.openRound();
    const player = await h.player(undefined, 0n);
    const attemptId = newOwnedId('tournament');
    expect(verdictOf(await h.create(round.id, player.ref, attemptId))).toBe('insufficient_funds');
    ok(await h.wallet.deposit({ accountId: player.accountId, environment: 1, amountCents: FEE, reference: 'late' }));
    expect(verdictOf(await h.create(round.id, player.ref, attemptId))).toBe('insufficient_funds');
    expect(await statusOf(attemptId)).toMatchObject({ status: 'refused', closed_reason: 'insufficient_funds' });
    expect(await entrantsOf(round.id)).toBe(0);
    expect(await h.balance(player.accountId)).toBe(FEE);
  });

  it('a create that is sent again restarts under a new fee id when the first has a tombstone, and that fee is refunded at the deadline', async () => {
    const { round, player, attemptId } = await h.pendingAttempt();
    h.clock.advance(59_999);
    await h.server.sweepOnce();
    expect(await statusOf(attemptId)).toMatchObject({ status: 'pending' });
    h.clock.advance(1);
    await h.server.sweepOnce();
    expect(await statusOf(attemptId)).toEqual({ status: 'refused', closed_reason: 'abandoned', fee_generation: 0 });
    expect(await h.tournament.getAttempt({ tenant: PROGRAM, attemptId })).toMatchObject({ code: 'not_found' });

    const attempt = created(await h.create(round.id, player.ref, attemptId));
    expect(attempt.createdAt).toEqual(h.clock());
    expect(await statusOf(attemptId)).toEqual({ status: 'open', closed_reason: null, fee_generation: 1 });
    expect(await h.balance(player.accountId)).toBe(FUNDS - 2n * FEE);

    h.clock.advance(HOUR_MS);
    await h.server.sweepOnce();
    expect(await statusOf(attemptId)).toMatchObject({ status: 'expired' });
    expect(await h.balance(player.accountId)).toBe(FUNDS);
  });

  it('a create that is sent again restarts for the account that the ref names by then, and only while entries are open', async () => {
    const { round, player, attemptId } = await h.pendingAttempt();
    h.clock.advance(60_000);
    await h.server.sweepOnce();
    const heir = await h.player();
    ok(await h.wallet.putPlayerLink({ player: { tenant: PROGRAM, playerRef: player.ref }, email: heir.email }));
    created(await h.create(round.id, player.ref, attemptId));
    expect(await h.balance(heir.accountId)).toBe(FUNDS - FEE);
    expect(await findEntryOfRef(h.database, round.id, player.ref)).toMatchObject({ accountId: heir.accountId });
    expect(await entrantsOf(round.id)).toBe(2);

    const late = await h.pendingAttempt();
    h.clock.advance(60_000);
    await h.server.sweepOnce();
    h.clock.advance(late.round.entriesCloseAt.getTime() - h.clock().getTime());
    expect(verdictOf(await h.create(late.round.id, late.player.ref, late.attemptId))).toBe('entries_closed');
    expect(await statusOf(late.attemptId)).toMatchObject({ status: 'refused', closed_reason: 'abandoned' });
    await h.server.sweepOnce();
    expect(await h.balance(late.player.accountId)).toBe(FUNDS);
  });

  it('a create that is sent again answers the attempt as it was created after it was settled, expired or voided', async () => {
    const { round, player, attempt: settled } = await h.openAttempt();
    const expired = created(await h.create(round.id, player.ref));
    const voided = created(await h.create(round.id, player.ref));
    recorded(await h.report(settled.id, 1));
    ok(await h.tournament.expireAttempt({ tenant: PROGRAM, attemptId: expired.id }));
    ok(await h.tournament.voidAttempt({ attemptId: voided.id, reason: 'a test' }));
    for (const attempt of [settled, expired, voided]) {
      expect(created(await h.create(round.id, player.ref, attempt.id))).toEqual(attempt);
    }
  });
});

describe('a pending attempt that a call finds', () => {
  it('a pending attempt that a call finds is resolved by a read, and by a report, each of which enters the player', async () => {
    const { round, player, attempt: read } = await h.openAttempt();
    await forget(read.id);
    expect(ok(await h.tournament.getAttempt({ tenant: PROGRAM, attemptId: read.id })).attempt).toEqual(read);
    expect(await statusOf(read.id)).toMatchObject({ status: 'open' });
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

  it('a pending attempt does not exist while its fee is absent, and settles once it is paid for', async () => {
    const { round, player, attemptId } = await h.pendingAttempt();
    expect(await h.tournament.getAttempt({ tenant: PROGRAM, attemptId })).toMatchObject({ code: 'not_found' });
    expect(verdictOf(await h.report(attemptId, 1))).toBe('not_found');
    expect(await h.tournament.voidAttempt({ attemptId, reason: 'x' })).toMatchObject({ code: 'not_found' });
    expect(await h.tournament.expireAttempt({ tenant: PROGRAM, attemptId })).toMatchObject({ code: 'not_found' });
    created(await h.create(round.id, player.ref, attemptId));
    expect(recorded(await h.report(attemptId, 1)).score).toBe(1);
  });

  it('a pending attempt counts under the cap until its fee is known to be absent', async () => {
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
    // The abandoned one no longer counts under the cap.
    expect(verdictOf(await h.create(round.id, player.ref, attemptId))).toBe('attempt_cap_reached');
  });

  it('a pending attempt that was paid for ends with its round, and is refunded', async () => {
    const round = await h.openRound({}, { lengthMs: HOUR_MS / 2 });
    const player = await h.player();
    const [read, reported] = [
      created(await h.create(round.id, player.ref)),
      created(await h.create(round.id, player.ref)),
    ];
    await forget(read.id);
    await forget(reported.id);
    h.clock.advance(HOUR_MS / 2);
    const { attempt } = ok(await h.tournament.getAttempt({ tenant: PROGRAM, attemptId: read.id }));
    expect(attempt).toEqual({ ...read, status: AttemptStatus.EXPIRED });
    expect(verdictOf(await h.report(reported.id, 1))).toBe('round_closed');
    expect(await statusOf(read.id)).toMatchObject({ status: 'expired', closed_reason: 'round_closed' });
    expect(await statusOf(reported.id)).toMatchObject({ status: 'expiring', closed_reason: 'round_closed' });
    await h.server.sweepOnce();
    expect(await h.balance(player.accountId)).toBe(FUNDS);
    expect(await entrantsOf(round.id)).toBe(0);
  });

  it('a pending attempt is found at its deadline even if the sweep of pending attempts missed it', async () => {
    const { player, attempt } = await h.openAttempt();
    h.clock.advance(120_000);
    await forget(attempt.id);
    const text = `
      insert into sweep_marks values ('resolve_pending', $1)
      on conflict (sweep) do update set swept_until = excluded.swept_until`;
    await h.database.query({ text }, [h.clock()]);
    // Its sweep starts at the stored mark.
    await using replica = await h.startReplica();
    await replica.server.sweepOnce();
    expect(await statusOf(attempt.id)).toMatchObject({ status: 'pending' });
    h.clock.advance(HOUR_MS);
    await replica.server.sweepOnce();
    await replica.server.sweepOnce();
    expect(await statusOf(attempt.id)).toMatchObject({ status: 'expired' });
    expect(await h.balance(player.accountId)).toBe(FUNDS);
  });
});

describe('a player whose link moved', () => {
  it('a player whose link moved pays from, and enters, the account that the ref names now; earlier attempts stay with the old account', async () => {
    const round = await h.openRound({ attemptCap: 1 });
    const before = await h.player();
    const after = await h.player();
    const first = created(await h.create(round.id, before.ref));
    expect(verdictOf(await h.create(round.id, before.ref))).toBe('attempt_cap_reached');

    ok(await h.wallet.putPlayerLink({ player: { tenant: PROGRAM, playerRef: before.ref }, email: after.email }));
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

  it('a player whose link moved is moved during the charge, where only the charge detects it', async () => {
    const round = await h.openRound();
    const before = await h.player();
    const after = await h.player();
    const warm = await h.openRound();
    created(await h.create(warm.id, before.ref));
    ok(await h.wallet.putPlayerLink({ player: { tenant: PROGRAM, playerRef: before.ref }, email: after.email }));
    const attempt = created(await h.create(round.id, before.ref));
    expect(await h.balance(after.accountId)).toBe(FUNDS - FEE);
    expect(await findEntryOfRef(h.database, round.id, before.ref)).toMatchObject({ accountId: after.accountId });
    expect(await entrantsOf(round.id)).toBe(1);
    recorded(await h.report(attempt.id, 1, { operationId: newId() }));
  });

  it('a player whose link moved is refused without a charge where the rules refuse the account that the ref names now', async () => {
    const round = await h.openRound({ attemptCap: 1 });
    const before = await h.player();
    const after = await h.player();
    const warm = await h.openRound();
    created(await h.create(warm.id, before.ref));
    created(await h.create(round.id, after.ref));
    ok(await h.wallet.putPlayerLink({ player: { tenant: PROGRAM, playerRef: before.ref }, email: after.email }));
    const attemptId = newOwnedId('tournament');
    expect(verdictOf(await h.create(round.id, before.ref, attemptId))).toBe('attempt_cap_reached');
    expect(verdictOf(await h.create(round.id, before.ref, attemptId))).toBe('attempt_cap_reached');
    expect(await statusOf(attemptId)).toMatchObject({ status: 'refused', closed_reason: 'attempt_cap_reached' });
    expect(await h.balance(after.accountId)).toBe(FUNDS - FEE);
    expect(await h.balance(before.accountId)).toBe(FUNDS - FEE);
    expect(await entrantsOf(round.id)).toBe(1);
  });
});
