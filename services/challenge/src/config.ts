/** The configuration that the challenge service reads from its environment. */

import { contestServiceSettings } from '@laurel/attempts';
import { checkChannels, databaseUrl, positiveInt } from '@laurel/service';
import { formatAmount, parseAmount } from '@laurel/values/money';
import { z } from 'zod';
import { DEFAULT_TIER_CEILINGS, type TierCeilings } from './domain/tier-ceiling.ts';

const tierCeilings = z.string().transform((text, context): TierCeilings => {
  const [one, two, three, ...rest] = text.split(',').map((amount) => parseAmount(amount.trim()));
  if (one != null && two != null && three != null && rest.length === 0) return [one, two, three];
  context.addIssue('must be the three amounts of tiers 1, 2 and 3, like 25.00,250.00,2500.00');
  return z.NEVER;
});

export const challengeConfigSchema = z
  .object({
    ...contestServiceSettings,
    CHALLENGE_DATABASE_URL: databaseUrl,
    CHALLENGE_DATABASE_POOL: positiveInt.default(8),
    /** The highest prize of integrity tiers 1, 2 and 3. */
    TIER_CEILINGS: tierCeilings.prefault(DEFAULT_TIER_CEILINGS.map(formatAmount).join()),
  })
  .superRefine(checkChannels);

export type ChallengeConfig = z.output<typeof challengeConfigSchema>;
