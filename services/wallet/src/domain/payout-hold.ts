/**
 * When a win is held instead of paid (docs/contract/partner-api.md, "Outcome" and "Payout status";
 * docs/contract/rules.md, "Players, accounts, money" and "Tournaments").
 *
 * An award of a challenge is `held` in each of these cases:
 * - The drift monitor had suspended the challenge before the win, as the challenge service reports:
 *   the bar may be wrong for every player. The reason is `challenge_suspended`.
 * - The account has an enforcement flag or an open investigation.
 * - Payout velocity: the payout would be the account's 6th in a rolling 24 hours, or would take its
 *   payouts of a rolling 24 hours over 500.00. Exactly 500.00 is not over.
 * - Program velocity: the award would take the program's payouts of a rolling 24 hours over the
 *   program's limit. This bounds what one program pays to all of its players. The limit is per
 *   environment: an operator's, or else 5,000.00 in live and none in test.
 *
 * A purse of a round is `held` for an enforcement flag or an open investigation, but never on
 * payout velocity or program velocity. Its purse table was frozen when the round opened, so neither
 * the amount nor the number of purses is evidence about the player.
 *
 * In the sandbox a partner can have the player's next win held, award or purse.
 *
 * A held win moves no money and counts towards neither velocity. A paid win counts towards both,
 * award or purse. A held win that an operator releases counts from the instant of its payment.
 */
import { type Cents, cents } from '@laurel/values/money';

/**
 * What the player won: the `award` of a challenge attempt, or the `purse` of a rank in a tournament
 * round.
 */
export type WinKind = 'award' | 'purse';

/** Why the contest service has a win held, whatever the wallet's own rules would decide. */
export type ContestServiceHold = 'challenge_suspended';

export type HoldReason =
  | ContestServiceHold
  | 'enforcement_flag'
  | 'under_investigation'
  | 'sandbox_hold'
  | 'payout_velocity'
  | 'program_velocity';

/** Payouts within this window count; one exactly this old does not. */
export const VELOCITY_WINDOW_MS = 24 * 60 * 60 * 1000;

export type VelocityLimits = {
  /** How many payouts are paid in the window; the next one is held. */
  readonly count: number;
  /** The window's payouts may reach this sum, not exceed it. */
  readonly amountCents: Cents;
};

/** The limits of payout velocity, unless the configuration sets others. */
export const DEFAULT_PAYOUT_VELOCITY: VelocityLimits = { count: 5, amountCents: cents(500_00n) };

/** The account's payouts in the window so far. */
export type RecentPayouts = { readonly count: number; readonly amountCents: Cents };

export const NO_PAYOUTS: RecentPayouts = { count: 0, amountCents: cents(0n) };

/**
 * What a program paid in the window so far. `limitCents` is the most that this sum may reach; null
 * for no limit.
 */
export type ProgramPayouts = { readonly paidCents: Cents; readonly limitCents: Cents | null };

export const NO_PROGRAM_LIMIT: ProgramPayouts = { paidCents: cents(0n), limitCents: null };

/** Why the win is held; null if it is paid. */
export function decideHold(facts: {
  readonly kind: WinKind;
  /** Absent if the contest service leaves the decision to the wallet. */
  readonly contestServiceHold?: ContestServiceHold;
  readonly enforcementFlag: boolean;
  readonly underInvestigation: boolean;
  readonly sandboxHold: boolean;
  readonly recent: RecentPayouts;
  readonly program: ProgramPayouts;
  readonly amountCents: Cents;
  readonly limits: VelocityLimits;
}): HoldReason | null {
  if (facts.contestServiceHold !== undefined) return facts.contestServiceHold;
  if (facts.enforcementFlag) return 'enforcement_flag';
  if (facts.underInvestigation) return 'under_investigation';
  if (facts.sandboxHold) return 'sandbox_hold';
  const most = maxRecentPayouts(facts);
  if (most === null) return null;
  if (facts.recent.count > most.count || facts.recent.amountCents > most.amountCents) return 'payout_velocity';
  return exceedsProgram(facts) ? 'program_velocity' : null;
}

/**
 * Whether the award would take the program's payouts over its limit. Exactly the limit is not over.
 */
function exceedsProgram({ program, amountCents }: { program: ProgramPayouts; amountCents: Cents }): boolean {
  return program.limitCents !== null && program.paidCents + amountCents > program.limitCents;
}

/**
 * The highest count and sum of recent payouts with which the win is still within payout velocity.
 * Null for a purse, which velocity never holds.
 */
export function maxRecentPayouts(win: {
  readonly kind: WinKind;
  readonly amountCents: Cents;
  readonly limits: VelocityLimits;
}): RecentPayouts | null {
  if (win.kind === 'purse') return null;
  return { count: win.limits.count - 1, amountCents: cents(win.limits.amountCents - win.amountCents) };
}

export function withProgramPayout(program: ProgramPayouts, amountCents: Cents): ProgramPayouts {
  return { ...program, paidCents: cents(program.paidCents + amountCents) };
}

export function withPayout(recent: RecentPayouts, amountCents: Cents): RecentPayouts {
  return { count: recent.count + 1, amountCents: cents(recent.amountCents + amountCents) };
}
