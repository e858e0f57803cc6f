/**
 * The reservation in isolation: a decision on the cached challenge is the same as a decision on
 * rows that are read at that time.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { createAttemptOpener, createPendingResolver, type Wallet } from '@laurel/attempts';
import { ABANDONED_CODE } from '@laurel/attempts/domain';
import { createDatabase, type Database } from '@laurel/postgres';
import { createLogger } from '@laurel/service';
import { createTestClock, createTestDatabase } from '@laurel/testing';
import { countTrips, itReservesOnCachedFacts, verdictOf } from '@laurel/testing/reservations';
import { newId, newOwnedId } from '@laurel/values/ids';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Challenge, ChallengeTerms } from '../domain/challenge.ts';
import type { CreationDecision } from '../domain/creation-decision.ts';
import { ATTEMPT, CEILINGS, LIVE_CHALLENGE, NOW, TERMS } from '../domain/example.ts';
import { CAP_WINDOW_MS } from '../domain/player-availability.ts';
import { insertAttempts, loadAttempts } from '../repository/attempts.ts';
import { completeRamp, insertChallenge, updateChallengeStatus } from '../repository/challenges.ts';
import { lockPlayers } from '../repository/player-facts.ts';
import { createAttemptReservationBatches } from './reserve-attempts.ts';

// The failpoints library reads its folder when it is loaded, which is before the code below.
const failpoints = vi.hoisted(() => {
  process.env.FAILPOINTS_DIR = `${process.env.TMPDIR ?? '/tmp'}/laurel-challenge-create-${process.pid}`;
  return process.env.FAILPOINTS_DIR;
});
beforeAll(() => mkdirSync(failpoints, { recursive: true }));
afterAll(() => rmSync(failpoints, { recursive: true, force: true }));

const TENANT = { programId: newId(), environment: 'test' } as const;
const clock = createTestClock();
const held = new AsyncDisposableStack();
let database: Database;

beforeAll(async () => {
  const scratch = held.use(await createTestDatabase({ migrations: new URL('../../migrations/', import.meta.url) }));
  database = held.use(createDatabase({ url: scratch.url, maxConnections: 8, applicationName: 'create-attempts-test' }));
});
afterAll(() => held.disposeAsync());

/** Starts a replica's reservations, and counts its round trips to the database. */
function startReplica({ turn }: { turn?: Promise<void> } = {}) {
  const { counted, trips } = countTrips(database, turn);
  const reservations = createAttemptReservationBatches({ database: counted, ceilings: CEILINGS, clock });
  const create = (
    challenge: Challenge,
    accountId: string,
    { attemptId = newOwnedId('challenge', clock()), isFresh = true }: { attemptId?: string; isFresh?: boolean } = {},
  ) =>
    reservations.submit({
      creation: {
        attemptId,
        tenant: TENANT,
        challengeId: challenge.id,
        playerRef: 'player',
        metadata: '{}',
        idempotencyUse: null,
      },
      account: { accountId, isFresh },
    });
  /** Caches the challenge by a creation of an unrelated player. */
  const warmUp = async (challenge: Challenge) => {
    await create(challenge, newId());
    Object.assign(trips, { short: 0, long: 0 });
  };
  return { create, warmUp, trips };
}

async function open(terms: Partial<ChallengeTerms> = {}, changes: Partial<Challenge> = {}): Promise<Challenge> {
  const challenge = { ...LIVE_CHALLENGE, id: newId(), tenant: TENANT, ...changes, terms: { ...TERMS, ...terms } };
  await insertChallenge(database, challenge);
  return challenge;
}

/** Inserts an award of the challenge, for an attempt of another day. */
async function claim(challenge: Challenge, accountId: string): Promise<void> {
  const attemptId = newOwnedId('challenge');
  await database.query(
    {
      text: `
        insert into attempts (id, challenge_id, account_id, player_ref, status, fee_cents, prize_cents, threshold, metadata, created_at)
        values ($1, $2, $3, 'player', 'settled', 100, 2000, 100, '{}', '2020-01-01')`,
    },
    [attemptId, challenge.id, accountId],
  );
  await database.query(
    {
      text: `
        insert into awards (id, attempt_id, challenge_id, account_id, amount_cents, status, created_at)
        values ($1, $2, $3, $4, 2000, 'paying', '2020-01-01') on conflict (challenge_id, account_id) do nothing`,
    },
    [newId(), attemptId, challenge.id, accountId],
  );
}

async function countAttempts(challenge: Challenge): Promise<bigint | undefined> {
  const text = `select count(*) from attempts where challenge_id = $1 and created_at > '2020-01-01'`;
  return (await database.query<{ count: bigint }>({ text }, [challenge.id]))[0]?.count;
}

