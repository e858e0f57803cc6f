/**
 * What identifies a report. The owner of an attempt settles it once per operation and answers the same operation with the same outcome; so
 * the operation's id is derived from the report, and the same report is answered as before, however often it is sent and whatever this
 * service's database has lost.
 *
 * - Without `dedupe`: tenant, attempt, score, tiebreak and the bytes of the evidence.
 * - With it: tenant, attempt, score, tiebreak, and the integration's `dedupe` value in place of the evidence, which may then name, for
 *   example, the try that sent it.
 *
 * Another score or tiebreak is another report, which a settled attempt refuses.
 */
import { hash } from 'node:crypto';
import { deriveId } from '@laurel/ids';
import type { Tenant } from '@laurel/tenant';

export type ReportIdentity = {
  readonly tenant: Tenant;
  readonly attemptId: string;
  readonly score: number;
  readonly tiebreak?: number;
  readonly evidenceJson: string;
  readonly integrationId: string;
  readonly dedupe: string | null;
};

/** The 32 bytes that stand for a `dedupe` value of an integration in the database. */
export function reportHashOf(integrationId: string, dedupe: string): Buffer {
  return hash('sha256', encode([integrationId, dedupe]), 'buffer');
}

/** A UUIDv8 with the time of the attempt's id, so that it lands beside it in an index. */
export function operationIdOf(report: ReportIdentity): string {
  const { tenant, attemptId, score, tiebreak, evidenceJson, integrationId, dedupe } = report;
  const mark = dedupe === null ? ['evidence', evidenceJson] : ['dedupe', integrationId, dedupe];
  const parts = [tenant.programId, tenant.environment, String(score), tiebreak === undefined ? '' : String(tiebreak)];
  return deriveId(attemptId, encode(['report', ...parts, ...mark]));
}

/** Each part is prefixed with its length, so that no two lists of parts encode alike. */
function encode(parts: readonly string[]): string {
  return parts.map((part) => `${part.length}:${part}`).join('');
}
