/**
 * Parses the items of CreateAttempts and ReportOutcomes. Throws on an invalid message, because the
 * gateway never sends one.
 */
import { parseId, parseTenant } from '@laurel/grpc';
import type { AttemptCreation, OutcomeReport } from '@laurel/proto/attempts';
import type { CreationRequest, Report } from '../contest.ts';
import { parseIdempotencyUse } from './parse-idempotency-use.ts';

export function parseCreation(item: AttemptCreation): CreationRequest {
  return {
    attemptId: parseId(item.attemptId),
    tenant: parseTenant(item.tenant),
    contestId: parseId(item.contestId),
    playerRef: item.playerRef,
    metadata: item.metadataJson === '' ? '{}' : item.metadataJson,
    idempotencyUse: parseIdempotencyUse(item.keyUse),
  };
}

export function parseReport(item: OutcomeReport): Omit<Report, 'feePosted'> {
  const { score, tiebreak = null } = item;
  if (!Number.isFinite(score)) throw new Error('a score is not finite');
  if (tiebreak !== null && !Number.isFinite(tiebreak)) throw new Error('a tiebreak is not finite');
  return {
    operationId: parseId(item.operationId),
    attemptId: parseId(item.attemptId),
    tenant: parseTenant(item.tenant),
    score,
    tiebreak,
    evidence: item.evidenceJson,
    idempotencyUse: parseIdempotencyUse(item.keyUse),
  };
}
