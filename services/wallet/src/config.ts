/** The wallet's settings, read from the environment. */

import {
  auditSettings,
  checkChannels,
  databaseUrl,
  grpcServiceSettings,
  positiveInt,
  spanSeconds,
} from '@laurel/service';
import { formatAmount, parseAmount } from '@laurel/values/money';
import { z } from 'zod';
import { DEFAULT_MINIMUM_AGE_YEARS, MAX_AGE_YEARS } from './domain/eligibility.ts';
import { DEFAULT_PAYOUT_VELOCITY } from './domain/payout-hold.ts';
import { DEFAULT_LIVE_LIMITS } from './domain/program-limits.ts';

const amount = z.string().transform((text, context) => {
  const parsed = parseAmount(text);
  if (parsed !== null) return parsed;
  context.addIssue('must be an amount like 500.00');
  return z.NEVER;
});

const jurisdictions = z.string().transform((text) =>
  text
    .split(',')
    .map((jurisdiction) => jurisdiction.trim())
    .filter((jurisdiction) => jurisdiction !== ''),
);

export const walletConfigSchema = z
  .object({
    ...grpcServiceSettings,
    ...auditSettings,
    WALLET_DATABASE_URL: databaseUrl,
    WALLET_DATABASE_POOL: positiveInt.default(8),
    /** The shortest pause between two counts of the daily money. */
    MONEY_COUNT_INTERVAL_SECONDS: spanSeconds.default(60),
    /** Younger players are `blocked`. */
    MINIMUM_AGE_YEARS: positiveInt
      .refine((years) => years <= MAX_AGE_YEARS, `must be at most ${MAX_AGE_YEARS}`)
      .default(DEFAULT_MINIMUM_AGE_YEARS),
    /** Comma-separated, for example `US-CA,US-NY`; an empty list serves all. */
    SERVED_JURISDICTIONS: jurisdictions.default([]),
    /** How many payouts are paid in a rolling 24 hours; the next one is held. */
    PAYOUT_VELOCITY_COUNT: positiveInt.default(DEFAULT_PAYOUT_VELOCITY.count),
    /** A payout that takes the sum of a rolling 24 hours over this is held. */
    PAYOUT_VELOCITY_AMOUNT: amount.prefault(formatAmount(DEFAULT_PAYOUT_VELOCITY.amountCents)),
    /**
     * In live, an award that takes its program's payouts of a rolling 24 hours over this sum is
     * held.
     */
    PROGRAM_PAYOUT_LIMIT: amount.prefault(formatAmount(DEFAULT_LIVE_LIMITS.payoutCents)),
    /** In live, a program may charge one account at most this sum in a rolling 24 hours. */
    PROGRAM_FEE_LIMIT: amount.prefault(formatAmount(DEFAULT_LIVE_LIMITS.feeCents)),
  })
  .superRefine(checkChannels);

export type WalletConfig = z.output<typeof walletConfigSchema>;
