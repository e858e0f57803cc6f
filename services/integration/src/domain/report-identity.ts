/**
 * What identifies a report: tenant, attempt, score, tiebreak and the bytes of the evidence. The owner of an attempt settles it once per
 * operation and answers the same report with the same outcome; so the operation's id is derived from the report, and the same report is
 * answered as before, however often it is sent, through whichever integration, and whatever this service's database has lost. Another
 * score, tiebreak or evidence is another report, which a settled attempt refuses.
 *
 * What the descriptor's `dedupe` reads finds the attempt of a report that names a player (`report_attempts`), and plays no part in the
 * operation.
 */
import { hash } from 'node:crypto';
import { deriveId } from '@laurel/ids';
import type { Tenant } from '@laurel/tenant';

export type ReportIdentity = {
  readonly tenant: Tenant;
  readonly attemptId: string;
  readonly score: number;
  readonly tiebreak?: number;
  /** The text that was sent; empty without evidence. */
  readonly evidenceJson: string;
};

/** The 32 bytes that stand for a `dedupe` value of an integration in the database. */
export function reportHashOf(integrationId: string, dedupe: string): Buffer {
  return hash('sha256', encode([integrationId, dedupe]), 'buffer');
}

/** A UUIDv8 with the time of the attempt's id, so that it lands beside it in an index. */
export function operationIdOf({ tenant, attemptId, score, tiebreak, evidenceJson }: ReportIdentity): string {
  const { programId, environment } = tenant;
  const scores = [String(score), tiebreak === undefined ? '' : String(tiebreak)];
  return deriveId(attemptId, encode(['report', programId, environment, ...scores, evidenceJson]));
}

/** Each part is prefixed with its length, so that no two lists of parts encode alike. */
function encode(parts: readonly string[]): string {
  return parts.map((part) => `${part.length}:${part}`).join('');
}
