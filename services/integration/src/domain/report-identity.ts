/**
 * What identifies a report: tenant, attempt, score, tiebreak and the bytes of the evidence. The
 * operation's id derives from these. A contest service settles an attempt once per operation and
 * answers a repeated operation with the same outcome. So the same report always gets the same
 * outcome, however often it is sent, through whichever integration, and whatever this service's
 * database has lost. Another score, tiebreak or evidence makes another report, which a settled
 * attempt refuses.
 *
 * The value of the descriptor's `dedupe` finds the attempt of a report that names a player
 * (`report_attempts`). It plays no part in the operation.
 */
import { hash } from 'node:crypto';
import { deriveId } from '@laurel/values/ids';
import type { Tenant } from '@laurel/values/tenant';

export type ReportIdentity = {
  readonly tenant: Tenant;
  readonly attemptId: string;
  readonly score: number;
  readonly tiebreak?: number;
  /** The text that was sent; empty without evidence. */
  readonly evidenceJson: string;
};

/** The 32 bytes that represent an integration's `dedupe` value in the database. */
export function reportHashOf(integrationId: string, dedupe: string): Buffer {
  return hash('sha256', encode([integrationId, dedupe]), 'buffer');
}

/** A UUIDv8 with the time of the attempt's id, so that an index stores both close together. */
export function operationIdOf({ tenant, attemptId, score, tiebreak, evidenceJson }: ReportIdentity): string {
  const { programId, environment } = tenant;
  const scores = [String(score), tiebreak === undefined ? '' : String(tiebreak)];
  return deriveId(attemptId, encode(['report', programId, environment, ...scores, evidenceJson]));
}

/** Each part is prefixed with its length, so that no two lists of parts have the same encoding. */
function encode(parts: readonly string[]): string {
  return parts.map((part) => `${part.length}:${part}`).join('');
}
