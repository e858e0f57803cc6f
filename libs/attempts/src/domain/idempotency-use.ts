/**
 * Which operation an idempotency key names. The contest service records the use of the key in the
 * commit that writes the operation (decision 23). The gateway decides most repeats by its own
 * records; this file decides repeats whose record the gateway has lost.
 *
 * If the contest service does not know the operation id of a use, it compares the use with the
 * recorded use of the same idempotency key:
 *
 * | Recorded use of the key                      | Result                                        |
 * |----------------------------------------------|-----------------------------------------------|
 * | none, or older than 24 hours                 | a new operation                               |
 * | same fingerprint                             | the recorded operation, sent again            |
 * | other fingerprint, the gateway's first use   | `idempotency_key_reused`                      |
 * | other fingerprint, the gateway knows the key | a new operation, because the gateway freed    |
 * |                                              | the key after a failure                       |
 *
 * A refused operation does not keep its key: the next request under that key is a new operation.
 */
import { millisecondsBetween } from '@laurel/values/instant';

/**
 * The use of an idempotency key, as the gateway sends it with an operation. The gateway sends no
 * use for an operation without an idempotency key.
 */
export type IdempotencyUse = {
  /** A uuid, one per tenant, route and idempotency key; `key_id` in messages and tables. */
  readonly idempotencyRecordId: string;
  /** SHA-256 of the path parameters and the body. */
  readonly fingerprint: Buffer;
  /** True if the gateway had no record of the key. */
  readonly isFirst: boolean;
  /** The time of the use, by the gateway's clock. It decides how long the key is kept. */
  readonly usedAt: Date;
};

/** An idempotency use as recorded with its operation. */
export type RecordedIdempotencyUse = {
  readonly idempotencyRecordId: string;
  /**
   * For a creation, the attempt id; for an outcome, the id from which the receipt id derives; for a
   * seeding, the id of the seeding.
   */
  readonly operationId: string;
  readonly fingerprint: Buffer;
  readonly usedAt: Date;
};

export type IdempotencyUseDecision =
  | { readonly kind: 'new' }
  /** The recorded operation, sent again. */
  | { readonly kind: 'repeated'; readonly operationId: string }
  | { readonly kind: 'reused' }
  /** A new operation, which replaces the recorded use. */
  | { readonly kind: 'superseded' };

/**
 * How long an idempotency key names its operation. The gateway keeps its records, and the contest
 * services keep the recorded uses, for this time (docs/contract/partner-api.md, "Idempotency").
 */
export const IDEMPOTENCY_USE_RETENTION_MS = 24 * 3_600_000;

export function decideIdempotencyUse(
  use: IdempotencyUse,
  recorded: RecordedIdempotencyUse | undefined,
): IdempotencyUseDecision {
  if (recorded === undefined) return { kind: 'new' };
  if (millisecondsBetween(recorded.usedAt, use.usedAt) >= IDEMPOTENCY_USE_RETENTION_MS) return { kind: 'superseded' };
  if (recorded.fingerprint.equals(use.fingerprint)) return { kind: 'repeated', operationId: recorded.operationId };
  return { kind: use.isFirst ? 'reused' : 'superseded' };
}
