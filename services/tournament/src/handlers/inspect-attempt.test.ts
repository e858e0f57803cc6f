/** An attempt as operators inspect it before they act: inspecting it changes nothing in any state. */
import { newOwnedId } from '@laurel/ids';
import { AttemptStatus } from '@laurel/proto/tournament';
import { ok } from '@laurel/testing';
import { describe, expect, it } from 'vitest';
import { created, FEE, FUNDS, HOUR_MS, PROGRAM, recorded, useHarness } from '../tournament.fixture.ts';

const h = useHarness();

async function inspect(attemptId: string) {
  return ok(await h.tournament.inspectAttempt({ attemptId })).attempt;
}

/** The rows of this service about the attempt. */
async function rowsOf(attemptId: string) {
  const [rows] = await h.database.query<{ rows: unknown }>(
    {
      text: `
select array(select row_to_json(a) from attempts a where a.id = $1) as attempt,
  array(select row_to_json(e) from entries e join attempts a on a.entry_id = e.id where a.id = $1) as entry,
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
    const { round, player, attempt: open } = await h.openAttempt({ attemptCap: 10 });
    const [settled, expired, voided] = [
      created(await h.create(round.id, player.ref)),
      created(await h.create(round.id, player.ref)),
      created(await h.create(round.id, player.ref)),
    ];
    const outcome = recorded(await h.report(settled.id, 99));
    ok(await h.tournament.expireAttempt({ tenant: PROGRAM, attemptId: expired.id }));
    ok(await h.tournament.voidAttempt({ attemptId: voided.id, reason: 'a test' }));
    expect(await inspect(open.id)).toEqual(open);
    expect(await inspect(settled.id)).toEqual({ ...settled, status: AttemptStatus.SETTLED, outcome });
    expect(await inspect(expired.id)).toEqual({ ...expired, status: AttemptStatus.EXPIRED });
    expect(await inspect(voided.id)).toEqual({ ...voided, status: AttemptStatus.VOIDED });
    expect(await h.tournament.inspectAttempt({ attemptId: newOwnedId('tournament') })).toMatchObject({
      code: 'not_found',
    });
  });

  it('an attempt that an operator inspects stays open past its deadline, and its fee stays charged', async () => {
    const { attempt, player } = await h.openAttempt();
    await h.server.sweepOnce();
    h.clock.advance(HOUR_MS);
    expect(await expectUntouched(attempt.id, () => inspect(attempt.id))).toEqual(attempt);
    expect(await h.balance(player.accountId)).toBe(FUNDS - FEE);
  });

  it('an attempt that an operator inspects stays open after the end of its round, and its fee stays charged', async () => {
    const round = await h.openRound({}, { lengthMs: HOUR_MS / 2 });
    const player = await h.player();
    const attempt = created(await h.create(round.id, player.ref));
    h.clock.advance(HOUR_MS / 2);
    expect(await expectUntouched(attempt.id, () => inspect(attempt.id))).toEqual(attempt);
    expect(await h.balance(player.accountId)).toBe(FUNDS - FEE);
  });

  it('an attempt that an operator inspects is open while the process that charged its fee has not recorded it yet', async () => {
    const { attempt } = await h.openAttempt();
    await h.server.sweepOnce();
    const setStatus = (status: string) =>
      h.database.query({ text: 'update attempts set status = $2 where id = $1' }, [attempt.id, status]);
    await setStatus('pending');
    expect(await expectUntouched(attempt.id, () => inspect(attempt.id))).toEqual(attempt);
    await setStatus('open');
  });

  it('an attempt that an operator inspects is not found while its fee is not charged, and can still be started', async () => {
    const { round, player, attemptId } = await h.pendingAttempt();
    // Past the grace, after which a partner's read would end it permanently.
    h.clock.advance(120_000);
    const look = () => h.tournament.inspectAttempt({ attemptId });
    expect(await expectUntouched(attemptId, look)).toMatchObject({ code: 'not_found' });
    expect(created(await h.create(round.id, player.ref, attemptId)).status).toBe(AttemptStatus.OPEN);
    expect(await h.balance(player.accountId)).toBe(FUNDS - 2n * FEE);
  });
});
