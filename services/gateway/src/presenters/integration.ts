/**
 * Integrations and the results of pushes and polls (docs/contract/partner-api.md, "Integration" and
 * "Pushed outcomes"; docs/contract/portal-api.md).
 */
import { AwardStatus } from '@laurel/proto/attempts';
import { INTEGRATION_STATUSES, LOG_KINDS, nameOf, RECORD_STATUSES, TRANSPORTS } from '@laurel/proto/enum-names';
import type {
  BatchResult,
  DryRunRecord,
  DryRunResponse,
  Integration,
  LogEntry,
  PointerFailure,
  RecordResult,
  SettledRecord,
} from '@laurel/proto/integration';
import { presentOutcome } from './attempt.ts';
import { timestamp } from './timestamp.ts';

/**
 * The integration as JSON text: `descriptor` is spliced in as the text that the service stores. The
 * members of `shownOnce` come after the others.
 */
export function presentIntegration(integration: Integration | undefined, shownOnce: object = {}): string {
  if (integration === undefined) throw new Error('the integration service left out the integration');
  const beforeDescriptor = JSON.stringify({
    id: integration.id,
    transport: nameOf(TRANSPORTS, integration.transport),
    status: nameOf(INTEGRATION_STATUSES, integration.status),
  });
  const afterDescriptor = JSON.stringify({
    has_signing_secret: integration.hasSigningSecret,
    pull_interval_seconds: integration.pullIntervalSeconds ?? null,
    last_polled_at: integration.lastPolledAt?.toISOString() ?? null,
    next_poll_at: integration.nextPollAt?.toISOString() ?? null,
    consecutive_failures: integration.consecutiveFailures,
    last_poll_error: integration.lastPollError ?? null,
    created_at: timestamp(integration.createdAt),
    ...shownOnce,
  });
  return `${beforeDescriptor.slice(0, -1)},"descriptor":${integration.descriptorJson},${afterDescriptor.slice(1)}`;
}

/** The response to a push of one record: the same body that this report gets through `/v1`. */
export function presentSettledRecord({ award, repeated: _repeated, ...record }: SettledRecord): string {
  return presentOutcome({
    ...record,
    award: award && { ...award, status: award.paidAt === undefined ? AwardStatus.HELD : AwardStatus.PAID },
  });
}

/** The response to a push of several records, or of one that settles nothing. */
export function presentBatch({ records }: BatchResult): string {
  return JSON.stringify({
    results: records.map(({ index, attemptId, status, code }) => ({
      index,
      attempt_id: attemptId || null,
      status: nameOf(RECORD_STATUSES, status),
      ...(code !== '' && { code }),
    })),
  });
}

/**
 * What a descriptor would read from a sample, as JSON text: evidence keeps every digit of the
 * sample.
 */
export function presentDryRun({ records, recordsFailure, nextPageJson }: DryRunResponse): string {
  const failure = recordsFailure === undefined ? null : JSON.stringify(presentFailure(recordsFailure));
  const read = records.map(presentDryRunRecord).join();
  return `{"records":[${read}],"records_failure":${failure},"next_page":${nextPageJson || null}}`;
}

function presentDryRunRecord({ index, result }: DryRunRecord): string {
  switch (result?.$case) {
    case 'readJson':
      return `{"index":${index},"status":"read","read":${result.value},"failure":null}`;
    case 'ignored':
      return JSON.stringify({ index, status: 'ignored', read: null, failure: null });
    case 'failed':
      return JSON.stringify({ index, status: 'failed', read: null, failure: presentFailure(result.value) });
    case undefined:
      throw new Error('the integration service gave no result for a record');
  }
}

function presentFailure({ pointer, field, message }: PointerFailure) {
  return { pointer, field, message };
}

/** One push, or one page of a poll. */
export function presentLogEntry(entry: LogEntry) {
  return {
    id: entry.id,
    kind: nameOf(LOG_KINDS, entry.kind),
    at: timestamp(entry.at),
    body_excerpt: entry.bodyExcerpt,
    error: entry.error || null,
    records: entry.records.map(presentRecord),
  };
}

function presentRecord({ index, attemptId, status, code, message }: RecordResult) {
  return {
    index,
    attempt_id: attemptId || null,
    status: nameOf(RECORD_STATUSES, status),
    code: code || null,
    message: message || null,
  };
}
