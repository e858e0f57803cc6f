import {
  addressesFor,
  databaseVariableOf,
  isCalled,
  isNatsUser,
  SERVICE_NAMES,
  type ServiceName,
  SERVICES as TABLE,
} from '@laurel/topology';
import type { Ports } from './ports.ts';
import type { Secrets } from './secrets.ts';

/**
 * How the launcher sets up a service. The service's own configuration is in
 * `services/<name>/src/config.ts`.
 */
export interface ServiceShape {
  readonly name: ServiceName;
  /** The addresses at which the services of this stack find each other. */
  readonly environment: (stack: StackAddresses) => Readonly<Record<string, string>>;
  /**
   * Values for this machine, used in place of the service's own defaults. A setting of the same
   * name takes precedence.
   */
  readonly defaults?: Readonly<Record<string, string>>;
  /** The only variables of the launcher's environment that the service gets. */
  readonly settings: readonly string[];
  readonly readyUrl: (stack: StackAddresses) => string;
}

export interface StackAddresses {
  readonly ports: Ports;
  readonly httpPort: number;
  readonly secrets: Secrets;
  readonly natsUrl: string;
  /** The certificate of the data directory's authority, as PEM. */
  readonly webhookCaFile: string;
}

/**
 * What this service needs beyond the settings that every service gets from the table of services.
 */
type OwnSettings = {
  readonly environment?: (stack: StackAddresses) => Readonly<Record<string, string>>;
  readonly defaults?: Readonly<Record<string, string>>;
  readonly settings: readonly string[];
};

const COMMON_SETTINGS = [
  'LOG_LEVEL',
  'ALLOW_PRIVILEGED_DATABASE_ROLE',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_TRACES_SAMPLER',
  'OTEL_TRACES_SAMPLER_ARG',
];
/**
 * The broker may be external: several stacks may share it, and its certificate may come from
 * another authority.
 */
const EVENT_SETTINGS = ['EVENTS_PREFIX', 'NATS_CA_FILE'];
const PUBLISHER_SETTINGS = ['OUTBOX_REPUBLISH_AFTER_MS'];

const ATTEMPT_SETTINGS = [
  'ATTEMPT_TTL_SECONDS',
  'PENDING_GRACE_SECONDS',
  'SWEEP_INTERVAL_MS',
  'AUDIT_INTERVAL_SECONDS',
];

