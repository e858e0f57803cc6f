/** The gateway's configuration. Only this file reads the environment. */
import { address, databaseUrl, logLevel, port, positiveInt, tracingSettings } from '@laurel/service';
import { z } from 'zod';

const ENVIRONMENTS = ['test', 'live'] as const;

const acceptedEnvironments = z
  .string()
  .transform((text) => [...new Set(text.split(',').map((name) => name.trim()))])
  .pipe(z.array(z.enum(ENVIRONMENTS, 'must be test, live or both')).min(1));

const pepper = z
  .string()
  .transform((text) => Buffer.from(text, 'base64'))
  .refine((bytes) => bytes.length === 32, 'must be 32 bytes in base64');

const flag = z.enum(['true', 'false'], 'must be true or false').transform((text) => text === 'true');

export const gatewayConfigSchema = z.object({
  LOG_LEVEL: logLevel.default('info'),
  ...tracingSettings,
  HTTP_HOST: z.string().default('127.0.0.1'),
  HTTP_PORT: port.default(8080),
  GATEWAY_DATABASE_URL: databaseUrl,
  GATEWAY_DATABASE_POOL: positiveInt.default(8),
  WALLET_ADDRESS: address,
  CHALLENGE_ADDRESS: address,
  TOURNAMENT_ADDRESS: address,
  WEBHOOK_ADDRESS: address,
  OPERATOR_TOKEN: z.string().min(1, 'must not be empty'),
  /** Keys the hash under which API keys and sessions are stored: whoever reads the database alone cannot test guesses. */
  KEY_PEPPER: pepper,
  /** Keys of any other environment answer 401. */
  ACCEPTED_ENVIRONMENTS: acceptedEnvironments.default([...ENVIRONMENTS]),
  RATE_LIMIT_PER_MINUTE: positiveInt.default(300),
  IDEMPOTENCY_TAKEOVER_SECONDS: positiveInt.default(60),
  IDEMPOTENCY_RETENTION_HOURS: positiveInt.default(24),
  PORTAL_SESSION_HOURS: positiveInt.default(12),
  /** False only where the portal is served over plain HTTP: browsers keep a secure cookie for HTTPS. */
  PORTAL_COOKIE_SECURE: flag.default(true),
  PORTAL_SIGN_IN_WINDOW_MINUTES: positiveInt.default(15),
  PORTAL_SIGN_IN_FAILURES_PER_EMAIL: positiveInt.default(10),
  PORTAL_SIGN_IN_FAILURES_PER_ADDRESS: positiveInt.default(100),
});

export type GatewayConfig = z.output<typeof gatewayConfigSchema>;
