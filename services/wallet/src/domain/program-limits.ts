/**
 * The limits of a program, per environment: what it may pay out (payout-hold.ts) and what it may
 * charge one account (fee-limit.ts) in a rolling 24 hours. An operator sets each; otherwise the
 * environment's default applies. Play money has no value, so test has no default limit.
 */
import { type Cents, cents } from '@laurel/values/money';
import type { Environment } from '@laurel/values/tenant';

/** A program in one environment. */
export type ProgramName = { readonly programId: string; readonly environment: Environment };

/** The limits in live of a program for which no operator set any. */
export type DefaultLimits = { readonly payoutCents: Cents; readonly feeCents: Cents };

/** The defaults; the configuration may set others. */
export const DEFAULT_LIVE_LIMITS: DefaultLimits = { payoutCents: cents(5_000_00n), feeCents: cents(200_00n) };

export type ProgramLimits = {
  /** The most that payouts of a rolling 24 hours may reach; null for no limit. */
  readonly payoutCents: Cents | null;
  /** The most that fees of one account in a rolling 24 hours may reach; null for no limit. */
  readonly feeCents: Cents | null;
};

/** The limits in force: the operator's, with the environment's default for each that is null. */
export function limitsInForce(environment: Environment, set: ProgramLimits, defaults: DefaultLimits): ProgramLimits {
  const { payoutCents, feeCents } = defaultsOf(environment, defaults);
  return { payoutCents: set.payoutCents ?? payoutCents, feeCents: set.feeCents ?? feeCents };
}

function defaultsOf(environment: Environment, defaults: DefaultLimits): ProgramLimits {
  return environment === 'live' ? defaults : { payoutCents: null, feeCents: null };
}

export function programKeyOf({ programId, environment }: ProgramName): string {
  return `${environment}:${programId.toLowerCase()}`;
}
