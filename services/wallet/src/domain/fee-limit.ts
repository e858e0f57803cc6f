/**
 * What a program may charge one account (docs/contract/rules.md, "Players, accounts, money"): its
 * fees of a rolling 24 hours, without refunded ones, may reach the limit, not exceed it. The limit
 * is the lower of two: the program's (program-limits.ts), and the account's own, if an operator has
 * set one. A fee beyond it is refused as `blocked`, for challenges and tournaments alike.
 *
 * A stolen live key can link any person by e-mail. This limit, not the balance, bounds what it
 * takes from one person a day.
 */
import { type Cents, cents } from '@laurel/values/money';

/** Fees within this window count; one exactly this old does not. */
export const FEE_WINDOW_MS = 24 * 60 * 60 * 1000;

/**
 * What a program charged an account in the window, without refunds. `limitCents` is the most that
 * this sum may reach; null for no limit.
 */
export type ChargedFees = { readonly chargedCents: Cents; readonly limitCents: Cents | null };

export const NO_FEE_LIMIT: ChargedFees = { chargedCents: cents(0n), limitCents: null };

/** Whether the fee would take the charged fees over the limit. */
export function exceedsFeeLimit({ chargedCents, limitCents }: ChargedFees, feeCents: Cents): boolean {
  return limitCents !== null && chargedCents + feeCents > limitCents;
}

/** The highest fee that the program may charge the account now; null for no limit. */
export function chargeableCents({ chargedCents, limitCents }: ChargedFees): Cents | null {
  if (limitCents === null) return null;
  return chargedCents < limitCents ? cents(limitCents - chargedCents) : cents(0n);
}

export function withFee(charged: ChargedFees, feeCents: Cents): ChargedFees {
  return { ...charged, chargedCents: cents(charged.chargedCents + feeCents) };
}
