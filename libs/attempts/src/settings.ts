/** The settings that every service that owns attempts reads alike. Its database and what only it knows are in its own config.ts. */

import { eventStreamSettings } from '@laurel/events';
import { address, auditSettings, durationMs, grpcServiceSettings, secretKey, spanSeconds } from '@laurel/service';
import { DEFAULT_ATTEMPT_TTL_SECONDS } from './domain/attempt-expiry.ts';

export const attemptOwnerSettings = {
  ...grpcServiceSettings,
  WALLET_ADDRESS: address,
  /** The secret half of the key that receipts, and the seals of rounds, are signed with. */
  RECEIPT_SIGNING_SEED: secretKey,
  /** How long an attempt waits for its outcome. */
  ATTEMPT_TTL_SECONDS: spanSeconds.default(DEFAULT_ATTEMPT_TTL_SECONDS),
  /** How long a create may be in flight before the sweeper asks the wallet, which writes a tombstone for a fee that never arrived. */
  PENDING_GRACE_SECONDS: spanSeconds.default(60),
  SWEEP_INTERVAL_MS: durationMs.default(1_000),
  ...auditSettings,
  ...eventStreamSettings,
  /** How long an event that is not acknowledged stays in the outbox before it is looked for in the stream. */
  OUTBOX_REPUBLISH_AFTER_MS: durationMs.default(5_000),
};
