/**
 * An attempt as operators inspect it before they act. Inspecting an attempt changes nothing,
 * whatever state the attempt is in.
 */
import { type Attempt, AwardStatus } from '@laurel/proto/attempts';
import { expectAccepted } from '@laurel/testing';
import { createAttemptInspector, type InspectedContest, itInspectsAttempts } from '@laurel/testing/inspect-attempt';
import { describe, expect, it } from 'vitest';
import { created, HOUR_MS, PROGRAM, recorded, useHarness, verdictOf } from '../challenge.fixture.ts';

const h = useHarness();

const OWNER: InspectedContest<Attempt> = {
  contestService: 'challenge',
  tenant: PROGRAM,
  harness: h,
  service: () => h.challenge,
  fundsCents: 100_000n,
  feeCents: 100n,
  ttlMs: HOUR_MS,
  ownRows: 'array(select row_to_json(w) from awards w where w.attempt_id = $1)',
  async openAttempt() {
    const { challenge, player, attempt } = await h.openAttempt({ dailyAttemptCap: 10 });
    return {
      attempt,
      player,
      again: async (attemptId) => created(await h.create(challenge.id, player.ref, attemptId)),
    };
  },
  async pendingAttempt() {
    const { challenge, player, attemptId } = await h.pendingAttempt();
    return { attemptId, player, again: async (id) => created(await h.create(challenge.id, player.ref, id)) };
  },
  reportOutcome: async (attemptId) => recorded(await h.report(attemptId, 99)),
};

const { inspect, expectUntouched } = createAttemptInspector(OWNER);

describe('an attempt that an operator inspects', () => {
  itInspectsAttempts(OWNER);

  it('an inspection shows an unpaid prize as unpaid and does not pay it', async () => {
    const { attempt, player } = await h.openAttempt();
    await h.stopWallet();
    expect(verdictOf(await h.report(attempt.id, 100))).toBe('failure');
    await h.startWallet();
    const inspected = await expectUntouched(attempt.id, () => inspect(attempt.id));
    expect(inspected?.outcome?.award).toMatchObject({ status: AwardStatus.HELD, paidAt: undefined });
    expect(await h.balance(player.accountId)).toBe(99_900n);

    const paid = expectAccepted(await h.challenge.getAttempt({ tenant: PROGRAM, attemptId: attempt.id })).attempt;
    expect(paid?.outcome?.award?.status).toBe(AwardStatus.PAID);
    await h.server.sweepOnce();
    await h.database.query({ text: `update awards set status = 'paying', paid_at = null where attempt_id = $1` }, [
      attempt.id,
    ]);
    // The wallet has paid the award, but this service has lost the record of the payout. The award
    // is shown as paid.
    expect(await expectUntouched(attempt.id, () => inspect(attempt.id))).toEqual(paid);
    h.clock.advance(2_000);
    await h.server.sweepOnce();
  });
});
