/** What the environment tells the webhook service. */
import { Resolver } from 'node:dns';
import { readFileSync } from 'node:fs';
import { EVENTS_PREFIX, EVENTS_PREFIX_RULE } from '@laurel/events';
import { type Cidrs, parseCidrs } from '@laurel/safe-url';
import { databaseUrl, durationMs, logLevel, natsUrl, port, positiveInt, tracingSettings } from '@laurel/service';
import { z } from 'zod';

const SECRET_KEY_BYTES = 32;
const MAX_DELAY_SECONDS = 86_400;

const secretKey = z.base64('must be base64').transform((text, context) => {
  const key = Buffer.from(text, 'base64');
  if (key.length === SECRET_KEY_BYTES) return key;
  context.addIssue(`must be ${SECRET_KEY_BYTES} bytes in base64`);
  return z.NEVER;
});

/** Two delays: three sends have two gaps between them. In milliseconds. */
const retryDelays = z
  .string()
  .regex(/^\d{1,5},\d{1,5}$/, 'must be two whole numbers of seconds, comma-separated')
  .transform((text, context): readonly [number, number] => {
    const [first = 0, second = 0] = text.split(',').map(Number);
    if (first <= MAX_DELAY_SECONDS && second <= MAX_DELAY_SECONDS) return [first * 1_000, second * 1_000];
    context.addIssue(`must be at most ${MAX_DELAY_SECONDS} seconds each`);
    return z.NEVER;
  });

const cidrs = z.string().transform((text, context): Cidrs => {
  try {
    return parseCidrs(text);
  } catch {
    context.addIssue('must be networks like 10.0.0.0/8, comma-separated');
    return z.NEVER;
  }
});

const pemFile = z.string().transform((path, context): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    context.addIssue('must be a file that can be read');
    return z.NEVER;
  }
});

const dnsServers = z.string().transform((text, context): string[] => {
  const servers = text.split(',').map((server) => server.trim());
  try {
    new Resolver().setServers(servers);
    return servers;
  } catch {
    context.addIssue('must be addresses like 10.0.0.53 or 10.0.0.53:5353, comma-separated');
    return z.NEVER;
  }
});

export const webhookConfigSchema = z.object({
  LOG_LEVEL: logLevel.default('info'),
  ...tracingSettings,
  GRPC_HOST: z.string().default('127.0.0.1'),
  GRPC_PORT: port,
  ADMIN_HOST: z.string().default('127.0.0.1'),
  /** 0 takes any free port. */
  ADMIN_PORT: port.default(0),
  WEBHOOK_DATABASE_URL: databaseUrl,
  WEBHOOK_DATABASE_POOL: positiveInt.default(8),
  /** Where events are taken from; several are separated by commas. */
  NATS_URL: natsUrl,
  /** The name of the stream of events and of its subjects; one broker can carry several stacks. */
  EVENTS_PREFIX: z.string().regex(EVENTS_PREFIX, EVENTS_PREFIX_RULE).default('laurel'),
  /** How many servers of a clustered NATS keep the stream, which this service makes. */
  EVENTS_REPLICAS: positiveInt.default(1),
  /** What signing secrets are encrypted under. */
  WEBHOOK_SECRET_KEY: secretKey,
  /** From a send's beginning to the end of the answer that is read. */
  WEBHOOK_TIMEOUT_MS: durationMs.default(5_000),
  /** After the first failed send and after the second, in milliseconds here. */
  WEBHOOK_RETRY_DELAYS_SECONDS: retryDelays.prefault('60,300'),
  WEBHOOK_SWEEP_MS: durationMs.default(30_000),
  /** Sends that may be in flight to one endpoint, and in all. */
  WEBHOOK_SENDS_PER_ENDPOINT: positiveInt.default(4),
  WEBHOOK_SENDS: positiveInt.default(128),
  WEBHOOK_LOG_RETENTION_DAYS: positiveInt.default(30),
  /** Networks that are not public and may be spoken to all the same. */
  EGRESS_ALLOW_CIDRS: cidrs.prefault(''),
  /** Certificates, as a PEM file, that are trusted besides the system's. */
  EGRESS_CA_FILE: pemFile.optional(),
  /** The system's unless said. */
  EGRESS_DNS_SERVERS: dnsServers.optional(),
});

export type WebhookConfig = z.output<typeof webhookConfigSchema>;
