/**
 * The audit across services finds each kind of damage, and finds nothing while rounds are played
 * and end.
 */
import { expectAccepted } from '@laurel/testing';
import { describe, expect, it } from 'vitest';
import { play } from '../rounds.fixture.ts';
import { created, PROGRAM, useHarness } from '../tournament.fixture.ts';

const h = useHarness();

/**
 * The rounds of one player during one audit. Without a limit, a slow audit would get more rows and
 * become slower still.
 */
const MOST_DURING_ONE_AUDIT = 8;

/** The checks that fail while the damage lasts. */
async function failing(damage: string, repair: string, values: readonly unknown[]): Promise<readonly string[]> {
  expect(await h.violations()).toEqual([]);
  await h.database.query({ text: damage }, values);
  const found = (await h.violations()).map((violation) => violation.split(':')[0] ?? '');
  // The damage is all in the sandbox.
  expect(await h.liveViolations()).toEqual([]);
  await h.database.query({ text: repair }, values);
  return found;
}

const close = async (roundId: string) =>
  expectAccepted(await h.tournament.closeRound({ tenant: PROGRAM, roundId })).round;

describe('the audit', () => {
  it('the audit finds nothing in consistent data and lists every check once', async () => {
    const { checks } = expectAccepted(await h.tournament.audit({}));
    const ids = [...checks, ...expectAccepted(await h.wallet.audit({})).checks].map(({ id }) => id);
    expect(checks.map((check) => check.violations)).toEqual(checks.map(() => 0n));
    expect(new Set(ids).size).toBe(ids.length);
    expect(checks.length).toBeGreaterThanOrEqual(20);
  });

  it('the audit finds an attempt that differs from the record of the wallet', async () => {
    const { attempt } = await h.openAttempt();
    const update = (what: string) => `update attempts set ${what} where id = $1`;
    expect(await failing(update('fee_cents = 1'), update('fee_cents = 500'), [attempt.id])).toContain(
      'visible_entry_has_its_fee',
    );
    const refuse = update(`status = 'refused', closed_reason = 'blocked'`);
    expect(await failing(refuse, update(`status = 'open', closed_reason = null`), [attempt.id])).toContain(
      'posted_entry_fee_has_its_attempt',
    );
    expect(await failing(update(`status = 'expired'`), update(`status = 'open'`), [attempt.id])).toEqual([
      'entrant_has_a_fee_that_was_not_returned',
      'entry_is_refunded_exactly_when_ended',
    ]);
  });

  it('the audit finds a missing refund of a cancelled round, and an undue refund of a settled round', async () => {
    const settled = await h.openAttempt();
    await h.report(settled.attempt.id, 1);
    await close(settled.round.id);
    const cancelled = await h.openAttempt({ minEntrants: 2 });
    await h.report(cancelled.attempt.id, 1);
    await close(cancelled.round.id);
    await h.database.query({ text: 'alter table rounds disable trigger all' });
    const set = (status: string) => `update rounds set status = '${status}', settled_at = null where id = $1`;
    const kept = `update rounds set status = 'settled', settled_at = created_at where id = $1`;
    expect(await failing(kept, set('cancelled'), [cancelled.round.id])).toContain(
      'entry_is_refunded_exactly_when_ended',
    );
    const [{ settled_at: settledAt } = { settled_at: null }] = await h.database.query<{ settled_at: Date | null }>(
      { text: 'select settled_at from rounds where id = $1' },
      [settled.round.id],
    );
    const restore = `update rounds set status = 'settled', settled_at = $2::timestamptz where id = $1`;
    const cancel = `update rounds set status = 'cancelled', settled_at = null where id = $1 and $2::timestamptz is not null`;
    expect(await failing(cancel, restore, [settled.round.id, settledAt])).toContain(
      'entry_is_refunded_exactly_when_ended',
    );
    await h.database.query({ text: 'alter table rounds enable trigger all' });
  });

  it('the audit finds a purse whose payout differs, and one that no rank won', async () => {
    const { round, attempt } = await h.openAttempt();
    await h.report(attempt.id, 1);
    await close(round.id);
    const update = (what: string) => `update round_payouts set ${what} where round_id = $1`;
    expect(await failing(update('amount_cents = 1'), update('amount_cents = 10000'), [round.id])).toContain(
      'purse_has_its_payout',
    );
    const deny = update(`status = 'denied', paid_at = null`);
    expect(await failing(deny, update(`status = 'paid', paid_at = created_at`), [round.id])).toEqual([
      'purse_has_its_payout',
    ]);

    const [{ row } = { row: '' }] = await h.database.query<{ row: string }>(
      { text: 'select row_to_json(p)::text as row from round_payouts p where round_id = $1' },
      [round.id],
    );
    const forget = 'delete from round_payouts where round_id = $1 and $2::json is not null';
    const restore = `
      insert into round_payouts select * from json_populate_record(null::round_payouts, $2::json) where round_id = $1`;
    expect(await failing(forget, restore, [round.id, row])).toContain('purse_payout_has_its_rank');
  });

  it('the audit finds nothing while rounds are played, closed, settled and cancelled', async () => {
    const players = await Promise.all(Array.from({ length: 4 }, () => h.player()));
    for (let run = 0; run < 12; run += 1) {
      let isAudited = false;
      const traffic = Promise.all(
        players.map(async (player, index) => {
          for (let count = 0; count < MOST_DURING_ONE_AUDIT && !isAudited; count += 1) {
            const round = await h.openRound({ minEntrants: 1 + (index % 2) });
            await play(h, round.id, player, index);
            created(await h.create(round.id, player.ref));
            await close(round.id);
          }
        }),
      );
      expect(await h.violations()).toEqual([]);
      isAudited = true;
      await traffic;
    }
  });
});
