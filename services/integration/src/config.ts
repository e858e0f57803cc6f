/** The integration service's settings, read from the environment. */
import { egressSettings } from '@laurel/egress';
import {
  acceptedKeys,
  address,
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
import { DEFAULT_POLL_SLOTS } from './domain/poll-slots.ts';
import { DEFAULT_LOG_RETENTION_DAYS } from './workers/delete-old-rows.ts';
import { DEFAULT_SWEEP_MS } from './workers/poll.ts';
import { DEFAULT_PAGE_TIMEOUT_MS } from './workers/poll-one.ts';

export const integrationConfigSchema = z
  .object({
    ...grpcServiceSettings,
    INTEGRATION_DATABASE_URL: databaseUrl,
    INTEGRATION_DATABASE_POOL: positiveInt.default(8),
    CHALLENGE_ADDRESS: address,
    TOURNAMENT_ADDRESS: address,
    /** The key that encrypts signing secrets and the secrets of polls. */
    INTEGRATION_SECRET_KEY: secretKey,
    /** Counts the changes of the key; each change raises it. */
    INTEGRATION_SECRET_KEY_VERSION: keyVersion,
    /**
     * Other keys that may decrypt stored secrets: before a change of the key the next key, after
     * the change the old one.
     */
    INTEGRATION_SECRET_KEYS_ACCEPTED: acceptedKeys,
    /** The time from the start of the request for a page to the end of its body. */
    INTEGRATION_POLL_TIMEOUT_MS: durationMs.default(DEFAULT_PAGE_TIMEOUT_MS),
    /** How often the poller looks for due polls. */
    INTEGRATION_SWEEP_MS: durationMs.default(DEFAULT_SWEEP_MS),
    /** The most polls in flight: to one origin, and in total. */
    INTEGRATION_POLLS_PER_ORIGIN: positiveInt.default(DEFAULT_POLL_SLOTS.pollsPerOrigin),
    INTEGRATION_POLLS: positiveInt.default(DEFAULT_POLL_SLOTS.polls),
    INTEGRATION_LOG_RETENTION_DAYS: spanDays.default(DEFAULT_LOG_RETENTION_DAYS),
    ...egressSettings,
  })
  .superRefine(checkChannels)
  .superRefine(checkKeyVersions('INTEGRATION_SECRET_KEY'));

export type IntegrationConfig = z.output<typeof integrationConfigSchema>;
