/**
 * Wins on a challenge that drift has suspended are held from the commit that records the win,
 * despite crashes and concurrent commits.
 */

import type { Queryable } from '@laurel/postgres';
import { AwardStatus } from '@laurel/proto/attempts';
import { ChallengeStatus } from '@laurel/proto/challenge';
import { PayoutStatus } from '@laurel/proto/wallet';
import { expectAccepted } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { describe, expect, it } from 'vitest';
import { created, type Harness, PROGRAM, recorded, useHarness, useReplica, verdictOf } from '../challenge.fixture.ts';
import { all, openWithoutCap, usePlay } from '../workers/monitor.fixture.ts';

const h = useHarness();
const other = useReplica(h);
const { play } = usePlay(h);

type Client = Harness['challenge'];

/** Writes the rows that the monitor writes when it suspends a challenge. */
async function suspendByDrift(on: Queryable, challengeId: string): Promise<void> {
  await on.query({ text: `update challenges set status = 'suspended' where id = $1` }, [challengeId]);
  await on.query(
    {
      text: `
        insert into status_changes
          (challenge_id, changed_at, from_status, to_status, cause, attempts, passes, log_ratio_above, log_ratio_below)
        values ($1, $2, 'live', 'suspended', 'drift', 50, 50, 9, 0)`,
    },
    [challengeId, h.clock()],
  );
}

const suspend = (challengeId: string) => h.database.transaction((tx) => suspendByDrift(tx, challengeId));

const setStatus = async (challengeId: string, status: ChallengeStatus) =>
  expectAccepted(await h.challenge.updateChallengeStatus({ challengeId, status, note: 'a review' }));

async function reportTo(client: Client, attemptId: string, operationId = newId()) {
  const report = {
    operationId,
    attemptId,
    tenant: PROGRAM,
    score: 100,
    evidenceJson: '',
    requestId: '',
    keyUse: undefined,
  };
  return expectAccepted(await client.reportOutcomes({ reports: [report] })).results[0]?.result;
}

async function payoutOf(awardId: string) {
  const { payout } = expectAccepted(await h.wallet.getPayout({ awardId }));
  return { status: payout?.status, reason: payout?.reason };
}

const HELD = { status: PayoutStatus.HELD, reason: 'challenge_suspended' };
const PAID = { status: PayoutStatus.PAID, reason: '' };
const REPLICAS = [
  ['the replica that opened the attempt', () => h.challenge],
  ['another replica', () => other.challenge],
] as const;

