/**
 * Tests of reservations that are decided on cached facts (`commits/reserve-attempts.ts` of both
 * contest services). Each service runs these tests on its own statements and tables, and adds tests
 * of its own rules.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRefused, type Refused } from '@laurel/errors';
import type { Database } from '@laurel/postgres';
import { type ContestServiceName, newId, newOwnedId } from '@laurel/values/ids';
import { expect, it } from 'vitest';

type Attempt = { readonly id: string };

type Decision =
  | Refused
  | { readonly kind: 'ask_wallet' }
  | { readonly kind: 'created' | 'known'; readonly attempt: Attempt };

/**
 * How often a replica used the single round trip (`short`), and how often the transaction (`long`).
 */
type Trips = { short: number; long: number };

/** A replica that reserves attempts of one contest service. */
type Replica<Contest> = {
  readonly trips: Trips;
  create(
    contest: Contest,
    accountId: string,
    options?: { readonly attemptId?: string; readonly isFresh?: boolean },
  ): Promise<Decision>;
  /**
   * Makes the replica cache the contest, by a creation for an unrelated player. `trips` counts from
   * then on.
   */
  warmUp(contest: Contest): Promise<void>;
};

/** A contest service under test. The database exists only once the file's tests run. */
export type ReservingContest<Contest> = {
  readonly contestService: ContestServiceName;
  /** The words for a creation on cached facts in test titles. */
  readonly creation: string;
  readonly database: () => Database;
  /** The folder from which this process reads failpoints. */
  readonly failpoints: string;
  startReplica(): Replica<Contest>;
  open(): Promise<Contest>;
  loadAttempts(on: Database, ids: readonly string[]): Promise<ReadonlyMap<string, Attempt>>;
};

/** Counts a replica's trips to its database. The single round trip waits for `turn`. */
export function countTrips(
  database: Database,
  turn?: Promise<void>,
): { readonly counted: Database; readonly trips: Trips } {
  const trips = { short: 0, long: 0 };
  const counted: Database = {
    ...database,
    batch: async (...args) => {
      trips.short += 1;
      await turn;
      return database.batch(...args);
    },
    transaction: (...args) => {
      trips.long += 1;
      return database.transaction(...args);
    },
  };
  return { counted, trips };
}

/** Returns `created`, `known`, `ask_wallet`, or the code of the refusal. */
export function verdictOf(decision: Decision): string {
  return isRefused(decision) ? decision.code : decision.kind;
}

export function itReservesOnCachedFacts<Contest>(tested: ReservingContest<Contest>): void {
  const { contestService, creation, database, failpoints, startReplica, open } = tested;
  const load = async (id: string) => (await tested.loadAttempts(database(), [id])).get(id);

  it(`${creation} takes one round trip to the database`, async () => {
    const replica = startReplica();
    const contest = await open();
    const first = await replica.create(contest, newId());
    expect(replica.trips).toEqual({ short: 0, long: 1 });

    const decision = await replica.create(contest, newId(), { isFresh: false });
    expect(replica.trips).toEqual({ short: 1, long: 1 });
    for (const created of [first, decision]) {
      if (isRefused(created) || created.kind !== 'created') throw new Error(`not created: ${verdictOf(created)}`);
      expect(await load(created.attempt.id)).toEqual(created.attempt);
    }
  });

  it.each([
    [`${contestService}.create.before-commit`, 'created'],
    [`${contestService}.create.after-commit`, 'known'],
  ])(`${creation} that fails at %s is %s when it is retried`, async (failpoint, verdict) => {
    const replica = startReplica();
    const contest = await open();
    const [accountId, attemptId] = [newId(), newOwnedId(contestService)];
    await replica.warmUp(contest);
    writeFileSync(join(failpoints, failpoint), 'throw');
    await expect(replica.create(contest, accountId, { attemptId })).rejects.toThrow(failpoint);
    expect(replica.trips).toEqual({ short: 1, long: 0 });
    expect((await load(attemptId)) !== undefined).toBe(verdict === 'known');
    expect(verdictOf(await replica.create(contest, accountId, { attemptId }))).toBe(verdict);
  });

  it(`${creation} returns the same attempt when its id is sent again to any replica`, async () => {
    const replicas = [startReplica(), startReplica()];
    const contest = await open();
    const [accountId, attemptId] = [newId(), newOwnedId(contestService)];
    for (const replica of replicas) await replica.warmUp(contest);
    const decisions = await Promise.all(
      [...replicas, ...replicas].map((replica) => replica.create(contest, accountId, { attemptId })),
    );
    expect(decisions.map(verdictOf).toSorted()).toEqual(['created', 'known', 'known', 'known']);
    const attempts = decisions.map((decision) => 'attempt' in decision && decision.attempt);
    for (const attempt of attempts) expect(attempt).toEqual(attempts[0]);

    const text = `update attempts set status = 'refused', closed_reason = 'abandoned' where id = $1`;
    await database().query({ text }, [attemptId]);
    expect(await replicas[0]?.create(contest, accountId, { attemptId })).toMatchObject({
      kind: 'created',
      attempt: { id: attemptId, feeGeneration: 1, status: 'pending' },
    });
  });
}