describe('a creation on a cached challenge', () => {
  itReservesOnCachedFacts({
    contestService: 'challenge',
    creation: 'a creation on a cached challenge',
    database: () => database,
    failpoints,
    startReplica,
    open,
    loadAttempts,
  });

  it('a creation returns the attempt with its challenge, whether it is decided under lock or on the cache', async () => {
    const replica = startReplica();
    const challenge = await open();
    const created = { kind: 'created', attempt: expect.anything(), challenge };
    expect(await replica.create(challenge, newId())).toEqual(created);
    expect(await replica.create(challenge, newId(), { isFresh: false })).toEqual(created);
    expect(replica.trips).toEqual({ short: 1, long: 1 });
  });

  it('a creation on a cached challenge is refused as soon as the challenge is suspended', async () => {
    const replica = startReplica();
    const challenge = await open();
    await replica.warmUp(challenge);
    await updateChallengeStatus(database, challenge.id, 'suspended');
    expect(verdictOf(await replica.create(challenge, newId()))).toBe('challenge_not_available');
    await updateChallengeStatus(database, challenge.id, 'live');
    expect(verdictOf(await replica.create(challenge, newId()))).toBe('created');
    expect(await countAttempts(challenge)).toBe(2n);
  });

  it('a creation on a cached challenge freezes the full prize once the ramp is completed', async () => {
    const replica = startReplica();
    const challenge = await open({}, { calibrationSource: 'partner_seeded' });
    await replica.warmUp(challenge);
    await completeRamp(database, challenge.id, NOW);
    expect(await replica.create(challenge, newId())).toMatchObject({
      kind: 'created',
      attempt: { prizeCents: 2_000n },
    });
    expect(replica.trips).toEqual({ short: 1, long: 1 });
  });

  it('a cached challenge stays up to date when its row is locked or vacuumed', async () => {
    const replica = startReplica();
    const challenge = await open();
    await replica.warmUp(challenge);
    await database.query({ text: 'select from challenges where id = $1 for no key update' }, [challenge.id]);
    await database.query({ text: 'vacuum (freeze) challenges' });
    expect(verdictOf(await replica.create(challenge, newId()))).toBe('created');
    expect(replica.trips).toEqual({ short: 1, long: 0 });
  });

  it('a creation on a cached challenge is refused once the account has claimed the prize', async () => {
    const replica = startReplica();
    const challenge = await open();
    const accountId = newId();
    await replica.warmUp(challenge);
    await claim(challenge, accountId);
    expect(verdictOf(await replica.create(challenge, accountId))).toBe('challenge_already_claimed');
    expect(verdictOf(await replica.create(challenge, accountId, { isFresh: false }))).toBe('ask_wallet');
  });

  it('a creation on a cached rung is accepted only for an account that claimed the rung below', async () => {
    const replica = startReplica();
    const parent = await open();
    const rung = await open({ parentChallengeId: parent.id }, { rung: 2 });
    const [climber, newcomer] = [newId(), newId()];
    await claim(parent, climber);
    expect(verdictOf(await replica.create(rung, climber))).toBe('created');
    expect(verdictOf(await replica.create(rung, climber))).toBe('created');
    expect(replica.trips).toEqual({ short: 1, long: 1 });
    expect(verdictOf(await replica.create(rung, newcomer))).toBe('rung_locked');
  });

  it('a creation is always decided under lock if the scores of its challenge decide whether it is free', async () => {
    const replica = startReplica();
    const calibrating = await open({}, { status: 'calibrating', threshold: null });
    const topN = await open({ prizeStructure: 'top_n', topN: 1 }, { threshold: null });
    for (const challenge of [calibrating, topN, calibrating, topN]) {
      expect(await replica.create(challenge, newId())).toMatchObject({ kind: 'created', attempt: { feeCents: 0n } });
    }
    expect(replica.trips).toEqual({ short: 0, long: 4 });
  });
});

