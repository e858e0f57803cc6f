import type { Service } from '@laurel/testing';

/**
 * Settings that spare black-box tests waits and limits, in addition to those of every test stack.
 */
export const BLACK_BOX_SETTINGS: Partial<Record<Service, Readonly<Record<string, string>>>> = {
  wallet: { MONEY_COUNT_INTERVAL_SECONDS: '1' },
  challenge: { SWEEP_INTERVAL_MS: '250' },
  tournament: { SWEEP_INTERVAL_MS: '250' },
  gateway: { RATE_LIMIT_PER_MINUTE: '1000000' },
};
