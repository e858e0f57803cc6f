/**
 * The rules of an entry (domain/entry-decision.ts) as SQL fragments, each defined once, for every
 * statement that needs them. entry-rules.test.ts compares them with the decision in TypeScript over
 * generated histories.
 *
 * Each is a scalar subquery instead of a join: whatever table sizes the planner estimates, it is
 * one index look-up per creation. The arguments are SQL expressions of the surrounding statement.
 */
import { countsUnderCapSql } from '@laurel/attempts';

/**
 * The attempts of the account in the round that count towards its cap. The account may be null; it
 * then has no attempts.
 */
export function attemptsBoughtSql({
  roundId,
  accountId,
}: {
  readonly roundId: string;
  readonly accountId: string;
}): string {
  return `(select count(*)::int from attempts paid
    where paid.round_id = ${roundId} and paid.account_id = ${accountId} and ${countsUnderCapSql('paid')})`;
}

/**
 * The SQL condition that the cap permits one more attempt of the account and that entries are open.
 * The time is the database's clock after the wait for the locks. `round` is a row of rounds.
 */
export function admitsAttemptSql({ round, accountId }: { readonly round: string; readonly accountId: string }): string {
  return `(clock_timestamp() < ${round}.entries_close_at
    and ${attemptsBoughtSql({ roundId: `${round}.id`, accountId })} < ${round}.attempt_cap)`;
}
