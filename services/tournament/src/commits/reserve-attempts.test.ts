/**
 * The reservation by itself: a decision on a cached round must equal the decision on rows read at
 * that moment.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { isRefused } from '@laurel/errors';
import type { Database } from '@laurel/postgres';
import { createTestClock } from '@laurel/testing';
import { countTrips, itReservesOnCachedFacts, verdictOf } from '@laurel/testing/reservations';
import { newId, newOwnedId } from '@laurel/values/ids';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { closeEntriesEarly } from '../domain/round-status.ts';
import type { Round } from '../domain/tournament.ts';
import { loadAttempts } from '../repository/attempts.ts';
import { findEntryOfRef } from '../repository/entries.ts';
import { lockEntering } from '../repository/player-facts.ts';
import { type Harness, HOUR_MS, roundOf, startHarness, TENANT, TERMS } from '../repository/repository.fixture.ts';
import { changeRoundStatus, findRound, insertRound, moveRoundEnds } from '../repository/rounds.ts';
import { lockRoundToEnd } from '../repository/settlement.ts';
import { insertTournament } from '../repository/tournaments.ts';
import { createAttemptReservationBatches } from './reserve-attempts.ts';

// The failpoints library reads its folder when it is loaded, before the code below runs.
const failpoints = vi.hoisted(() => {
  process.env.FAILPOINTS_DIR = `${process.env.TMPDIR ?? '/tmp'}/laurel-tournament-create-${process.pid}`;
  return process.env.FAILPOINTS_DIR;
});
const clock = createTestClock();
let harness: Harness;
let database: Database;

beforeAll(async () => {
  mkdirSync(failpoints, { recursive: true });
  harness = await startHarness();
  database = harness.database;
});
afterAll(async () => {
  rmSync(failpoints, { recursive: true, force: true });
  await harness[Symbol.asyncDispose]();
});

type Creating = { readonly attemptId?: string; readonly isFresh?: boolean; readonly playerRef?: string };

/** A replica's reservations, and its round trips to the database. */
function startReplica() {
  const { counted, trips } = countTrips(database);
  const reservations = createAttemptReservationBatches({ database: counted, clock });
  const create = (
    { id: roundId }: Round,
    accountId: string,
    { attemptId = newOwnedId('tournament'), isFresh = true, playerRef = 'player' }: Creating = {},
  ) =>
    reservations.submit({
      creation: { attemptId, tenant: TENANT, roundId, playerRef, metadata: '{}', idempotencyUse: null },
      account: { accountId, isFresh },
    });
  /** Caches the round with an entry of an unrelated player. */
  const warmUp = async (round: Round) => {
    await create(round, newId(), { playerRef: 'another' });
    Object.assign(trips, { short: 0, long: 0 });
  };
  return { create, warmUp, trips };
}

/** A round that has taken entries for an hour. */
async function open({ attemptCap = 1_000, entriesForMs = HOUR_MS } = {}): Promise<Round> {
  const at = (ms: number) => new Date(clock().getTime() + ms);
  const terms = { ...TERMS, attemptCap };
  const tournament = { id: newId(), tenant: TENANT, status: 'active', terms, createdAt: at(0) } as const;
  const times = { opensAt: at(-HOUR_MS), entriesCloseAt: at(entriesForMs), closesAt: at(24 * HOUR_MS) };
  const round = roundOf(tournament, times);
  await insertTournament(database, tournament);
  expect(await insertRound(database, round)).toBe(true);
  return round;
}

async function closeEntries({ id }: Round): Promise<void> {
  const found = await findRound(database, id);
  if (found === null) throw new Error('the round is not there');
  const closed = closeEntriesEarly(found.round, clock());
  if (!isRefused(closed)) await moveRoundEnds(database, closed);
}

async function countAttempts(round: Round): Promise<number | undefined> {
  const text = 'select count(*)::int as count from attempts where round_id = $1';
  return (await database.query<{ count: number }>({ text }, [round.id]))[0]?.count;
}

/** Resolves once a session waits for an advisory lock. */
async function untilOneWaits(): Promise<void> {
  const text = `select count(*)::int as count from pg_locks where locktype = 'advisory' and not granted
    and database = (select oid from pg_database where datname = current_database())`;
  await vi.waitFor(async () => expect((await database.query<{ count: number }>({ text }))[0]?.count).toBe(1), 10_000);
}

