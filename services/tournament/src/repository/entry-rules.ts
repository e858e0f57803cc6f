/**
 * The rules of an entry (domain/entry-decision.ts) that SQL reads or judges: the fragments of every statement that does so. Each is defined
 * here once; entry-rules.test.ts compares them with the decision in TypeScript over generated histories.
 *
 * Each is a scalar subquery and no join: whatever the planner estimates of the table sizes, it is one index look-up for each creation. The
 * arguments are SQL expressions of the statement around it.
 */
import { countsUnderCap } from '@laurel/attempts';

/** The attempts of the account in the round that count under its cap. The account may be null: it has none. */
export function boughtIn({ roundId, accountId }: { readonly roundId: string; readonly accountId: string }): string {
  return `(select count(*)::int from attempts paid
    where paid.round_id = ${roundId} and paid.account_id = ${accountId} and ${countsUnderCap('paid')})`;
}

/**
 * The cap does not refuse one more attempt of the account, and entries have not closed by the database's clock at this moment, which is
 * after the wait for the locks. `round` is a row of rounds.
 */
export function admitsAttempt({ round, accountId }: { readonly round: string; readonly accountId: string }): string {
  return `(clock_timestamp() < ${round}.entries_close_at
    and ${boughtIn({ roundId: `${round}.id`, accountId })} < ${round}.attempt_cap)`;
}
