/**
 * A report that names a player is identified by the value of the descriptor's `dedupe`. This
 * service stores the attempt to which it is bound (`report_attempts`). The contest service gets the
 * value as an idempotency key, commits it with the outcome, and keeps it for 24 hours. So if the
 * pair was lost and the report finds another attempt, the contest service refuses it.
 */
import { createHash } from 'node:crypto';
import { hashId } from '@laurel/values/ids';

/** A report's name within its integration. */
export type ReportName = { readonly integrationId: string; readonly dedupe: string };

export type ReportedScore = {
  readonly attemptId: string;
  readonly score: number;
  readonly tiebreak: number | undefined;
};

export type ReportKeyUse = { readonly keyId: string; readonly fingerprint: Buffer };

/** The same report has the same fingerprint; another attempt, score or tiebreak gives another. */
export function keyUseOf({ integrationId, dedupe }: ReportName, reported: ReportedScore): ReportKeyUse {
  const { attemptId, score, tiebreak } = reported;
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([attemptId, score, tiebreak ?? null]))
    .digest();
  return { keyId: hashId('report', integrationId, dedupe), fingerprint };
}