describe('an entry in a cached round', () => {
  itReservesOnCachedFacts({
    contestService: 'tournament',
    creation: 'an entry in a cached round',
    database: () => database,
    failpoints,
    startReplica,
    open,
    loadAttempts,
  });

  it('an entry in a cached round is written with the account of its player_ref', async () => {
    const replica = startReplica();
    const round = await open();
    await replica.warmUp(round);
    const accountId = newId();
    await replica.create(round, accountId, { isFresh: false, playerRef: 'second' });
    expect(replica.trips).toEqual({ short: 1, long: 0 });
    expect(await findEntryOfRef(database, round.id, 'second')).toMatchObject({ accountId, boughtAt: null });
  });

  it('an entry in a cached round is refused once another replica has closed entries', async () => {
    const replica = startReplica();
    const round = await open();
    await replica.warmUp(round);
    await closeEntries(round);
    expect(verdictOf(await replica.create(round, newId()))).toBe('entries_closed');
    expect(replica.trips).toEqual({ short: 1, long: 1 });
    expect(await countAttempts(round)).toBe(1);
  });

  it('an entry in a cached round is refused once the end of the round has begun', async () => {
    const replica = startReplica();
    const round = await open();
    await replica.warmUp(round);
    await changeRoundStatus(database, round.id, 'open', 'cancelling');
    expect(verdictOf(await replica.create(round, newId()))).toBe('entries_closed');
    expect(verdictOf(await replica.create(round, newId()))).toBe('entries_closed');
    expect(replica.trips).toEqual({ short: 1, long: 2 });
    expect(await countAttempts(round)).toBe(1);
  });

  it('an entry that waits for the lock while its cached round ends is refused', async () => {
    const replica = startReplica();
    const round = await open();
    await replica.warmUp(round);
    const text = `update attempts set status = 'open' where round_id = $1`;
    await database.query({ text }, [round.id]);
    const late = await database.transaction(async (tx) => {
      expect(await lockRoundToEnd(tx, round.id)).toMatchObject({ pending: 0 });
      const decision = replica.create(round, newId());
      await untilOneWaits();
      await changeRoundStatus(tx, round.id, 'open', 'settling');
      return () => decision;
    });
    expect(verdictOf(await late())).toBe('entries_closed');
    expect(await countAttempts(round)).toBe(1);
  });

  it('an entry in a cached round is refused if entries close while the entry waits for its lock', async () => {
    const replica = startReplica();
    clock.advance(Date.now() - clock().getTime());
    const round = await open({ entriesForMs: 1_500 });
    await replica.warmUp(round);
    const accountId = newId();
    const late = await database.transaction(async (tx) => {
      await lockEntering(tx, [{ roundId: round.id, accountId }]);
      const decision = replica.create(round, accountId);
      await untilOneWaits();
      const isOver = { text: 'select clock_timestamp() >= entries_close_at as over from rounds where id = $1' };
      await vi.waitFor(async () => expect(await database.query(isOver, [round.id])).toEqual([{ over: true }]), 5_000);
      clock.advance(1_500);
      return () => decision;
    });
    expect(verdictOf(await late())).toBe('entries_closed');
    expect(replica.trips).toEqual({ short: 1, long: 1 });
    expect(await countAttempts(round)).toBe(1);
  });

  it('a repeated entry leaves the player_ref on the account of the newest attempt', async () => {
    const replica = startReplica();
    const round = await open();
    await replica.warmUp(round);
    const [before, since, attemptId] = [newId(), newId(), newOwnedId('tournament')];
    expect(verdictOf(await replica.create(round, before, { attemptId }))).toBe('created');
    expect(verdictOf(await replica.create(round, since))).toBe('created');
    expect(verdictOf(await replica.create(round, before, { attemptId }))).toBe('known');
    expect(await findEntryOfRef(database, round.id, 'player')).toMatchObject({ accountId: since });
  });
});

