/** The challenge service. The two hot calls of concurrent requests ride together as arrays; the others go one by one. */
import { isApiErrorCode, isRefused, type Refused, refused } from '@laurel/errors';
import { createClient, createCoalescedCall } from '@laurel/grpc';
import {
  type Attempt,
  type AttemptCreation,
  type AttemptCreationResult,
  ChallengeServiceClient,
  type Fault,
  type Outcome,
  type OutcomeReport,
  type OutcomeReportResult,
} from '@laurel/proto/challenge';
import type { Refusal } from '@laurel/proto/common';

/** Two batches in flight hide the way there and back; more would only make each smaller. */
const LANES = 2;
/** What `CreateAttempts` and `ReportOutcomes` take at most. */
const MAX_ITEMS = 200;
/** About a second of work: more would wait in vain, and is turned away at once. */
const MAX_QUEUED = 5_000;
/** For an item, its time in the queue included; a call by itself has less. */
const ITEM_DEADLINE_MS = 8_000;

export function connectChallenge(address: string) {
  return createClient(ChallengeServiceClient, { name: 'challenge', address });
}

/** One method per RPC. */
export type ChallengeClient = ReturnType<typeof connectChallenge>;

/** The hot calls, one item at a time. They reject when nobody knows whether the operation happened; the same id may be sent again. */
export interface HotCalls extends AsyncDisposable {
  createAttempt(creation: AttemptCreation): Promise<Attempt | Refused>;
  reportOutcome(report: OutcomeReport): Promise<Outcome | Refused>;
}

export function createHotCalls(challenge: ChallengeClient): HotCalls {
  const creations = createCoalescedCall<AttemptCreation, AttemptCreationResult>({
    name: 'challenge.create_attempts',
    lanes: LANES,
    maxItems: MAX_ITEMS,
    maxQueued: MAX_QUEUED,
    call: async (items) => resultsOf(await challenge.createAttempts({ creations: [...items] })),
  });
  const reports = createCoalescedCall<OutcomeReport, OutcomeReportResult>({
    name: 'challenge.report_outcomes',
    lanes: LANES,
    maxItems: MAX_ITEMS,
    maxQueued: MAX_QUEUED,
    call: async (items) => resultsOf(await challenge.reportOutcomes({ reports: [...items] })),
  });
  return {
    createAttempt: async (creation) => {
      const { result } = await creations.submit(creation, deadline());
      return result?.$case === 'attempt' ? result.value : refusalOf(result);
    },
    reportOutcome: async (report) => {
      const { result } = await reports.submit(report, deadline());
      return result?.$case === 'outcome' ? result.value : refusalOf(result);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([creations.drain(), reports.drain()]);
    },
  };
}

function deadline(): { deadlineAt: number } {
  return { deadlineAt: Date.now() + ITEM_DEADLINE_MS };
}

function resultsOf<Result>(response: { results: Result[] } | Refused): Result[] {
  if (isRefused(response)) throw new Error(`a batch call refuses items, never the batch: ${response.code}`);
  return response.results;
}

type ItemFailure = { $case: 'refused'; value: Refusal } | { $case: 'fault'; value: Fault } | undefined;

function refusalOf(result: ItemFailure): Refused {
  if (result?.$case === 'fault') throw new Error(`the challenge service failed on this item: ${result.value.message}`);
  if (result === undefined || !isApiErrorCode(result.value.code))
    throw new Error('the challenge service gave no result');
  return refused(result.value.code, result.value.message || undefined);
}
