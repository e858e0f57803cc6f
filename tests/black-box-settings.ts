import type { Service } from '@laurel/testing';

/**
 * Settings for black-box tests, besides those of every test stack: they shorten waits and lift
 * limits.
 */
export const BLACK_BOX_SETTINGS: Partial<Record<Service, Readonly<Record<string, string>>>> = {
  wallet: { MONEY_COUNT_INTERVAL_SECONDS: '1' },
  challenge: { SWEEP_INTERVAL_MS: '250' },
  tournament: { SWEEP_INTERVAL_MS: '250' },
  gateway: { RATE_LIMIT_PER_MINUTE: '1000000' },
};