describe('the cap of a cached round', () => {
  it('the cap of a cached round is not exceeded by two entries in one batch', async () => {
    const replica = startReplica();
    const round = await open({ attemptCap: 1 });
    await replica.warmUp(round);
    const [accountId, other] = [newId(), newId()];
    const decisions = await Promise.all([accountId, other, accountId].map((account) => replica.create(round, account)));
    expect(decisions.map(verdictOf)).toEqual(['created', 'created', 'attempt_cap_reached']);
    expect(replica.trips).toEqual({ short: 1, long: 1 });
  });

  it('the cap of a cached round refuses an entry only after the account was resolved again', async () => {
    const replica = startReplica();
    const round = await open({ attemptCap: 1 });
    await replica.warmUp(round);
    const accountId = newId();
    expect(verdictOf(await replica.create(round, accountId, { isFresh: false }))).toBe('created');
    expect(verdictOf(await replica.create(round, accountId, { isFresh: false }))).toBe('ask_wallet');
    expect(verdictOf(await replica.create(round, accountId))).toBe('attempt_cap_reached');
  });

  it('the cap of a cached round counts an attempt that another replica is writing at the same time', async () => {
    const replica = startReplica();
    const round = await open({ attemptCap: 1 });
    await replica.warmUp(round);
    const accountId = newId();
    const late = await database.transaction(async (tx) => {
      await lockEntering(tx, [{ roundId: round.id, accountId }]);
      const decision = replica.create(round, accountId);
      await untilOneWaits();
      // Stands for the write of the transaction that holds the lock, on another connection.
      await harness.begin(round, [{ accountId, playerRef: 'player' }], clock());
      return () => decision;
    });
    expect(verdictOf(await late())).toBe('attempt_cap_reached');
    expect(await countAttempts(round)).toBe(2);
  });

  it('the cap of a cached round is not exceeded by 40 concurrent entries on two replicas', async () => {
    const replicas = [startReplica(), startReplica()];
    const round = await open({ attemptCap: 7 });
    for (const replica of replicas) await replica.warmUp(round);
    const accountId = newId();
    const decisions = await Promise.all(
      Array.from({ length: 20 }).flatMap(() => replicas.map((replica) => replica.create(round, accountId))),
    );
    expect(decisions.map(verdictOf).filter((verdict) => verdict === 'created')).toHaveLength(7);
    expect(await countAttempts(round)).toBe(2 + 7);
  });
});

describe('a replica that caches', () => {
  type Step =
    | { readonly kind: 'create'; readonly player: number; readonly isFresh: boolean }
    | { readonly kind: 'return fees' | 'wait' | 'close entries' | 'cancel' };
  const create: fc.Arbitrary<Step> = fc.record({
    kind: fc.constant('create' as const),
    player: fc.nat(1),
    isFresh: fc.boolean(),
  });
  const rare: fc.Arbitrary<Step> = fc.record({
    kind: fc.constantFrom('return fees', 'return fees', 'wait', 'close entries', 'cancel'),
  });
  const steps = fc.array(fc.oneof({ arbitrary: create, weight: 8 }, rare), { minLength: 4, maxLength: 16 });
  const RETURN_FEES = { text: `update attempts set status = 'expired' where round_id = $1` };

  /** Plays the steps in a new round, and returns the verdicts. */
  async function play(script: readonly Step[], replicaOf: (step: number) => ReturnType<typeof startReplica>) {
    const round = await open({ attemptCap: 2 });
    const players = [newId(), newId()] as const;
    const verdicts: string[] = [];
    for (const [index, step] of script.entries()) {
      if (step.kind === 'wait') clock.advance(HOUR_MS / 3);
      if (step.kind === 'return fees') await database.query(RETURN_FEES, [round.id]);
      if (step.kind === 'close entries') await closeEntries(round);
      if (step.kind === 'cancel') await changeRoundStatus(database, round.id, 'open', 'cancelling');
      if (step.kind === 'create') {
        const { isFresh } = step;
        const decision = await replicaOf(index).create(round, players[step.player] as string, { isFresh });
        verdicts.push(verdictOf(decision));
      }
    }
    return verdicts;
  }

  it('a replica with a filled cache decides like a replica with an empty cache', async () => {
    const replicas = [startReplica(), startReplica()] as const;
    await fc.assert(
      fc.asyncProperty(steps, async (script) => {
        const caching = await play(script, (step) => replicas[step % 2 === 0 ? 0 : 1]);
        expect(caching).toEqual(await play(script, () => startReplica()));
      }),
      { numRuns: 25 },
    );
    expect(replicas[0].trips.short + replicas[1].trips.short).toBeGreaterThan(0);
  });
});
