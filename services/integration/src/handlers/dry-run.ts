/** DryRun: shows what a descriptor reads from a sample, and which pointer fails. Stores nothing. */
import { isRefused, type Refused, refused } from '@laurel/errors';
import type { Handlers } from '@laurel/grpc';
import { nameOf, TRANSPORTS } from '@laurel/proto/enum-names';
import type { DryRunRecord, DryRunRequest, DryRunResponse, IntegrationServiceService } from '@laurel/proto/integration';
import { MAX_SAMPLE_BYTES } from '@laurel/values/limits';
import type { BodyScheduler } from '../domain/body-scheduler.ts';
import { type Descriptor, parseSentDescriptor } from '../domain/descriptor.ts';
import { type Json, parseBody } from '../domain/json-body.ts';
import { checkFirstRequest, firstRequest, nextPage } from '../domain/paging.ts';
import { type ReadRecord, type RefusedBody, readRecords, refuseMissingRecords } from '../domain/read-body.ts';

export function dryRun({
  bodyScheduler,
}: {
  bodyScheduler: BodyScheduler;
}): Handlers<IntegrationServiceService>['dryRun'] {
  return (request) => bodyScheduler.runDryRun(() => tryOut(request));
}

function tryOut({ transport, descriptorJson, sampleJson }: DryRunRequest): DryRunResponse | Refused {
  const descriptor = parseSentDescriptor(descriptorJson, nameOf(TRANSPORTS, transport));
  if (isRefused(descriptor)) return descriptor;
  const issue = descriptor.pull === null ? null : checkFirstRequest(descriptor.pull);
  if (issue !== null) return refused('invalid_request', issue);
  if (Buffer.byteLength(sampleJson) > MAX_SAMPLE_BYTES) {
    return refused('invalid_request', `The sample is larger than ${MAX_SAMPLE_BYTES / 1024} KiB.`);
  }
  const sample = parseBody(sampleJson);
  if (isRefused(sample)) return presentFailure(descriptor, sample);
  const read = refuseMissingRecords(descriptor.map, sample) ?? readRecords(descriptor, sample);
  if (read.kind === 'refused') return presentFailure(descriptor, read);
  const records = read.kind === 'single' ? [read.record] : read.records;
  return {
    records: records.map(presentRecord),
    recordsFailure: undefined,
    nextPageJson: presentNextPage(descriptor, sample),
  };
}

/** If the sample is not JSON, the pointer `records` is shown as the one that failed. */
function presentFailure({ map }: Descriptor, { message, failure }: RefusedBody): DryRunResponse {
  const recordsFailure = failure ?? { pointer: map.records.text, field: 'map.records', message };
  return { records: [], recordsFailure, nextPageJson: '' };
}

function presentRecord(record: ReadRecord, index: number): DryRunRecord {
  switch (record.kind) {
    case 'ignored':
      return { index, result: { $case: 'ignored', value: true } };
    case 'unreadable':
      return { index, result: { $case: 'failed', value: record.failure } };
    case 'report': {
      const { attempt, score, tiebreak = null, evidenceJson, dedupe } = record;
      const read = JSON.stringify({ attempt: presentAttempt(attempt), score, tiebreak, dedupe });
      // Shows the evidence exactly as it would be stored, even digits that a double would lose.
      const value = `${read.slice(0, -1)},"evidence":${evidenceJson === '' ? 'null' : evidenceJson}}`;
      return { index, result: { $case: 'readJson', value } };
    }
  }
}

/** Presents the attempt under the names of the descriptor. */
function presentAttempt(attempt: Extract<ReadRecord, { kind: 'report' }>['attempt']): object {
  if (attempt.kind === 'id') return { attempt_id: attempt.attemptId };
  const { playerRef, parent, pick } = attempt;
  const name = parent.kind === 'challenge' ? 'challenge_id' : 'tournament_round_id';
  return { player_ref: playerRef, [name]: parent.id, pick };
}

/**
 * How the page after the sample would be requested, if the sample were the first page; empty if
 * none would be.
 */
function presentNextPage(descriptor: Descriptor, sample: Json): string {
  const { pull } = descriptor;
  if (pull === null) return '';
  const next = nextPage(descriptor, pull, firstRequest(pull, null), sample);
  switch (next.kind) {
    case 'next':
      return JSON.stringify({ url: next.request.url, cursor: next.cursor });
    case 'unreadable':
      return JSON.stringify({ failed: next.failure });
    // The first page of a poll was requested without a value, so it is never stuck.
    case 'stuck':
    case 'end':
      return '';
  }
}
