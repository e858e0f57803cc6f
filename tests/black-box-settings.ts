import type { Service } from '@laurel/testing';

/** Settings that spare the black-box tests waits and limits, besides those of every stack of a test. */
export const BLACK_BOX_SETTINGS: Partial<Record<Service, Readonly<Record<string, string>>>> = {
  challenge: { SWEEP_INTERVAL_MS: '250' },
  tournament: { SWEEP_INTERVAL_MS: '250' },
  gateway: { RATE_LIMIT_PER_MINUTE: '1000000' },
};
