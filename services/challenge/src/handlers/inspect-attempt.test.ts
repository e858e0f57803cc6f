/** An attempt as operators inspect it before they act: inspecting it changes nothing in any state. */
import { newOwnedId } from '@laurel/ids';
import { AttemptStatus, AwardStatus } from '@laurel/proto/challenge';
import { ok } from '@laurel/testing';
import { describe, expect, it } from 'vitest';
import { created, HOUR_MS, PROGRAM, recorded, useHarness, verdictOf } from '../challenge.fixture.ts';

const h = useHarness();

async function inspect(attemptId: string) {
  return ok(await h.challenge.inspectAttempt({ attemptId })).attempt;
}

/** The rows of this service about the attempt. */
async function rowsOf(attemptId: string) {
  const [rows] = await h.database.query<{ rows: unknown }>(
    {
      text: `
select array(select row_to_json(a) from attempts a where a.id = $1) as attempt,
  array(select row_to_json(w) from awards w where w.attempt_id = $1) as award,
  array(select row_to_json(r) from refunds_due r where r.attempt_id = $1) as refund`,
    },
    [attemptId],
  );
  return rows;
}

async function expectUntouched<Result>(attemptId: string, look: () => Promise<Result>): Promise<Result> {
  const before = await rowsOf(attemptId);
  const result = await look();
  expect(await rowsOf(attemptId)).toEqual(before);
  return result;
}

describe('an attempt that an operator inspects', () => {
  it('an attempt that an operator inspects has the status that a partner reads: open, settled, expired, voided', async () => {
    const { challenge, player, attempt: open } = await h.openAttempt({ dailyAttemptCap: 10 });
    const [settled, expired, voided] = [
      created(await h.create(challenge.id, player.ref)),
      created(await h.create(challenge.id, player.ref)),
      created(await h.create(challenge.id, player.ref)),
    ];
    const outcome = recorded(await h.report(settled.id, 99));
    ok(await h.challenge.expireAttempt({ tenant: PROGRAM, attemptId: expired.id }));
    ok(await h.challenge.voidAttempt({ attemptId: voided.id, reason: 'a test' }));
    expect(await inspect(open.id)).toEqual(open);
    expect(await inspect(settled.id)).toEqual({ ...settled, status: AttemptStatus.SETTLED, outcome });
    expect(await inspect(expired.id)).toEqual({ ...expired, status: AttemptStatus.EXPIRED });
    expect(await inspect(voided.id)).toEqual({ ...voided, status: AttemptStatus.VOIDED });
    expect(await h.challenge.inspectAttempt({ attemptId: newOwnedId('challenge') })).toMatchObject({
      code: 'not_found',
    });
  });

  it('an attempt that an operator inspects stays open past its deadline, and its fee stays charged', async () => {
    const { attempt, player } = await h.openAttempt();
    await h.server.sweepOnce();
    h.clock.advance(HOUR_MS);
    expect(await expectUntouched(attempt.id, () => inspect(attempt.id))).toEqual(attempt);
    expect(await h.balance(player.accountId)).toBe(99_900n);
  });

  it('an attempt that an operator inspects is open while the process that charged its fee has not recorded it yet', async () => {
    const { attempt } = await h.openAttempt();
    await h.server.sweepOnce();
    await h.database.query({ text: `update attempts set status = 'pending' where id = $1` }, [attempt.id]);
    expect(await expectUntouched(attempt.id, () => inspect(attempt.id))).toEqual(attempt);
  });

  it('an attempt that an operator inspects is not found while its fee is not charged, and can still be started', async () => {
    const { challenge, player, attemptId } = await h.pendingAttempt();
    // Past the grace, after which a partner's read would end it permanently.
    h.clock.advance(HOUR_MS / 2);
    const look = () => h.challenge.inspectAttempt({ attemptId });
    expect(await expectUntouched(attemptId, look)).toMatchObject({ code: 'not_found' });
    expect(created(await h.create(challenge.id, player.ref, attemptId)).status).toBe(AttemptStatus.OPEN);
    expect(await h.balance(player.accountId)).toBe(99_800n);
  });

  it('an attempt that an operator inspects shows a prize that is still to be paid as not paid, and does not pay it', async () => {
    const { attempt, player } = await h.openAttempt();
    await h.stopWallet();
    expect(verdictOf(await h.report(attempt.id, 100))).toBe('failure');
    await h.startWallet();
    const inspected = await expectUntouched(attempt.id, () => inspect(attempt.id));
    expect(inspected?.outcome?.award).toMatchObject({ status: AwardStatus.HELD, paidAt: undefined });
    expect(await h.balance(player.accountId)).toBe(99_900n);

    const paid = ok(await h.challenge.getAttempt({ tenant: PROGRAM, attemptId: attempt.id })).attempt;
    expect(paid?.outcome?.award?.status).toBe(AwardStatus.PAID);
    await h.server.sweepOnce();
    await h.database.query({ text: `update awards set status = 'paying', paid_at = null where attempt_id = $1` }, [
      attempt.id,
    ]);
    // The wallet has paid it, and the record of that was lost: it is shown as the wallet has it.
    expect(await expectUntouched(attempt.id, () => inspect(attempt.id))).toEqual(paid);
    h.clock.advance(2_000);
    await h.server.sweepOnce();
  });
});
