/**
 * The settings that every contest service reads in the same way. A service's config.ts adds its
 * database and its own settings.
 */

import { DEFAULT_REPUBLISH_AFTER_MS, eventStreamSettings } from '@laurel/events';
import { address, auditSettings, durationMs, grpcServiceSettings, secretKey, spanSeconds } from '@laurel/service';
import { DEFAULT_ATTEMPT_TTL_SECONDS } from './domain/attempt-expiry.ts';
import { DEFAULT_PENDING_GRACE_SECONDS } from './sweeps/resolve-pending.ts';

export const contestServiceSettings = {
  ...grpcServiceSettings,
  WALLET_ADDRESS: address,
  /** The secret half of the key that signs receipts and the seals of rounds. */
  RECEIPT_SIGNING_SEED: secretKey,
  /** How long an attempt waits for its outcome. */
  ATTEMPT_TTL_SECONDS: spanSeconds.default(DEFAULT_ATTEMPT_TTL_SECONDS),
  /**
   * How long a creation may be in flight. After that the sweeper asks the wallet, which writes a
   * tombstone for a fee that never arrived.
   */
  PENDING_GRACE_SECONDS: spanSeconds.default(DEFAULT_PENDING_GRACE_SECONDS),
  SWEEP_INTERVAL_MS: durationMs.default(1_000),
  ...auditSettings,
  ...eventStreamSettings,
  /**
   * How long an unacknowledged event stays in the outbox before the relay looks for it in the
   * stream.
   */
  OUTBOX_REPUBLISH_AFTER_MS: durationMs.default(DEFAULT_REPUBLISH_AFTER_MS),
};
