/**
 * How the gateway treats a use of an idempotency key (docs/contract/partner-api.md, "Idempotency"):
 *
 * | Situation                                                     | Result                     |
 * |---------------------------------------------------------------|----------------------------|
 * | First use                                                     | runs (decided by an insert)|
 * | Same key, same body                                           | replay                     |
 * | Same key, different body                                      | idempotency_key_reused     |
 * | Same key, original in flight                                  | idempotency_in_progress    |
 * | Same key, original died mid-flight more than 60 seconds ago   | takes over the operation   |
 * | (a missing or long key is refused before: 400)                |                            |
 *
 * A record is `locked` from its first use. A 2xx makes it `completed`, and a refusal deletes it. An
 * ambiguous failure on the gateway's side makes it `released`: the operation may have happened, so
 * the same request resumes it under its id, and it can never run twice. A different body under a
 * released key is a new operation. After 24 hours a record counts as absent, both here and at the
 * contest service.
 */
import { IDEMPOTENCY_USE_RETENTION_MS } from '@laurel/attempts/domain';
import { millisecondsBetween } from '@laurel/values/instant';

/** How long a request may be in flight by default, before its process counts as dead. */
export const DEFAULT_TAKEOVER_SECONDS = 60;

export interface IdempotencyRecord {
  readonly operationId: string;
  /** The hexadecimal SHA-256 of the request. */
  readonly fingerprint: string;
  readonly state: 'locked' | 'completed' | 'released';
  readonly createdAt: Date;
  readonly lockedAt: Date;
  /** Present once the operation is completed. */
  readonly stored: { readonly status: number; readonly body: string } | null;
}

export type IdempotencyDecision =
  | { readonly kind: 'replay'; readonly status: number; readonly body: string }
  | { readonly kind: 'reused' }
  | { readonly kind: 'in_progress' }
  /**
   * The idempotency lock belongs to this very use: its insert was committed, and only the
   * database's reply was lost.
   */
  | { readonly kind: 'own' }
  /** Runs the recorded operation again, under its id. */
  | { readonly kind: 'resume' }
  /** Runs as a new operation. It replaces the operation of the record. */
  | { readonly kind: 'restart' };

export function decideIdempotency(
  record: IdempotencyRecord,
  use: { readonly operationId: string; readonly fingerprint: string; readonly now: Date },
  limits: { readonly takeoverMs: number },
): IdempotencyDecision {
  const isSameRequest = record.fingerprint === use.fingerprint;
  if (record.operationId === use.operationId) return { kind: 'own' };
  if (millisecondsBetween(record.createdAt, use.now) >= IDEMPOTENCY_USE_RETENTION_MS) return { kind: 'restart' };
  if (record.state === 'released') return { kind: isSameRequest ? 'resume' : 'restart' };
  if (!isSameRequest) return { kind: 'reused' };
  if (record.state === 'completed') {
    if (record.stored === null) throw new Error('a completed record has no stored response');
    return { kind: 'replay', ...record.stored };
  }
  const isDead = millisecondsBetween(record.lockedAt, use.now) >= limits.takeoverMs;
  return { kind: isDead ? 'resume' : 'in_progress' };
}
