/**
 * Which operation an idempotency key names, as the owner of the operation keeps it beside what the operation wrote, in the same commit
 * (decision 23). The gateway decides most repetitions by its own records; this decides those whose record the gateway has lost.
 *
 * A key use that arrives with an operation id that the owner does not know is judged against the recorded use of the same key:
 *
 * | Recorded use of the key                       | Result                                                              |
 * |-----------------------------------------------|---------------------------------------------------------------------|
 * | none, or older than 24 hours                  | a new operation                                                     |
 * | same fingerprint                              | the recorded operation, sent again: it is answered as itself        |
 * | other fingerprint, the gateway's first use    | `idempotency_key_reused`                                            |
 * | other fingerprint, the gateway knows the key  | a new operation: after a failure the gateway freed the key for it   |
 *
 * A refused operation holds no key: a new operation takes its place.
 */
import { millisecondsBetween } from '@laurel/instant';

/** What the gateway sends with an operation. Absent for operations without an idempotency key. */
export type KeyUse = {
  /** One for each tenant, route and idempotency key: a uuid. */
  readonly keyId: string;
  /** SHA-256 of the path parameters and the body. */
  readonly fingerprint: Buffer;
  /** The gateway had no record of the key. */
  readonly isFirst: boolean;
  /** By the gateway's clock, which decides how long the key is kept. */
  readonly usedAt: Date;
};

/** A use as it was recorded with its operation. */
export type RecordedKeyUse = {
  readonly keyId: string;
  /** The attempt's id for a creation; the id that the receipt's derives from for an outcome; that of a seeding. */
  readonly operationId: string;
  readonly fingerprint: Buffer;
  readonly usedAt: Date;
};

export type KeyUseDecision =
  | { readonly kind: 'new' }
  /** The recorded operation, sent again. */
  | { readonly kind: 'repeated'; readonly operationId: string }
  | { readonly kind: 'reused' }
  /** A new operation, and the recorded use gives way to it. */
  | { readonly kind: 'superseded' };

/** As long as the gateway keeps its records (docs/contract/partner-api.md, "Idempotency"). */
export const KEY_USE_RETENTION_MS = 24 * 3_600_000;

export function decideKeyUse(use: KeyUse, recorded: RecordedKeyUse | undefined): KeyUseDecision {
  if (recorded === undefined) return { kind: 'new' };
  if (millisecondsBetween(recorded.usedAt, use.usedAt) >= KEY_USE_RETENTION_MS) return { kind: 'superseded' };
  if (recorded.fingerprint.equals(use.fingerprint)) return { kind: 'repeated', operationId: recorded.operationId };
  return { kind: use.isFirst ? 'reused' : 'superseded' };
}