describe('a creation that waits while the sweep of pending attempts advances', () => {
  // The clock is set back an hour, because the low watermark never passes the database's time, and
  // the sweeps below advance the clock by minutes.
  const setClock = (time: number) => clock.advance(time - clock().getTime());
  beforeAll(() => setClock(Date.now() - 3_600_000));
  afterAll(() => setClock(Date.now()));

  /** Starts the sweeper of a replica whose wallet has received no fee. */
  function startSweeper(on: Database = database) {
    const logger = createLogger({ service: 'challenge', level: 'silent' });
    const opener = createAttemptOpener({ contestService: 'challenge', database, logger });
    const wallet = { resolveFee: async () => ({ kind: 'tombstoned', refusalCode: null }) } as Partial<Wallet> as Wallet;
    const { runOnce } = createPendingResolver({
      contestService: 'challenge',
      database: on,
      wallet,
      opener,
      pendingGraceMs: 30_000,
    });
    return {
      runOnce,
      async sweepForAWhile() {
        for (let run = 0; run < 4; run += 1) {
          clock.advance(60_000);
          await runOnce(clock());
        }
      },
    };
  }

  /**
   * Sweeps, and returns the final status of an attempt whose process died right after the commit.
   */
  async function attemptAfterSweeps(attemptId: string) {
    await startSweeper().sweepForAWhile();
    return (await loadAttempts(database, [attemptId])).get(attemptId);
  }

  it('a creation that waited while the sweep advanced is decided again', async () => {
    const { promise: turn, resolve: takeTurn } = Promise.withResolvers<void>();
    const replica = startReplica({ turn });
    const challenge = await open();
    const attemptId = newOwnedId('challenge');
    await replica.warmUp(challenge);
    const creation = replica.create(challenge, newId(), { attemptId });
    await vi.waitFor(() => expect(replica.trips).toEqual({ short: 1, long: 0 }), 10_000);
    await startSweeper().sweepForAWhile();
    takeTurn();
    expect(verdictOf(await creation)).toBe('created');
    expect(replica.trips).toEqual({ short: 1, long: 1 });
    expect(await attemptAfterSweeps(attemptId)).toMatchObject({ status: 'refused', closedReason: ABANDONED_CODE });
  });

  it('a sweep waits for a creation that is already writing, and finds its attempt', async () => {
    const replica = startReplica();
    const challenge = await open();
    const attemptId = newOwnedId('challenge');
    await replica.warmUp(challenge);
    const waiting = {
      text: `select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    };
    const createdAt = clock();
    let creation: Promise<CreationDecision> | undefined;
    const rival = database.transaction(async (tx) => {
      await insertAttempts(tx, [
        {
          attempt: { ...ATTEMPT, id: attemptId, challengeId: challenge.id, accountId: newId(), createdAt },
          idempotencyUse: null,
        },
      ]);
      creation = replica.create(challenge, newId(), { attemptId });
      while ((await database.query<{ count: bigint }>(waiting))[0]?.count === 0n);
      await startSweeper().sweepForAWhile();
      throw new Error('the rival gives up');
    });
    await expect(rival).rejects.toThrow('the rival gives up');
    expect(await creation).toMatchObject({ kind: 'created', attempt: { createdAt } });
    expect(await attemptAfterSweeps(attemptId)).toMatchObject({ status: 'refused', closedReason: ABANDONED_CODE });
  });

  it('a slow sweep does not raise the low watermark past a creation, even if another run raised it meanwhile', async () => {
    const { promise: turn, resolve: takeTurn } = Promise.withResolvers<void>();
    let asked = 0;
    const query: Database['query'] = async (statement, values) => {
      // The first sweep that sends this query is the slow one. The results of the two sweeps may
      // arrive in any order, because they use two connections.
      const isSlow = statement.text.includes('pg_stat_activity') && ++asked === 1;
      const rows = await database.query<never>(statement, values);
      if (isSlow) await turn;
      return rows;
    };
    const { runOnce } = startSweeper({ ...database, query });
    clock.advance(60_000);
    await runOnce(clock());
    const raised = clock();
    clock.advance(60_000);
    const slow = runOnce(clock());
    await runOnce(clock());
    takeTurn();
    await slow;
    const marks = await database.query<{ swept_until: Date }>({
      text: `select swept_until from sweep_marks where sweep = 'resolve_pending'`,
    });
    expect(marks).toEqual([{ swept_until: new Date(raised.getTime() - 30_000) }]);
  });

  it('a sweep whose clock is days ahead does not stop creations of other replicas', async () => {
    setClock(Date.now() + 86_400_000);
    await startSweeper().sweepForAWhile();
    setClock(Date.now());
    const replica = startReplica();
    const challenge = await open();
    await replica.warmUp(challenge);
    expect(verdictOf(await replica.create(challenge, newId(), { isFresh: false }))).toBe('created');
    expect(replica.trips).toEqual({ short: 1, long: 0 });
  });
});

describe('the daily cap', () => {
  it('the daily cap is not exceeded by two creations in one batch', async () => {
    const replica = startReplica();
    const challenge = await open({ dailyAttemptCap: 1 });
    await replica.warmUp(challenge);
    const [accountId, other] = [newId(), newId()];
    const decisions = await Promise.all(
      [accountId, other, accountId].map((account) => replica.create(challenge, account)),
    );
    expect(decisions.map(verdictOf)).toEqual(['created', 'created', 'attempt_cap_reached']);
    expect(replica.trips).toEqual({ short: 1, long: 1 });
  });

  it('the daily cap counts an attempt that another replica is writing at the same time', async () => {
    const replica = startReplica();
    const challenge = await open({ dailyAttemptCap: 1 });
    await replica.warmUp(challenge);
    const accountId = newId();
    const waiting = {
      text: `select count(*) from pg_locks where locktype = 'advisory' and not granted
        and database = (select oid from pg_database where datname = current_database())`,
    };
    const late = await database.transaction(async (tx) => {
      await lockPlayers(tx, [{ challengeId: challenge.id, accountId }]);
      const id = newOwnedId('challenge');
      const attempt = { ...ATTEMPT, id, challengeId: challenge.id, accountId, createdAt: clock() };
      await insertAttempts(tx, [{ attempt, idempotencyUse: null }]);
      let isDecided = false;
      const decision = replica.create(challenge, accountId).finally(() => {
        isDecided = true;
      });
      while (!isDecided && (await database.query<{ count: bigint }>(waiting))[0]?.count === 0n);
      expect(isDecided).toBe(false);
      return () => decision;
    });
    expect(verdictOf(await late())).toBe('attempt_cap_reached');
  });

  it('the daily cap counts the attempts of the last 24 hours', async () => {
    const replica = startReplica();
    const challenge = await open({ dailyAttemptCap: 1 });
    await replica.warmUp(challenge);
    const accountId = newId();
    expect(verdictOf(await replica.create(challenge, accountId))).toBe('created');
    clock.advance(CAP_WINDOW_MS - 1);
    expect(verdictOf(await replica.create(challenge, accountId))).toBe('attempt_cap_reached');
    clock.advance(1);
    expect(verdictOf(await replica.create(challenge, accountId))).toBe('created');
    expect(replica.trips).toEqual({ short: 3, long: 1 });
  });

  it('the daily cap is not exceeded by 40 concurrent creations on two replicas', async () => {
    const replicas = [startReplica(), startReplica()];
    const challenge = await open({ dailyAttemptCap: 7 });
    for (const replica of replicas) await replica.warmUp(challenge);
    const accountId = newId();
    const decisions = await Promise.all(
      Array.from({ length: 20 }).flatMap(() => replicas.map((replica) => replica.create(challenge, accountId))),
    );
    expect(decisions.map(verdictOf).filter((verdict) => verdict === 'created')).toHaveLength(7);
    expect(await countAttempts(challenge)).toBe(2n + 7n);
  });
});

describe('a replica that caches', () => {
  type Step =
    | { readonly kind: 'create'; readonly player: number; readonly isRung: boolean; readonly isFresh: boolean }
    | { readonly kind: 'claim'; readonly player: number; readonly isRung: boolean }
    | { readonly kind: 'status'; readonly status: 'live' | 'suspended' }
    | { readonly kind: 'wait' };
  const player = fc.nat(1);
  const create: fc.Arbitrary<Step> = fc.record({
    kind: fc.constant('create' as const),
    player,
    isRung: fc.boolean(),
    isFresh: fc.boolean(),
  });
  const steps = fc.array(
    fc.oneof(
      { arbitrary: create, weight: 6 },
      fc.record({ kind: fc.constant('claim' as const), player, isRung: fc.boolean() }),
      fc.record({ kind: fc.constant('status' as const), status: fc.constantFrom('live', 'suspended') }),
      fc.constant({ kind: 'wait' as const }),
    ),
    { minLength: 4, maxLength: 16 },
  );

  /** Plays the steps on a new ladder, and returns the verdict on each step. */
  async function play(script: readonly Step[], replicaOf: (step: number) => ReturnType<typeof startReplica>) {
    const bottom = await open();
    const rung = await open({ parentChallengeId: bottom.id }, { rung: 2 });
    const players = [newId(), newId()] as const;
    const verdicts: string[] = [];
    for (const [index, step] of script.entries()) {
      if (step.kind === 'wait') clock.advance(12 * 3_600_000);
      if (step.kind === 'status') await updateChallengeStatus(database, bottom.id, step.status);
      if (step.kind === 'claim') await claim(step.isRung ? rung : bottom, players[step.player] as string);
      if (step.kind === 'create') {
        const { isFresh } = step;
        const challenge = step.isRung ? rung : bottom;
        const decision = await replicaOf(index).create(challenge, players[step.player] as string, { isFresh });
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
