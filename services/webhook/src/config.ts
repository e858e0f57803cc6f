/** The webhook service's settings, read from the environment. */
import { egressSettings } from '@laurel/egress';
import { eventStreamSettings } from '@laurel/events';
import {
  acceptedKeys,
  checkChannels,
  checkKeyVersions,
  databaseUrl,
  durationMs,
  grpcServiceSettings,
  keyVersion,
  positiveInt,
  secretKey,
  spanDays,
} from '@laurel/service';
import { z } from 'zod';
import { DEFAULT_RETRY_DELAYS_MS, type RetryDelaysMs } from './domain/retry-schedule.ts';
import { DEFAULT_SLOTS } from './domain/slots.ts';
import { DEFAULT_LOG_RETENTION_DAYS } from './workers/delete-old-rows.ts';
import { DEFAULT_SEND_TIMEOUT_MS, DEFAULT_SWEEP_MS } from './workers/deliver.ts';

const MAX_DELAY_SECONDS = 86_400;

/** Two delays for the two pauses between three sends; parsed to milliseconds. */
const retryDelays = z
  .string()
  .regex(/^\d{1,5},\d{1,5}$/, 'must be two whole numbers of seconds, comma-separated')
  .transform((text, context): RetryDelaysMs => {
    const [first = 0, second = 0] = text.split(',').map(Number);
    if (first <= MAX_DELAY_SECONDS && second <= MAX_DELAY_SECONDS) return [first * 1_000, second * 1_000];
    context.addIssue(`must be at most ${MAX_DELAY_SECONDS} seconds each`);
    return z.NEVER;
  });

export const webhookConfigSchema = z
  .object({
    ...grpcServiceSettings,
    WEBHOOK_DATABASE_URL: databaseUrl,
    WEBHOOK_DATABASE_POOL: positiveInt.default(8),
    ...eventStreamSettings,
    /** How many servers of a NATS cluster keep the stream, which this service creates. */
    EVENTS_REPLICAS: positiveInt.default(1),
    /** The key that encrypts signing secrets. */
    WEBHOOK_SECRET_KEY: secretKey,
    /** Counts the changes of the key; each change raises it. */
    WEBHOOK_SECRET_KEY_VERSION: keyVersion,
    /**
     * Other keys that may decrypt stored secrets: before a change of the key the next key, after
     * the change the old one.
     */
    WEBHOOK_SECRET_KEYS_ACCEPTED: acceptedKeys,
    /** The time from the start of a send until the last byte of the response that is read. */
    WEBHOOK_TIMEOUT_MS: durationMs.default(DEFAULT_SEND_TIMEOUT_MS),
    /** The delays after the first failed send and after the second; parsed to milliseconds. */
    WEBHOOK_RETRY_DELAYS_SECONDS: retryDelays.prefault(DEFAULT_RETRY_DELAYS_MS.map((ms) => ms / 1_000).join()),
    WEBHOOK_SWEEP_MS: durationMs.default(DEFAULT_SWEEP_MS),
    /** The most sends in flight in one environment: to one endpoint, and in total. */
    WEBHOOK_SENDS_PER_ENDPOINT: positiveInt.default(DEFAULT_SLOTS.sendsPerEndpoint),
    WEBHOOK_SENDS: positiveInt.default(DEFAULT_SLOTS.sends),
    WEBHOOK_LOG_RETENTION_DAYS: spanDays.default(DEFAULT_LOG_RETENTION_DAYS),
    ...egressSettings,
  })
  .superRefine(checkChannels)
  .superRefine(checkKeyVersions('WEBHOOK_SECRET_KEY'));

export type WebhookConfig = z.output<typeof webhookConfigSchema>;
