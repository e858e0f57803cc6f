/** The gateway's configuration. Only this file reads the environment. */

import {
  acceptedKeys,
  address,
  auditSettings,
  checkChannels,
  checkKeyVersions,
  databaseUrl,
  keyVersion,
  port,
  positiveInt,
  processSettings,
  secretKey,
  spanHours,
  spanMinutes,
  spanSeconds,
} from '@laurel/service';
import { MAX_BODY_BYTES } from '@laurel/values/limits';
import { ENVIRONMENTS } from '@laurel/values/tenant';
import { z } from 'zod';
import { DEFAULT_BODY_KIB, SHARE_OF_ONE_HOLDER } from './admission/body-budget.ts';
import { DEFAULT_CONNECTIONS } from './admission/connections.ts';
import { DEFAULT_PUSHES } from './admission/push-limits.ts';
import { DEFAULT_UNKNOWN_KIB_PER_SECOND } from './admission/unknown-pushes.ts';
import { parseNetworks } from './domain/client-address.ts';
import { DEFAULT_TAKEOVER_SECONDS } from './domain/idempotency-decision.ts';
import { DEFAULT_REQUESTS_PER_MINUTE } from './domain/rate-window.ts';
import { DEFAULT_SESSION_HOURS } from './domain/session.ts';
import { DEFAULT_SIGN_IN_LIMITS } from './domain/sign-in-throttle.ts';

const acceptedEnvironments = z
  .string()
  .transform((text) => [...new Set(text.split(',').map((name) => name.trim()))])
  .pipe(z.array(z.enum(ENVIRONMENTS, 'must be test, live or both')).min(1));

const MIN_TOKEN_CHARACTERS = 32;
const operatorToken = z.string().min(MIN_TOKEN_CHARACTERS, `must have at least ${MIN_TOKEN_CHARACTERS} characters`);

/** Operators and their tokens, as `alice:<token>,bob:<token>`. */
const operatorTokens = z.string().transform((text, context) => {
  const found = text.split(',').map((entry) => {
    const [, name = '', token = ''] = /^([a-z0-9][a-z0-9._-]{0,63}):(\S+)$/i.exec(entry.trim()) ?? [];
    return { name, token };
  });
  if (found.every(({ token }) => token.length >= MIN_TOKEN_CHARACTERS)) return found;
  const message = `must be name:token, separated by commas, each token of at least ${MIN_TOKEN_CHARACTERS} characters`;
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
});
const networks = z.string().transform((text, context) => {
  const parsed = parseNetworks(text);
  if (parsed !== null) return parsed;
  context.addIssue('must be networks like 10.0.0.0/8,2001:db8::/32');
  return z.NEVER;
});

const KIB = 1024;

/** The share of one holder (`BudgetHolder`) must hold one whole body. */
const LEAST_BODY_KIB = MAX_BODY_BYTES / SHARE_OF_ONE_HOLDER / KIB;
const bodyKib = positiveInt.refine((kib) => kib >= LEAST_BODY_KIB, `must be at least ${LEAST_BODY_KIB}`);

const flag = z.enum(['true', 'false'], 'must be true or false').transform((text) => text === 'true');

