/** The audit finds each kind of damage. The tests damage the rows by SQL. */

import { expectAccepted } from '@laurel/testing';
import { newId, newOwnedId } from '@laurel/values/ids';
import { describe, expect, it } from 'vitest';
import { created, PROGRAM, recorded, useHarness } from '../challenge.fixture.ts';

const h = useHarness();

/**
 * The attempts of one player during one audit. Without a limit, a slow audit would get more rows
 * and become slower still, until the players have no funds left.
 */
const MOST_DURING_ONE_AUDIT = 25;

/** Damages rows, and repairs them again. Returns the checks that failed meanwhile. */
async function failing(damage: string, repair: string, values: readonly unknown[]): Promise<readonly string[]> {
  expect(await h.violations()).toEqual([]);
  await h.database.query({ text: damage }, values);
  const found = (await h.violations()).map((violation) => violation.split(':')[0] ?? '');
  // No violation is in live: every failing check found rows of the sandbox.
  expect(await h.liveViolations()).toEqual([]);
  await h.database.query({ text: repair }, values);
  return found;
}

describe('the audit', () => {
  it('the audit finds nothing in consistent data and lists every check once', async () => {
    const { checks } = expectAccepted(await h.challenge.audit({}));
    expect(checks.map((check) => check.violations)).toEqual(checks.map(() => 0n));
    expect(new Set(checks.map((check) => check.id)).size).toBe(checks.length);
    expect(checks.length).toBeGreaterThanOrEqual(14);
  });

  it('the audit finds an attempt whose fee is missing, wrong or refunded too early', async () => {
    const { attempt } = await h.openAttempt();
    await h.server.sweepOnce();
    const damages = [
      ['fee_cents = 99', 'fee_cents = 100', 'visible_attempt_has_its_fee'],
      [
        `status = 'refused', closed_reason = 'x'`,
        `status = 'open', closed_reason = null`,
        'posted_fee_has_its_attempt',
      ],
      [`status = 'expired'`, `status = 'open'`, 'refunded_exactly_when_ended'],
      [`status = 'expiring'`, `status = 'open'`, 'refund_is_due_exactly_while_ending'],
      [`status = 'settled'`, `status = 'open'`, 'outcome_exactly_when_settled'],
    ] as const;
    for (const [damage, repair, check] of damages) {
      const update = (what: string) => `update attempts set ${what} where id = $1`;
      expect(await failing(update(damage), update(repair), [attempt.id])).toEqual([check]);
    }
    expect(
      await failing(
        `insert into attempts (id, challenge_id, account_id, player_ref, status, fee_cents, prize_cents, threshold, metadata, created_at)
         select $2, challenge_id, account_id, player_ref, status, fee_cents, prize_cents, threshold, metadata, created_at
         from attempts where id = $1`,
        'delete from attempts where id = $2 and $1::uuid is not null',
        [attempt.id, newOwnedId('challenge')],
      ),
    ).toEqual(['visible_attempt_has_its_fee']);
  });

  it('the audit finds an award whose payout differs or is missing', async () => {
    const { attempt } = await h.openAttempt();
    recorded(await h.report(attempt.id, 100));
    h.clock.advance(2_000);
    await h.server.sweepOnce();
    const values = [attempt.id];
    expect(
      await failing(
        'update awards set amount_cents = 1 where attempt_id = $1',
        'update awards set amount_cents = 2000 where attempt_id = $1',
        values,
      ),
    ).toEqual(['award_follows_from_its_attempt', 'award_has_its_payout']);
    expect(
      await failing(
        'update outcomes set met_threshold = false where attempt_id = $1',
        'update outcomes set met_threshold = true where attempt_id = $1',
        values,
      ),
    ).toEqual([
      'met_threshold_follows_frozen_bar',
      'award_follows_from_its_attempt',
      'monitor_counts_no_outcome_twice',
      'monitor_counts_every_outcome',
    ]);
    expect(
      await failing(
        'update awards set account_id = $2 where attempt_id = $1',
        `update awards set account_id = (select account_id from attempts where id = $1) where attempt_id = $1 and $2::uuid is not null`,
        [attempt.id, newId()],
      ),
    ).toEqual(['award_follows_from_its_attempt', 'cleared_bar_took_the_prize', 'award_has_its_payout']);
  });

  it('the audit finds a player with more attempts than the daily cap', async () => {
    const challenge = await h.open({ dailyAttemptCap: 2 });
    const player = await h.player();
    const attempts = [
      created(await h.create(challenge.id, player.ref)),
      created(await h.create(challenge.id, player.ref)),
    ];
    h.clock.advance(24 * 3_600_000);
    attempts.push(created(await h.create(challenge.id, player.ref)));
    expect(
      await failing(
        `update attempts set created_at = created_at - interval '1 millisecond' where id = $1`,
        `update attempts set created_at = created_at + interval '1 millisecond' where id = $1`,
        [attempts[2]?.id],
      ),
    ).toEqual(['daily_cap_was_kept']);
  });

  it('the audit finds nothing while work is in flight', async () => {
    // Every attempt loses, so the claimed pass rate is low: otherwise the drift monitor would
    // suspend the challenge.
    const challenge = await h.open({ dailyAttemptCap: 10_000, targetPassRate: 0.002 });
    const players = await Promise.all(Array.from({ length: 5 }, () => h.player()));
    for (let run = 0; run < 12; run += 1) {
      let isAudited = false;
      const traffic = Promise.all(
        players.map(async ({ ref }) => {
          for (let count = 0; count < MOST_DURING_ONE_AUDIT && !isAudited; count += 1) {
            const attempt = created(await h.create(challenge.id, ref));
            const end = Math.random();
            if (end < 0.4) await h.report(attempt.id, end < 0.2 ? 1 : 99);
            else if (end < 0.7) await h.challenge.expireAttempt({ tenant: PROGRAM, attemptId: attempt.id });
            else if (end < 0.9) await h.challenge.voidAttempt({ attemptId: attempt.id, reason: 'x' });
          }
        }),
      );
      expect(await h.violations()).toEqual([]);
      isAudited = true;
      await traffic;
    }
  });
});
