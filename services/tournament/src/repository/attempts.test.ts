/**
 * Attempts with their entries and refs: how they are inserted, moved and counted, and which
 * transactions wait for which.
 */
import { newId, newOwnedId } from '@laurel/values/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { entryIdOf } from '../domain/entry-decision.ts';
import type { Attempt, Round } from '../domain/tournament.ts';
import {
  findAttempt,
  insertAttempts,
  loadAttempts,
  loadPendingOfPlayer,
  loadPendingOfRound,
  lockAttempt,
  lockOnBoards,
  moveAttempt,
  restartAttempt,
} from './attempts.ts';
import { findEntryOfRef } from './entries.ts';
import { loadPlayerFacts, lockEntering, lockPlayer } from './player-facts.ts';
import { type Harness, NOW, playersOf, startHarness, TENANT } from './repository.fixture.ts';
import { findRound, loadEntryRounds } from './rounds.ts';
import { lockRoundToEnd } from './settlement.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h[Symbol.asyncDispose]());

async function entrantsOf({ id }: Round): Promise<number | undefined> {
  return (await findRound(h.database, id))?.tally.entrants;
}

async function refuse({ id }: Attempt, reason: string): Promise<void> {
  const text = `update attempts set status = 'refused', closed_reason = $2 where id = $1`;
  await h.database.query({ text }, [id, reason]);
}

