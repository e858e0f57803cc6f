import type { Ports } from './ports.ts';
import type { Secrets } from './secrets.ts';

/** What the launcher must know of a service; its own configuration is in `services/<name>/src/config.ts`. */
export interface ServiceShape {
  readonly name: string;
  readonly databaseVariable: string;
  /** What the services of this stack need to find each other. */
  readonly environment: (stack: StackAddresses) => Readonly<Record<string, string>>;
  /** What this machine needs other than the services' own defaults; a setting of the same name wins. */
  readonly defaults?: (stack: StackAddresses) => Readonly<Record<string, string>>;
  /** Settings that are handed on when they stand in the launcher's environment; nothing else of it is. */
  readonly settings: readonly string[];
  readonly readyUrl: (stack: StackAddresses) => string;
}

export interface StackAddresses {
  readonly ports: Ports;
  readonly httpPort: number;
  readonly secrets: Secrets;
  readonly natsUrl: string;
  /** The certificate of the data directory's own authority, as PEM. */
  readonly webhookCaFile: string;
}

const COMMON_SETTINGS = [
  'LOG_LEVEL',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_TRACES_SAMPLER',
  'OTEL_TRACES_SAMPLER_ARG',
];
/** The broker may be another's, and then carry several stacks. */
const EVENT_SETTINGS = ['EVENTS_PREFIX'];
const OWNER_SETTINGS = [...EVENT_SETTINGS, 'OUTBOX_REPUBLISH_AFTER_MS'];

/** In the order in which they depend on each other. */
export const SERVICES: readonly ServiceShape[] = [
  {
    name: 'wallet',
    databaseVariable: 'WALLET_DATABASE_URL',
    environment: ({ ports }) => ({ GRPC_PORT: String(ports.walletGrpc), ADMIN_PORT: String(ports.walletAdmin) }),
    settings: [
      ...COMMON_SETTINGS,
      'WALLET_DATABASE_POOL',
      'MINIMUM_AGE_YEARS',
      'SERVED_JURISDICTIONS',
      'PAYOUT_VELOCITY_COUNT',
      'PAYOUT_VELOCITY_AMOUNT',
    ],
    readyUrl: ({ ports }) => `http://127.0.0.1:${ports.walletAdmin}/readyz`,
  },
  {
    name: 'challenge',
    databaseVariable: 'CHALLENGE_DATABASE_URL',
    environment: ({ ports, secrets, natsUrl }) => ({
      GRPC_PORT: String(ports.challengeGrpc),
      ADMIN_PORT: String(ports.challengeAdmin),
      WALLET_ADDRESS: `127.0.0.1:${ports.walletGrpc}`,
      RECEIPT_SIGNING_SEED: secrets.receiptSigningSeed,
      NATS_URL: natsUrl,
    }),
    settings: [
      ...COMMON_SETTINGS,
      ...OWNER_SETTINGS,
      'CHALLENGE_DATABASE_POOL',
      'ATTEMPT_TTL_SECONDS',
      'PENDING_GRACE_SECONDS',
      'SWEEP_INTERVAL_MS',
      'TIER_CEILINGS',
    ],
    readyUrl: ({ ports }) => `http://127.0.0.1:${ports.challengeAdmin}/readyz`,
  },
  {
    name: 'tournament',
    databaseVariable: 'TOURNAMENT_DATABASE_URL',
    environment: ({ ports, secrets, natsUrl }) => ({
      GRPC_PORT: String(ports.tournamentGrpc),
      ADMIN_PORT: String(ports.tournamentAdmin),
      WALLET_ADDRESS: `127.0.0.1:${ports.walletGrpc}`,
      RECEIPT_SIGNING_SEED: secrets.receiptSigningSeed,
      NATS_URL: natsUrl,
    }),
    settings: [
      ...COMMON_SETTINGS,
      ...OWNER_SETTINGS,
      'TOURNAMENT_DATABASE_POOL',
      'ATTEMPT_TTL_SECONDS',
      'PENDING_GRACE_SECONDS',
      'SWEEP_INTERVAL_MS',
    ],
    readyUrl: ({ ports }) => `http://127.0.0.1:${ports.tournamentAdmin}/readyz`,
  },
  {
    name: 'webhook',
    databaseVariable: 'WEBHOOK_DATABASE_URL',
    environment: ({ ports, secrets, natsUrl, webhookCaFile }) => ({
      GRPC_PORT: String(ports.webhookGrpc),
      ADMIN_PORT: String(ports.webhookAdmin),
      NATS_URL: natsUrl,
      WEBHOOK_SECRET_KEY: secrets.webhookSecretKey,
      EGRESS_CA_FILE: webhookCaFile,
    }),
    // A developer receives on this machine, with a certificate of the data directory's authority.
    defaults: () => ({ EGRESS_ALLOW_CIDRS: '127.0.0.0/8,::1/128' }),
    settings: [
      ...COMMON_SETTINGS,
      ...EVENT_SETTINGS,
      'EVENTS_REPLICAS',
      'WEBHOOK_DATABASE_POOL',
      'WEBHOOK_TIMEOUT_MS',
      'WEBHOOK_RETRY_DELAYS_SECONDS',
      'WEBHOOK_SWEEP_MS',
      'WEBHOOK_SENDS_PER_ENDPOINT',
      'WEBHOOK_SENDS',
      'WEBHOOK_LOG_RETENTION_DAYS',
      'EGRESS_ALLOW_CIDRS',
      'EGRESS_DNS_SERVERS',
    ],
    readyUrl: ({ ports }) => `http://127.0.0.1:${ports.webhookAdmin}/readyz`,
  },
  {
    name: 'gateway',
    databaseVariable: 'GATEWAY_DATABASE_URL',
    environment: ({ ports, httpPort, secrets }) => ({
      HTTP_PORT: String(httpPort),
      WALLET_ADDRESS: `127.0.0.1:${ports.walletGrpc}`,
      CHALLENGE_ADDRESS: `127.0.0.1:${ports.challengeGrpc}`,
      TOURNAMENT_ADDRESS: `127.0.0.1:${ports.tournamentGrpc}`,
      WEBHOOK_ADDRESS: `127.0.0.1:${ports.webhookGrpc}`,
      OPERATOR_TOKEN: secrets.operatorToken,
      KEY_PEPPER: secrets.keyPepper,
    }),
    // Plain HTTP: a browser keeps a cookie that is marked Secure to itself.
    defaults: () => ({ PORTAL_COOKIE_SECURE: 'false' }),
    settings: [
      ...COMMON_SETTINGS,
      'HTTP_HOST',
      'GATEWAY_DATABASE_POOL',
      'ACCEPTED_ENVIRONMENTS',
      'RATE_LIMIT_PER_MINUTE',
      'IDEMPOTENCY_TAKEOVER_SECONDS',
      'IDEMPOTENCY_RETENTION_HOURS',
      'PORTAL_SESSION_HOURS',
      'PORTAL_COOKIE_SECURE',
      'PORTAL_SIGN_IN_WINDOW_MINUTES',
      'PORTAL_SIGN_IN_FAILURES_PER_EMAIL',
      'PORTAL_SIGN_IN_FAILURES_PER_ADDRESS',
    ],
    readyUrl: ({ httpPort }) => `http://127.0.0.1:${httpPort}/readyz`,
  },
];
