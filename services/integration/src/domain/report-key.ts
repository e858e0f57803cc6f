/**
 * A report that names a player is known by what the descriptor's `dedupe` reads. This service keeps which attempt it stands for
 * (`report_attempts`). The attempt's owner gets the same as an idempotency key, which it records in the commit of the outcome and keeps for
 * 24 hours: a report whose pair was lost, and that is found to stand for another attempt, is refused there.
 */
import { createHash } from 'node:crypto';
import { hashId } from '@laurel/ids';

/** The report, as its integration knows it. */
export type ReportName = { readonly integrationId: string; readonly dedupe: string };

export type ReportedScore = {
  readonly attemptId: string;
  readonly score: number;
  readonly tiebreak: number | undefined;
};

export type ReportKeyUse = { readonly keyId: string; readonly fingerprint: Buffer };

/** The same report has the same fingerprint; for another attempt, score or tiebreak it has another. */
export function keyUseOf({ integrationId, dedupe }: ReportName, reported: ReportedScore): ReportKeyUse {
  const { attemptId, score, tiebreak } = reported;
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([attemptId, score, tiebreak ?? null]))
    .digest();
  return { keyId: hashId('report', integrationId, dedupe), fingerprint };
}