describe('an attempt', () => {
  it('an attempt is written once, with the entry of its account', async () => {
    const round = await h.openRound();
    const [player] = playersOf(1);
    if (player === undefined) throw new Error('no player');
    const [attempt] = await h.begin(round, [player]);
    if (attempt === undefined) throw new Error('no attempt');
    expect(await insertAttempts(h.database, [{ attempt, idempotencyUse: null }])).toEqual(new Set());
    expect(await findAttempt(h.database, attempt.id)).toEqual({
      attempt,
      endReason: 'round_closed',
      round: { tenant: TENANT, status: 'open', closesAt: round.closesAt },
    });
    expect(await loadAttempts(h.database, [attempt.id, newId()])).toEqual(new Map([[attempt.id, attempt]]));
    expect(await findEntryOfRef(h.database, round.id, player.playerRef)).toEqual({
      id: entryIdOf(round.id, player.accountId),
      roundId: round.id,
      accountId: player.accountId,
      boughtAt: null,
      best: null,
      sortKey: null,
    });
    expect(await findEntryOfRef(h.database, round.id, 'unlinked')).toBeNull();
    const pending = [{ id: attempt.id, feeGeneration: 0, createdAt: NOW }];
    expect(await loadPendingOfPlayer(h.database, round.id, player.playerRef)).toEqual(pending);
    expect(await loadPendingOfRound(h.database, round.id, 10)).toEqual(
      pending.map((one) => ({ ...one, environment: round.tenant.environment })),
    );
  });

  it('a player_ref maps to the account of its newest attempt', async () => {
    const round = await h.openRound();
    const [one, other] = [newId(), newId()];
    await h.begin(round, [
      { accountId: one, playerRef: 'first' },
      { accountId: one, playerRef: 'second' },
      { accountId: other, playerRef: 'moved' },
      { accountId: one, playerRef: 'moved' },
    ]);
    const accountOf = async (ref: string) => (await findEntryOfRef(h.database, round.id, ref))?.accountId;
    expect(await Promise.all(['first', 'second', 'moved'].map(accountOf))).toEqual([one, one, one]);
    await h.begin(round, [{ accountId: other, playerRef: 'moved' }]);
    expect(await Promise.all(['first', 'second', 'moved'].map(accountOf))).toEqual([one, one, other]);
  });

  it('an attempt counts towards the cap unless its fee was refused or refunded', async () => {
    const round = await h.openRound();
    const [accountId, elsewhere] = [newId(), await h.openRound()];
    const attempts = await h.begin(round, Array(4).fill({ accountId, playerRef: 'player' }));
    await h.begin(elsewhere, [{ accountId, playerRef: 'player' }]);
    const [pending, open, refused, voided] = attempts;
    if (open === undefined || pending === undefined || refused === undefined || voided === undefined) throw new Error();
    await h.open([open, voided]);
    await refuse(refused, 'insufficient_funds');
    await h.database.query({ text: `update attempts set status = 'voided', closed_reason = 'x' where id = $1` }, [
      voided.id,
    ]);
    const facts = await loadPlayerFacts(h.database, [
      { attemptId: pending.id, roundId: round.id, accountId },
      { attemptId: newId(), roundId: round.id, accountId: newId() },
      { attemptId: newId(), roundId: round.id, accountId: null },
    ]);
    expect(facts).toEqual([
      { isKnownAttempt: true, bought: 2 },
      { isKnownAttempt: false, bought: 0 },
      { isKnownAttempt: false, bought: 0 },
    ]);
  });

  it('only an abandoned attempt can restart under another account', async () => {
    const round = await h.openRound();
    const [before] = await h.begin(round, [{ accountId: newId(), playerRef: 'player' }]);
    if (before === undefined) throw new Error('no attempt');
    const accountId = newId();
    const again: Attempt = {
      ...before,
      accountId,
      entryId: entryIdOf(round.id, accountId),
      createdAt: new Date(NOW.getTime() + 1),
      feeGeneration: 1,
    };
    expect(await restartAttempt(h.database, again)).toBe(false);
    await refuse(before, 'insufficient_funds');
    expect(await restartAttempt(h.database, again)).toBe(false);
    await refuse(before, 'abandoned');
    expect(await restartAttempt(h.database, again)).toBe(true);
    expect(await restartAttempt(h.database, again)).toBe(false);
    expect((await findAttempt(h.database, before.id))?.attempt).toEqual(again);
    expect((await findEntryOfRef(h.database, round.id, 'player'))?.accountId).toBe(accountId);
  });

  it('an attempt below the low watermark is not written', async () => {
    const round = await h.openRound();
    const [before] = await h.begin(round, [{ accountId: newId(), playerRef: 'player' }]);
    if (before === undefined) throw new Error('no attempt');
    await refuse(before, 'abandoned');
    const lowWatermark = new Date(NOW.getTime() - 60_000);
    await h.database.query({ text: `insert into sweep_marks values ('low_watermark', $1)` }, [lowWatermark]);
    const accountId = newId();
    const late = {
      ...before,
      id: newOwnedId('tournament'),
      accountId,
      entryId: entryIdOf(round.id, accountId),
      playerRef: 'late',
      createdAt: lowWatermark,
    };
    expect(await insertAttempts(h.database, [{ attempt: late, idempotencyUse: null }])).toEqual(new Set());
    expect(await findEntryOfRef(h.database, round.id, 'late')).toBeNull();
    expect(await restartAttempt(h.database, { ...before, createdAt: lowWatermark, feeGeneration: 1 })).toBe(false);
    const inTime = { ...late, createdAt: new Date(lowWatermark.getTime() + 1) };
    expect(await insertAttempts(h.database, [{ attempt: inTime, idempotencyUse: null }])).toEqual(new Set([inTime.id]));
    expect((await findEntryOfRef(h.database, round.id, 'late'))?.accountId).toBe(accountId);
  });

  it('an attempt moves with its entry to the account that its player_ref names now', async () => {
    const round = await h.openRound();
    const [attempt] = await h.begin(round, [{ accountId: newId(), playerRef: 'player' }]);
    if (attempt === undefined) throw new Error('no attempt');
    const accountId = newId();
    const moved = { ...attempt, accountId, entryId: entryIdOf(round.id, accountId) };
    await h.database.transaction(async (tx) => {
      expect(await lockAttempt(tx, attempt.id)).toEqual(attempt);
      await lockPlayer(tx, { roundId: round.id, accountId });
      await moveAttempt(tx, moved);
    });
    expect((await findAttempt(h.database, attempt.id))?.attempt).toEqual(moved);
    expect((await findEntryOfRef(h.database, round.id, 'player'))?.accountId).toBe(accountId);
    await h.open([moved]);
    expect(await entrantsOf(round)).toBe(1);
    expect(await h.violations()).toEqual([]);
  });

  it('an account becomes an entrant once, even if several of its attempts open at the same time', async () => {
    const rounds = await Promise.all([h.openRound(), h.openRound(), h.openRound()]);
    const players = playersOf(8);
    const batches = [];
    for (let batch = 0; batch < 6; batch += 1) {
      const attempts = [];
      for (const round of rounds) attempts.push(...(await h.begin(round, players)));
      batches.push(batch % 2 === 0 ? attempts : attempts.toReversed());
    }
    await Promise.all(batches.map((attempts) => h.open(attempts)));
    expect(await Promise.all(rounds.map(entrantsOf))).toEqual([8, 8, 8]);
    expect(await h.violations()).toEqual([]);
  });

  it('an attempt is read together with its round and its entry', async () => {
    const tiebreak = { metricName: 'seconds', direction: 'lower_is_better' } as const;
    const round = await h.openRound({ tiebreak });
    const [player] = playersOf(1);
    if (player === undefined) throw new Error('no player');
    const [first, second] = await h.enter(round, [player, player]);
    if (first === undefined || second === undefined) throw new Error('no attempt');
    await h.report([{ attemptId: first.id, score: 3, tiebreak: 2 }]);
    const found = await h.database.transaction((tx) => lockOnBoards(tx, [second.id, newOwnedId('tournament')]));
    expect([...found.values()]).toEqual([
      {
        attempt: { ...second, status: 'open' },
        round: {
          id: round.id,
          tournamentId: round.tournamentId,
          tenant: TENANT,
          status: 'open',
          closesAt: round.closesAt,
          terms: { metricName: 'distance', metricUnit: 'm', direction: 'higher_is_better', tiebreak },
        },
        entry: {
          id: first.entryId,
          roundId: round.id,
          accountId: player.accountId,
          boughtAt: NOW,
          best: { attemptId: first.id, score: 3, tiebreak: 2, at: NOW, playerRef: player.playerRef },
          sortKey: expect.any(Buffer),
        },
      },
    ]);
  });
});