describe('a win on a challenge that drift has suspended', () => {
  it.each(REPLICAS)('a win on a challenge suspended by drift is held; reported to %s', async (_, clientOf) => {
    const { challenge, player, attempt } = await h.openAttempt();
    await suspend(challenge.id);
    const { award } = recorded(await reportTo(clientOf(), attempt.id));
    expect(award).toMatchObject({ amountCents: 2_000n, status: AwardStatus.HELD, paidAt: undefined });
    expect(await payoutOf(award?.id ?? '')).toEqual(HELD);
    expect(await h.balance(player.accountId)).toBe(100_000n - 100n);
    const { payouts } = expectAccepted(
      await h.wallet.listPayouts({ status: PayoutStatus.HELD, limit: 200, cursor: '' }),
    );
    expect(payouts).toContainEqual(expect.objectContaining({ awardId: award?.id, ...HELD }));
  });

  it('a win is held after the monitor has suspended the challenge', async () => {
    const challenge = await openWithoutCap(h);
    const [before, after] = [await h.player(), await h.player()];
    const attempts = await Promise.all(
      [before, after].map(async ({ ref }) => created(await h.create(challenge.id, ref))),
    );
    const won = recorded(await reportTo(h.challenge, attempts[0]?.id ?? '')).award;
    await play(challenge.id, all(true, 50));
    const late = recorded(await reportTo(h.challenge, attempts[1]?.id ?? '')).award;
    expect([won?.status, late?.status]).toEqual([AwardStatus.PAID, AwardStatus.HELD]);
    expect([await payoutOf(won?.id ?? ''), await payoutOf(late?.id ?? '')]).toEqual([PAID, HELD]);
  });

  it('a held win stays held after the reinstatement, until an operator releases the award', async () => {
    const { challenge, player, attempt } = await h.openAttempt();
    await suspend(challenge.id);
    const { award } = recorded(await reportTo(h.challenge, attempt.id));
    await setStatus(challenge.id, ChallengeStatus.LIVE);
    h.clock.advance(10_000);
    await h.server.sweepOnce();
    expect(await payoutOf(award?.id ?? '')).toEqual(HELD);
    expect(await h.balance(player.accountId)).toBe(100_000n - 100n);

    const next = created(await h.create(challenge.id, (await h.player()).ref));
    expect(recorded(await reportTo(h.challenge, next.id)).award?.status).toBe(AwardStatus.PAID);
    expectAccepted(await h.challenge.releaseAward({ awardId: award?.id ?? '' }));
    expect(await h.balance(player.accountId)).toBe(100_000n - 100n + 2_000n);
  });

  it('a win is held after a suspension by drift, but not after a suspension by an operator', async () => {
    const [closed, byOperator] = [await h.openAttempt(), await h.openAttempt()];
    await suspend(closed.challenge.id);
    await setStatus(closed.challenge.id, ChallengeStatus.CLOSED);
    await setStatus(byOperator.challenge.id, ChallengeStatus.SUSPENDED);
    expect(recorded(await reportTo(h.challenge, closed.attempt.id)).award?.status).toBe(AwardStatus.HELD);
    expect(recorded(await reportTo(h.challenge, byOperator.attempt.id)).award?.status).toBe(AwardStatus.PAID);
  });

  it('the sweeper holds a win that was settled during a suspension, even after the reinstatement', async () => {
    const { challenge, player, attempt } = await h.openAttempt();
    await suspend(challenge.id);
    await h.stopWallet();
    const operationId = newId();
    expect(verdictOf(await reportTo(h.challenge, attempt.id, operationId))).toBe('failure');
    await setStatus(challenge.id, ChallengeStatus.LIVE);
    await h.startWallet();
    h.clock.advance(2_000);
    await h.server.sweepOnce();
    const { award } = recorded(await reportTo(h.challenge, attempt.id, operationId));
    expect(await payoutOf(award?.id ?? '')).toEqual(HELD);
    expect(await h.balance(player.accountId)).toBe(100_000n - 100n);
  });
});

describe('a win that is reported while the challenge is being suspended', () => {
  const waiting = {
    text: `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  };

  it.each(REPLICAS)(
    'a win that races with the suspension waits for the commit and is held; reported to %s',
    async (_, clientOf) => {
      const { challenge, attempt } = await h.openAttempt();
      const reported = await h.database.transaction(async (tx) => {
        await suspendByDrift(tx, challenge.id);
        const report = reportTo(clientOf(), attempt.id);
        while ((await h.database.query(waiting)).length === 0);
        return { report };
      });
      const { award } = recorded(await reported.report);
      expect(await payoutOf(award?.id ?? '')).toEqual(HELD);
    },
  );

  it.each(REPLICAS)(
    'a win that races with a suspension that is rolled back is paid; reported to %s',
    async (_, clientOf) => {
      const { challenge, attempt } = await h.openAttempt();
      let report: ReturnType<typeof reportTo> | undefined;
      const suspension = h.database.transaction(async (tx) => {
        await suspendByDrift(tx, challenge.id);
        report = reportTo(clientOf(), attempt.id);
        while ((await h.database.query(waiting)).length === 0);
        throw new Error('the process dies');
      });
      await expect(suspension).rejects.toThrow('the process dies');
      expect(recorded(await report).award?.status).toBe(AwardStatus.PAID);
    },
  );
});

describe('the audit of suspensions', () => {
  it('the audit finds a suspension by drift that is missing in the history', async () => {
    const { id } = await h.open();
    const mark = (value: boolean) =>
      h.database.query({ text: 'update challenges set suspended_by_drift = $2 where id = $1' }, [id, value]);
    await mark(true);
    expect(await h.violations()).toContainEqual(
      expect.stringContaining('suspension_by_drift_follows_from_its_history'),
    );
    await mark(false);
  });
});