const settings = z.object({
  ...processSettings,
  ...auditSettings,
  HTTP_HOST: z.string().default('127.0.0.1'),
  HTTP_PORT: port.default(8080),
  /**
   * The networks of trusted proxies. Behind one, the client's address is the one that the proxy
   * names in `X-Forwarded-For`. From any other peer that header is ignored.
   */
  TRUSTED_PROXIES: networks.optional(),
  /** The most connections. The process accepts fewer if it may not open so many files. */
  MAX_CONNECTIONS: positiveInt.default(DEFAULT_CONNECTIONS.all),
  /**
   * Connections of one client address, or its requests in flight if it comes through a trusted
   * proxy.
   */
  MAX_CONNECTIONS_PER_ADDRESS: positiveInt.default(DEFAULT_CONNECTIONS.perAddress),
  /**
   * The most bytes that the bodies of all requests in the process may hold, except those of pushes.
   */
  MAX_BODY_KIB_IN_FLIGHT: bodyKib.default(DEFAULT_BODY_KIB).transform((kib) => kib * KIB),
  /**
   * The most bytes that all pushed bodies in the process may hold. The callers of pushes are not
   * known yet, so these bytes are counted apart from those of `/v1`.
   */
  MAX_PUSH_KIB_IN_FLIGHT: bodyKib.default(DEFAULT_BODY_KIB).transform((kib) => kib * KIB),
  /** Serves the documentation site at `/docs`. */
  DOCS_ENABLED: flag.default(true),
  /** Serves the pages of the developer portal at `/portal`. Its routes are served in any case. */
  PORTAL_ENABLED: flag.default(true),
  /** Serves the operator's pages at `/operator`. Their routes are served in any case. */
  OPERATOR_PAGES_ENABLED: flag.default(true),
  /** Writes each request of `/v1` to the log that developers read in the portal. */
  REQUEST_LOG_ENABLED: flag.default(true),
  GATEWAY_DATABASE_URL: databaseUrl,
  GATEWAY_DATABASE_POOL: positiveInt.default(8),
  WALLET_ADDRESS: address,
  CHALLENGE_ADDRESS: address,
  TOURNAMENT_ADDRESS: address,
  WEBHOOK_ADDRESS: address,
  INTEGRATION_ADDRESS: address,
  /** Opens `/api/operator` under the name `operator`. */
  OPERATOR_TOKEN: operatorToken.optional(),
  /** Further tokens that open `/api/operator`, each under the name of its holder. */
  OPERATOR_TOKENS: operatorTokens.default([]),
  /**
   * The secret key of the HMACs that are stored instead of API keys and session tokens. Without it,
   * somebody who reads the database cannot test guesses of a key or token.
   */
  KEY_PEPPER: secretKey,
  /** Counts the changes of the pepper; each change raises it. */
  KEY_PEPPER_VERSION: keyVersion,
  /**
   * Further peppers under which keys and sessions are recognised: after a change the old pepper,
   * before a change the next one.
   */
  KEY_PEPPERS_ACCEPTED: acceptedKeys,
  /** API keys of any other environment get a 401. */
  ACCEPTED_ENVIRONMENTS: acceptedEnvironments.default([...ENVIRONMENTS]),
  RATE_LIMIT_PER_MINUTE: positiveInt.default(DEFAULT_REQUESTS_PER_MINUTE.v1),
  /** The rate of `/api/sandbox`, per program. */
  SANDBOX_RATE_LIMIT_PER_MINUTE: positiveInt.default(DEFAULT_REQUESTS_PER_MINUTE.sandbox),
  /** The rate of `/api/portal`, per developer; and of sign-in, per client address. */
  PORTAL_RATE_LIMIT_PER_MINUTE: positiveInt.default(DEFAULT_REQUESTS_PER_MINUTE.portal),
  /** The rate of `/api/operator`, per token. */
  OPERATOR_RATE_LIMIT_PER_MINUTE: positiveInt.default(DEFAULT_REQUESTS_PER_MINUTE.operator),
  /**
   * Pushes to an integration from the addresses known to it, in each process. Unknown addresses
   * have a second limit of the same size together, and a tenth of it each.
   */
  PUSH_RATE_LIMIT_PER_MINUTE: positiveInt.default(DEFAULT_PUSHES.perIntegrationAndMinute),
  /** Pushes of a client address to all integrations, in each process. */
  PUSH_ADDRESS_RATE_LIMIT_PER_MINUTE: positiveInt.default(DEFAULT_PUSHES.perNetworkAndMinute),
  /**
   * The size of the pushes that each process verifies per second for addresses that their
   * integration does not know. A push counts as its body plus 16 KiB.
   */
  PUSH_UNKNOWN_KIB_PER_SECOND: bodyKib.default(DEFAULT_UNKNOWN_KIB_PER_SECOND).transform((kib) => kib * KIB),
  /**
   * The size of the pushes of a program per second, in each environment and process, over all of
   * its integrations. Each push counts as its body, the evidence that is written for it, and 1 KiB
   * for the push and for each record.
   */
  PUSH_LIVE_KIB_PER_SECOND: bodyKib.default(DEFAULT_PUSHES.liveKibPerSecond).transform((kib) => kib * KIB),
  PUSH_TEST_KIB_PER_SECOND: bodyKib.default(DEFAULT_PUSHES.testKibPerSecond).transform((kib) => kib * KIB),
  /** The limit of calls under `/api` without a valid credential, per client address and process. */
  API_FAILURES_PER_MINUTE: positiveInt.default(DEFAULT_REQUESTS_PER_MINUTE.failures),
  IDEMPOTENCY_TAKEOVER_SECONDS: spanSeconds.default(DEFAULT_TAKEOVER_SECONDS),
  PORTAL_SESSION_HOURS: spanHours.default(DEFAULT_SESSION_HOURS),
  /** False only if the portal is served over plain HTTP: browsers keep secure cookies for HTTPS. */
  PORTAL_COOKIE_SECURE: flag.default(true),
  PORTAL_SIGN_IN_WINDOW_MINUTES: spanMinutes.default(DEFAULT_SIGN_IN_LIMITS.windowMinutes),
  /**
   * How many failures are free: of one e-mail from one client; of one e-mail from all clients not
   * known to it; of one client across e-mails that it has never signed in to.
   */
  PORTAL_SIGN_IN_FAILURES: positiveInt.default(DEFAULT_SIGN_IN_LIMITS.failuresPerPair),
  PORTAL_SIGN_IN_FAILURES_PER_EMAIL: positiveInt.default(DEFAULT_SIGN_IN_LIMITS.failuresPerEmail),
  PORTAL_SIGN_IN_FAILURES_PER_ADDRESS: positiveInt.default(DEFAULT_SIGN_IN_LIMITS.failuresPerAddress),
  PORTAL_SIGN_IN_FIRST_DELAY_SECONDS: spanSeconds.default(DEFAULT_SIGN_IN_LIMITS.firstDelaySeconds),
  PORTAL_SIGN_IN_MAX_DELAY_SECONDS: spanSeconds.default(DEFAULT_SIGN_IN_LIMITS.maxDelaySeconds),
});

const checked = settings.superRefine(checkChannels).superRefine(checkKeyVersions('KEY_PEPPER'));

export const gatewayConfigSchema = checked.superRefine((config, context) => {
  const operators = operatorsOf(config);
  if (operators.length === 0) {
    context.addIssue({ code: 'custom', path: ['OPERATOR_TOKEN'], message: 'is required, or OPERATOR_TOKENS' });
  }
  if (new Set(operators.map(({ token }) => token)).size < operators.length) {
    context.addIssue({ code: 'custom', path: ['OPERATOR_TOKENS'], message: 'must not give one token twice' });
  }
});

export type GatewayConfig = z.output<typeof settings>;

/** The operators' tokens, by name. */
export function operatorsOf(config: Pick<GatewayConfig, 'OPERATOR_TOKEN' | 'OPERATOR_TOKENS'>) {
  const { OPERATOR_TOKEN: token, OPERATOR_TOKENS: named } = config;
  return token === undefined ? named : [{ name: 'operator', token }, ...named];
}
