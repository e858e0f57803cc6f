/**
 * Tests, for both contest services, attempts that a crash left behind and creations that are
 * repeated after the attempt has ended. Each service tests beside its handlers what it counts or
 * records with an attempt.
 */
import type { Database } from '@laurel/postgres';
import type { Tenant } from '@laurel/proto/common';
import { expect, it } from 'vitest';
import type { TestClock } from './clock.ts';
import type { ContestAttempts } from './contest-attempts.ts';
import { recorded, verdictOf } from './contest-results.ts';
import { expectAccepted } from './wallet.ts';

type CreatedAttempt = { readonly id: string; readonly createdAt: Date | undefined };

type Report =
  | { readonly $case: 'outcome'; readonly value: { readonly score: number } }
  | { readonly $case: 'refused'; readonly value: { readonly code: string } }
  | { readonly $case: 'failure'; readonly value: unknown }
  | undefined;

type Sweeping = { readonly server: { sweepOnce(): Promise<void> } };

/**
 * A contest service under test. The harness and the service exist only once the file's tests run.
 */
export type TakeoverContest<Attempt extends CreatedAttempt> = ContestAttempts<Attempt> & {
  readonly harness: Sweeping & {
    readonly database: Database;
    readonly clock: TestClock;
    startReplica(): Promise<Sweeping & AsyncDisposable>;
    balance(accountId: string): Promise<bigint>;
  };
  service(): {
    getAttempt(request: { tenant: Tenant; attemptId: string }): Promise<object>;
    expireAttempt(request: { tenant: Tenant; attemptId: string }): Promise<object>;
    voidAttempt(request: { attemptId: string; reason: string }): Promise<object>;
  };
  readonly tenant: Tenant;
  /** A player's funds at the start, and the price of one attempt. */
  readonly fundsCents: bigint;
  readonly feeCents: bigint;
  readonly ttlMs: number;
  /** Whether `open` is written before the response to a creation. */
  readonly answersOpen: boolean;
  /** Reports a score of 1, which wins nothing. */
  report(attemptId: string): Promise<Report>;
  /**
   * Puts the attempt back into the state before the commit that opened it, as if a crash had lost
   * that commit.
   */
  forget(attemptId: string): Promise<void>;
};

type StoredStatus = { readonly status: string; readonly closed_reason: string | null; readonly fee_generation: number };

/** Returns the stored status of an attempt; undefined if the attempt does not exist. */
export async function statusOf(database: Database, attemptId: string): Promise<StoredStatus | undefined> {
  const text = 'select status, closed_reason, fee_generation from attempts where id = $1';
  return (await database.query<StoredStatus>({ text }, [attemptId]))[0];
}

export function itContinuesAttempts<Attempt extends CreatedAttempt>(tested: TakeoverContest<Attempt>): void {
  const { harness: h, service, tenant, fundsCents, feeCents, openAttempt, pendingAttempt, report, forget } = tested;
  const stored = (attemptId: string) => statusOf(h.database, attemptId);

  it('a repeated create charges under a new fee id if the first fee id has a tombstone', async () => {
    const { player, attemptId, again } = await pendingAttempt();
    h.clock.advance(59_999);
    await h.server.sweepOnce();
    expect(await stored(attemptId)).toMatchObject({ status: 'pending' });
    h.clock.advance(1);
    await h.server.sweepOnce();
    expect(await stored(attemptId)).toEqual({ status: 'refused', closed_reason: 'abandoned', fee_generation: 0 });
    expect(await service().getAttempt({ tenant, attemptId })).toMatchObject({ code: 'not_found' });

    expect((await again(attemptId)).createdAt).toEqual(h.clock());
    expect(await stored(attemptId)).toEqual({
      status: tested.answersOpen ? 'open' : expect.stringMatching(/^(?:pending|open)$/),
      closed_reason: null,
      fee_generation: 1,
    });
    expect(await h.balance(player.accountId)).toBe(fundsCents - 2n * feeCents);

    h.clock.advance(tested.ttlMs);
    await h.server.sweepOnce();
    expect(await stored(attemptId)).toMatchObject({ status: 'expired' });
    expect(await h.balance(player.accountId)).toBe(fundsCents);
  });

  it('a repeated create returns the attempt as created, even after it was settled, expired or voided', async () => {
    const { attempt: settled, again } = await openAttempt();
    const [expired, voided] = [await again(), await again()];
    recorded(await report(settled.id));
    expectAccepted(await service().expireAttempt({ tenant, attemptId: expired.id }));
    expectAccepted(await service().voidAttempt({ attemptId: voided.id, reason: 'a test' }));
    for (const attempt of [settled, expired, voided]) expect(await again(attempt.id)).toEqual(attempt);
  });

  it('a pending attempt is not found until its fee is posted', async () => {
    const { attemptId, again } = await pendingAttempt();
    expect(await service().getAttempt({ tenant, attemptId })).toMatchObject({ code: 'not_found' });
    expect(verdictOf(await report(attemptId))).toBe('not_found');
    expect(await service().voidAttempt({ attemptId, reason: 'x' })).toMatchObject({ code: 'not_found' });
    expect(await service().expireAttempt({ tenant, attemptId })).toMatchObject({ code: 'not_found' });
    await again(attemptId);
    expect(recorded(await report(attemptId)).score).toBe(1);
  });

  it('a pending attempt is found at its deadline even if the sweep of pending attempts missed it', async () => {
    const { player, attempt } = await openAttempt();
    h.clock.advance(120_000);
    await forget(attempt.id);
    const text = `
      insert into sweep_marks values ('resolve_pending', $1)
      on conflict (sweep) do update set swept_until = excluded.swept_until`;
    await h.database.query({ text }, [h.clock()]);
    // The replica's sweep starts at the stored low watermark.
    await using replica = await h.startReplica();
    await replica.server.sweepOnce();
    expect(await stored(attempt.id)).toMatchObject({ status: 'pending' });
    h.clock.advance(tested.ttlMs);
    await replica.server.sweepOnce();
    await replica.server.sweepOnce();
    expect(await stored(attempt.id)).toMatchObject({ status: 'expired' });
    expect(await h.balance(player.accountId)).toBe(fundsCents);
  });
}
