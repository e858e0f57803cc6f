/**
 * The creation rules of domain/player-availability.ts as SQL: fragments for every statement that
 * reads or applies them. Claim, rung and cap are each defined here once; creation-rules.test.ts
 * compares them with the decision in TypeScript over generated histories.
 *
 * Each is a scalar subquery and not a join: whatever the planner estimates of the table sizes, it
 * is one index look-up per creation. The arguments are SQL expressions of the surrounding
 * statement.
 */
import { countsUnderCapSql } from '@laurel/attempts';
import { CAP_WINDOW_MS } from '../domain/player-availability.ts';

/** A player of a challenge. The account may be null: then it has no history. */
type PlayerOf = { readonly challengeId: string; readonly accountId: string };

/** Claim: the account has an award of the challenge, whatever its status. */
export function isClaimedSql({ challengeId, accountId }: PlayerOf): string {
  return `(select claim.id from awards claim
    where claim.challenge_id = ${challengeId} and claim.account_id = ${accountId}) is not null`;
}

/** Rung: the challenge is the first of its ladder, or the account has claimed the one before. */
export function isRungUnlockedSql({
  parentChallengeId,
  accountId,
}: {
  parentChallengeId: string;
  accountId: string;
}): string {
  return `(${parentChallengeId} is null or ${isClaimedSql({ challengeId: parentChallengeId, accountId })})`;
}

/** Cap: counts the account's paid attempts since the start of the window that were not refunded. */
export function paidInWindowSql({ challengeId, accountId, since }: PlayerOf & { readonly since: string }): string {
  return `(select count(*)::int from attempts paid
    where paid.challenge_id = ${challengeId} and paid.account_id = ${accountId} and paid.created_at > ${since}
      and ${countsUnderCapSql('paid')})`;
}

/**
 * Whether neither claim, rung nor cap refuses one more paid attempt. `challenge` names a row of
 * challenges.
 */
export function allowsPaidAttemptSql({
  challenge,
  accountId,
  since,
}: {
  readonly challenge: string;
  readonly accountId: string;
  readonly since: string;
}): string {
  const player = { challengeId: `${challenge}.id`, accountId };
  return `(not (${isClaimedSql(player)})
    and ${isRungUnlockedSql({ parentChallengeId: `${challenge}.parent_challenge_id`, accountId })}
    and ${paidInWindowSql({ ...player, since })} < ${challenge}.daily_attempt_cap)`;
}

/** Attempts after this instant count towards the cap. */
export function windowStart(now: Date): Date {
  return new Date(now.getTime() - CAP_WINDOW_MS);
}