const OWN: Readonly<Record<ServiceName, OwnSettings>> = {
  wallet: {
    settings: [
      'AUDIT_INTERVAL_SECONDS',
      'MONEY_COUNT_INTERVAL_SECONDS',
      'MINIMUM_AGE_YEARS',
      'SERVED_JURISDICTIONS',
      'PAYOUT_VELOCITY_COUNT',
      'PAYOUT_VELOCITY_AMOUNT',
      'PROGRAM_PAYOUT_LIMIT',
      'PROGRAM_FEE_LIMIT',
    ],
  },
  challenge: {
    environment: ({ secrets }) => ({ RECEIPT_SIGNING_SEED: secrets.receiptSigningSeed }),
    settings: [...ATTEMPT_SETTINGS, 'TIER_CEILINGS'],
  },
  tournament: {
    environment: ({ secrets }) => ({ RECEIPT_SIGNING_SEED: secrets.receiptSigningSeed }),
    settings: ATTEMPT_SETTINGS,
  },
  webhook: {
    environment: ({ secrets, webhookCaFile }) => ({
      WEBHOOK_SECRET_KEY: secrets.webhookSecretKey,
      EGRESS_CA_FILE: webhookCaFile,
    }),
    // A developer's receiver runs on this machine. Its certificate is from the data directory's
    // authority.
    defaults: { EGRESS_ALLOW_CIDRS: '127.0.0.0/8,::1/128' },
    settings: [
      'EVENTS_REPLICAS',
      'WEBHOOK_SECRET_KEY_VERSION',
      'WEBHOOK_SECRET_KEYS_ACCEPTED',
      'WEBHOOK_TIMEOUT_MS',
      'WEBHOOK_RETRY_DELAYS_SECONDS',
      'WEBHOOK_SWEEP_MS',
      'WEBHOOK_SENDS_PER_ENDPOINT',
      'WEBHOOK_SENDS',
      'WEBHOOK_LOG_RETENTION_DAYS',
      'EGRESS_ALLOW_CIDRS',
      'EGRESS_DNS_SERVERS',
    ],
  },
  integration: {
    environment: ({ secrets, webhookCaFile }) => ({
      INTEGRATION_SECRET_KEY: secrets.integrationSecretKey,
      EGRESS_CA_FILE: webhookCaFile,
    }),
    // A partner's game server runs on this machine. Its certificate is from the data directory's
    // authority.
    defaults: { EGRESS_ALLOW_CIDRS: '127.0.0.0/8,::1/128' },
    settings: [
      'INTEGRATION_SECRET_KEY_VERSION',
      'INTEGRATION_SECRET_KEYS_ACCEPTED',
      'INTEGRATION_POLL_TIMEOUT_MS',
      'INTEGRATION_SWEEP_MS',
      'INTEGRATION_POLLS_PER_ORIGIN',
      'INTEGRATION_POLLS',
      'INTEGRATION_LOG_RETENTION_DAYS',
      'EGRESS_ALLOW_CIDRS',
      'EGRESS_DNS_SERVERS',
    ],
  },
  gateway: {
    environment: ({ secrets }) => ({ OPERATOR_TOKEN: secrets.operatorToken, KEY_PEPPER: secrets.keyPepper }),
    // The portal runs over plain HTTP here, where a browser does not send a cookie that is marked
    // Secure.
    defaults: { PORTAL_COOKIE_SECURE: 'false' },
    settings: [
      'AUDIT_INTERVAL_SECONDS',
      'HTTP_HOST',
      'OPERATOR_TOKENS',
      'KEY_PEPPER_VERSION',
      'KEY_PEPPERS_ACCEPTED',
      'TRUSTED_PROXIES',
      'DOCS_ENABLED',
      'PORTAL_ENABLED',
      'OPERATOR_PAGES_ENABLED',
      'REQUEST_LOG_ENABLED',
      'MAX_CONNECTIONS',
      'MAX_CONNECTIONS_PER_ADDRESS',
      'MAX_BODY_KIB_IN_FLIGHT',
      'ACCEPTED_ENVIRONMENTS',
      'RATE_LIMIT_PER_MINUTE',
      'SANDBOX_RATE_LIMIT_PER_MINUTE',
      'PORTAL_RATE_LIMIT_PER_MINUTE',
      'OPERATOR_RATE_LIMIT_PER_MINUTE',
      'API_FAILURES_PER_MINUTE',
      'IDEMPOTENCY_TAKEOVER_SECONDS',
      'PORTAL_SESSION_HOURS',
      'PORTAL_COOKIE_SECURE',
      'PORTAL_SIGN_IN_WINDOW_MINUTES',
      'PORTAL_SIGN_IN_FAILURES',
      'PORTAL_SIGN_IN_FAILURES_PER_EMAIL',
      'PORTAL_SIGN_IN_FAILURES_PER_ADDRESS',
      'PORTAL_SIGN_IN_FIRST_DELAY_SECONDS',
      'PORTAL_SIGN_IN_MAX_DELAY_SECONDS',
    ],
  },
};

/** A service comes after the services that it depends on. */
export const SERVICES: readonly ServiceShape[] = SERVICE_NAMES.map((name) => {
  const { environment, settings, ...own } = OWN[name];
  return {
    ...own,
    name,
    environment: (stack) => ({
      ...portsOf(name, stack),
      ...addressesFor(name, (called) => `127.0.0.1:${stack.ports[`${called}Grpc`]}`),
      ...(isNatsUser(name) && { NATS_URL: stack.natsUrl }),
      ...environment?.(stack),
    }),
    settings: [
      ...COMMON_SETTINGS,
      databaseVariableOf(name).replace(/URL$/, 'POOL'),
      ...(isNatsUser(name) ? EVENT_SETTINGS : []),
      ...(TABLE[name].events === 'publishes' ? PUBLISHER_SETTINGS : []),
      ...settings,
    ],
    readyUrl: ({ ports }) => `http://127.0.0.1:${ports[`${name}Admin`]}/readyz`,
  };
});

function portsOf(name: ServiceName, { ports, httpPort }: StackAddresses): Readonly<Record<string, string>> {
  const serves = isCalled(name) ? { GRPC_PORT: String(ports[`${name}Grpc`]) } : { HTTP_PORT: String(httpPort) };
  return { ...serves, ADMIN_PORT: String(ports[`${name}Admin`]) };
}