describe('the end of a round', () => {
  it('the lock that ends a round finds exactly the attempts that concurrent creations write', async () => {
    for (let time = 0; time < 10; time += 1) {
      const round = await h.openRound();
      const creations = playersOf(6).map((player) =>
        h.database.transaction(async (tx) => {
          const query = { roundId: round.id, accountId: player.accountId };
          const [, rounds] = await Promise.all([lockEntering(tx, [query]), loadEntryRounds(tx, [round.id])]);
          if (rounds.get(round.id)?.status !== 'open') return 0;
          const attempt: Attempt = {
            id: newOwnedId('tournament'),
            roundId: round.id,
            entryId: entryIdOf(round.id, player.accountId),
            accountId: player.accountId,
            playerRef: player.playerRef,
            status: 'pending',
            feeCents: round.terms.entryFeeCents,
            metadata: '{}',
            createdAt: NOW,
            feeGeneration: 0,
            closedReason: null,
          };
          return (await insertAttempts(tx, [{ attempt, idempotencyUse: null }])).size;
        }),
      );
      const ending = h.database.transaction(async (tx) => {
        const held = await lockRoundToEnd(tx, round.id);
        await tx.query({ text: `update rounds set status = 'settling' where id = $1` }, [round.id]);
        return held?.pending;
      });
      const [seen, ...written] = await Promise.all([ending, ...creations]);
      expect(written.reduce((sum, count) => sum + count, 0)).toBe(seen);
    }
  });

  it('the lock that ends a round finds no unknown round', async () => {
    expect(await h.database.transaction((tx) => lockRoundToEnd(tx, newId()))).toBeNull();
  });
});
