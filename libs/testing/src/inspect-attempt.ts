/**
 * Tests, for both contest services, what an operator sees of an attempt before acting. Inspecting
 * an attempt changes nothing.
 */
import type { Refused } from '@laurel/errors';
import type { Database } from '@laurel/postgres';
import type { Tenant } from '@laurel/proto/common';
import { ATTEMPT_STATUSES } from '@laurel/proto/enum-names';
import { type ContestServiceName, newOwnedId } from '@laurel/values/ids';
import { expect, it } from 'vitest';
import type { TestClock } from './clock.ts';
import type { ContestAttempts } from './contest-attempts.ts';
import { expectAccepted } from './wallet.ts';

type InspectedAttempt = { readonly id: string; readonly status: number };

type Service<Attempt> = {
  inspectAttempt(request: { attemptId: string }): Promise<{ readonly attempt?: Attempt | undefined } | Refused>;
  expireAttempt(request: { tenant: Tenant; attemptId: string }): Promise<object>;
  voidAttempt(request: { attemptId: string; reason: string }): Promise<object>;
};

/**
 * A contest service under test. The harness and the service exist only once the file's tests run.
 */
export type InspectedContest<Attempt extends InspectedAttempt> = ContestAttempts<Attempt> & {
  readonly contestService: ContestServiceName;
  readonly tenant: Tenant;
  readonly harness: {
    readonly database: Database;
    readonly clock: TestClock;
    readonly server: { sweepOnce(): Promise<void> };
    balance(accountId: string): Promise<bigint>;
  };
  service(): Service<Attempt>;
  /** A player's funds at the start, and the price of one attempt. */
  readonly fundsCents: bigint;
  readonly feeCents: bigint;
  readonly ttlMs: number;
  /** SQL for an array of all rows of the service that belong to the attempt $1. */
  readonly ownRows: string;
  /** Reports an outcome that wins nothing. */
  reportOutcome(attemptId: string): Promise<object>;
};

export type AttemptInspector<Attempt> = {
  inspect(attemptId: string): Promise<Attempt | undefined>;
  /** Runs the work, which must leave every row about the attempt unchanged; returns its result. */
  expectUntouched<Result>(attemptId: string, work: () => Promise<Result>): Promise<Result>;
};

export function createAttemptInspector<Attempt extends InspectedAttempt>(
  tested: InspectedContest<Attempt>,
): AttemptInspector<Attempt> {
  async function rowsOf(attemptId: string) {
    const [rows] = await tested.harness.database.query<{ rows: unknown }>(
      {
        text: `
select array(select row_to_json(a) from attempts a where a.id = $1) as attempt, ${tested.ownRows} as own,
  array(select row_to_json(r) from refunds_due r where r.attempt_id = $1) as refund`,
      },
      [attemptId],
    );
    return rows;
  }
  return {
    inspect: async (attemptId) => expectAccepted(await tested.service().inspectAttempt({ attemptId })).attempt,
    async expectUntouched(attemptId, work) {
      const before = await rowsOf(attemptId);
      const result = await work();
      expect(await rowsOf(attemptId)).toEqual(before);
      return result;
    },
  };
}

/** The tests that hold for both contest services. */
export function itInspectsAttempts<Attempt extends InspectedAttempt>(tested: InspectedContest<Attempt>): void {
  const { harness: h, tenant, fundsCents, feeCents } = tested;
  const { inspect, expectUntouched } = createAttemptInspector(tested);

  it('an operator sees the same status of an attempt as the partner', async () => {
    const { attempt: open, again } = await tested.openAttempt();
    const [settled, expired, voided] = [await again(), await again(), await again()];
    const outcome = await tested.reportOutcome(settled.id);
    expectAccepted(await tested.service().expireAttempt({ tenant, attemptId: expired.id }));
    expectAccepted(await tested.service().voidAttempt({ attemptId: voided.id, reason: 'a test' }));
    expect(await inspect(open.id)).toEqual(open);
    expect(await inspect(settled.id)).toEqual({ ...settled, status: ATTEMPT_STATUSES.settled, outcome });
    expect(await inspect(expired.id)).toEqual({ ...expired, status: ATTEMPT_STATUSES.expired });
    expect(await inspect(voided.id)).toEqual({ ...voided, status: ATTEMPT_STATUSES.voided });
    expect(await tested.service().inspectAttempt({ attemptId: newOwnedId(tested.contestService) })).toMatchObject({
      code: 'not_found',
    });
  });

  it('inspecting an attempt past its deadline leaves the attempt open', async () => {
    const { attempt, player } = await tested.openAttempt();
    await h.server.sweepOnce();
    h.clock.advance(tested.ttlMs);
    expect(await expectUntouched(attempt.id, () => inspect(attempt.id))).toEqual(attempt);
    expect(await h.balance(player.accountId)).toBe(fundsCents - feeCents);
  });

  it('an operator sees an attempt as open when the wallet has charged its fee', async () => {
    const { attempt } = await tested.openAttempt();
    await h.server.sweepOnce();
    const setStatus = (status: string) =>
      h.database.query({ text: 'update attempts set status = $2 where id = $1' }, [attempt.id, status]);
    await setStatus('pending');
    expect(await expectUntouched(attempt.id, () => inspect(attempt.id))).toEqual(attempt);
    await setStatus('open');
  });

  it('an operator does not find an attempt whose fee is not charged', async () => {
    const { player, attemptId, again } = await tested.pendingAttempt();
    // The grace has passed, so a partner's read would now end the attempt permanently.
    h.clock.advance(120_000);
    const look = () => tested.service().inspectAttempt({ attemptId });
    expect(await expectUntouched(attemptId, look)).toMatchObject({ code: 'not_found' });
    expect((await again(attemptId)).status).toBe(ATTEMPT_STATUSES.open);
    expect(await h.balance(player.accountId)).toBe(fundsCents - 2n * feeCents);
  });
}
