import type { Ports } from './ports.ts';
import type { Secrets } from './secrets.ts';

/** What the launcher must know of a service; its own configuration is in `services/<name>/src/config.ts`. */
export interface ServiceShape {
  readonly name: string;
  readonly databaseVariable: string;
  /** What the services of this stack need to find each other. */
  readonly environment: (stack: StackAddresses) => Readonly<Record<string, string>>;
  /** Settings that are handed on when they stand in the launcher's environment; nothing else of it is. */
  readonly settings: readonly string[];
  readonly readyUrl: (stack: StackAddresses) => string;
}

export interface StackAddresses {
  readonly ports: Ports;
  readonly httpPort: number;
  readonly secrets: Secrets;
}

const COMMON_SETTINGS = ['LOG_LEVEL'];

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
    environment: ({ ports, secrets }) => ({
      GRPC_PORT: String(ports.challengeGrpc),
      ADMIN_PORT: String(ports.challengeAdmin),
      WALLET_ADDRESS: `127.0.0.1:${ports.walletGrpc}`,
      RECEIPT_SIGNING_SEED: secrets.receiptSigningSeed,
    }),
    settings: [
      ...COMMON_SETTINGS,
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
    environment: ({ ports, secrets }) => ({
      GRPC_PORT: String(ports.tournamentGrpc),
      ADMIN_PORT: String(ports.tournamentAdmin),
      WALLET_ADDRESS: `127.0.0.1:${ports.walletGrpc}`,
      RECEIPT_SIGNING_SEED: secrets.receiptSigningSeed,
    }),
    settings: [
      ...COMMON_SETTINGS,
      'TOURNAMENT_DATABASE_POOL',
      'ATTEMPT_TTL_SECONDS',
      'PENDING_GRACE_SECONDS',
      'SWEEP_INTERVAL_MS',
    ],
    readyUrl: ({ ports }) => `http://127.0.0.1:${ports.tournamentAdmin}/readyz`,
  },
  {
    name: 'gateway',
    databaseVariable: 'GATEWAY_DATABASE_URL',
    environment: ({ ports, httpPort, secrets }) => ({
      HTTP_PORT: String(httpPort),
      WALLET_ADDRESS: `127.0.0.1:${ports.walletGrpc}`,
      CHALLENGE_ADDRESS: `127.0.0.1:${ports.challengeGrpc}`,
      TOURNAMENT_ADDRESS: `127.0.0.1:${ports.tournamentGrpc}`,
      OPERATOR_TOKEN: secrets.operatorToken,
      KEY_PEPPER: secrets.keyPepper,
    }),
    settings: [
      ...COMMON_SETTINGS,
      'HTTP_HOST',
      'GATEWAY_DATABASE_POOL',
      'ACCEPTED_ENVIRONMENTS',
      'RATE_LIMIT_PER_MINUTE',
      'IDEMPOTENCY_TAKEOVER_SECONDS',
      'IDEMPOTENCY_RETENTION_HOURS',
    ],
    readyUrl: ({ httpPort }) => `http://127.0.0.1:${httpPort}/readyz`,
  },
];
