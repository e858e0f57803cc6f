import { randomBytes } from 'node:crypto';
import type { Service } from './checkout.ts';

type Settings = Readonly<Record<Service, Readonly<Record<string, string>>>>;

/** Returns the secret settings of one stack, except the secrets of channels and databases. */
export function secretSettings(operatorToken: string): Settings {
  const secret = () => randomBytes(32).toString('base64');
  const ofContests = { RECEIPT_SIGNING_SEED: secret() };
  return {
    wallet: {},
    challenge: ofContests,
    tournament: ofContests,
    webhook: { WEBHOOK_SECRET_KEY: secret() },
    integration: { INTEGRATION_SECRET_KEY: secret() },
    gateway: { OPERATOR_TOKEN: operatorToken, KEY_PEPPER: secret() },
  };
}

/**
 * Returns settings for tests. `receivers` are the private networks of partners' servers, which
 * webhooks and polls may reach. `caFile` is the PEM file of the authority of these servers, at its
 * path in the services' file system.
 */
export function testSettings({ receivers, caFile }: { readonly receivers: string; readonly caFile: string }): Settings {
  const egress = { EGRESS_ALLOW_CIDRS: receivers, EGRESS_CA_FILE: caFile };
  return {
    wallet: {},
    challenge: {},
    tournament: {},
    // The default delays, of half a minute and more, are too long for a test.
    webhook: { ...egress, WEBHOOK_RETRY_DELAYS_SECONDS: '1,2', WEBHOOK_SWEEP_MS: '200' },
    integration: { ...egress, INTEGRATION_SWEEP_MS: '200' },
    gateway: {
      PORTAL_COOKIE_SECURE: 'false',
      // High limits, because tests send set-up requests faster than people do, and test files share
      // a stack. A test of a limit sets its own.
      OPERATOR_RATE_LIMIT_PER_MINUTE: '1000000',
      SANDBOX_RATE_LIMIT_PER_MINUTE: '1000000',
      PORTAL_RATE_LIMIT_PER_MINUTE: '1000000',
      API_FAILURES_PER_MINUTE: '1000000',
    },
  };
}
