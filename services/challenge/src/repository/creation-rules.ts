/**
 * The creation rules of domain/player-availability.ts in SQL, as fragments for every statement that
 * reads or applies the rules. This file defines claim, rung and cap once; creation-rules.test.ts
 * compares them with the decision in TypeScript over generated histories.
 *
 * Each fragment is a scalar subquery and not a join, so that it is one index look-up per creation,
 * whatever the planner estimates about the sizes of the tables. The arguments are SQL expressions
 * of the surrounding statement.
 */
import { countsUnderCapSql } from '@laurel/attempts';
import { CAP_WINDOW_MS } from '../domain/player-availability.ts';

/** A player of a challenge. The account may be null; such a player has no history. */
type PlayerOf = { readonly challengeId: string; readonly accountId: string };

/** Claim: whether the account has an award of the challenge, whatever the award's status is. */
export function isClaimedSql({ challengeId, accountId }: PlayerOf): string {
  return `(select claim.id from awards claim
    where claim.challenge_id = ${challengeId} and claim.account_id = ${accountId}) is not null`;
}

/**
 * Rung: whether the challenge is the first of its ladder, or the account has claimed the rung
 * below.
 */
export function isRungUnlockedSql({
  parentChallengeId,
  accountId,
}: {
  parentChallengeId: string;
  accountId: string;
}): string {
  return `(${parentChallengeId} is null or ${isClaimedSql({ challengeId: parentChallengeId, accountId })})`;
}

/**
 * Cap: the number of the account's paid attempts since the start of the window that were not
 * refunded.
 */
export function paidInWindowSql({ challengeId, accountId, since }: PlayerOf & { readonly since: string }): string {
  return `(select count(*)::int from attempts paid
    where paid.challenge_id = ${challengeId} and paid.account_id = ${accountId} and paid.created_at > ${since}
      and ${countsUnderCapSql('paid')})`;
}

/**
 * Whether neither claim, rung nor cap refuses one more paid attempt. `challenge` is the SQL alias
 * of a row of challenges.
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
