/** The hot calls of the two services that own attempts: each item goes to its owner, with those of concurrent requests in one array. */
import { isApiErrorCode, isRefused, type Refused, refused } from '@laurel/errors';
import { createCoalescedCall } from '@laurel/grpc';
import { ownerOf } from '@laurel/ids';
import type * as challenge from '@laurel/proto/challenge';
import type { Refusal } from '@laurel/proto/common';
import type * as tournament from '@laurel/proto/tournament';
import type { ChallengeClient } from './challenge.ts';
import type { TournamentClient } from './tournament.ts';

/** Two batches in flight hide the way there and back; more would only make each smaller. */
const LANES = 2;
/** What `CreateAttempts` and `ReportOutcomes` take at most. */
const MAX_ITEMS = 200;
/** About a second of work: more would wait in vain, and is turned away at once. */
const MAX_QUEUED = 5_000;
/** For an item, its time in the queue included; a call by itself has less. */
const ITEM_DEADLINE_MS = 8_000;

/** Each item carries its id, so that the same batch may be sent again. */
const BY_ID = { retryLostReply: true };

/** The hot calls, one item at a time. They reject when nobody knows whether the operation happened; the same id may be sent again. */
export interface HotCalls extends AsyncDisposable {
  /** The parent that the creation names is its owner. */
  createAttempt(
    creation: challenge.AttemptCreation | tournament.AttemptCreation,
  ): Promise<challenge.Attempt | tournament.Attempt | Refused>;
  /** The id of the attempt names its owner. The challenge service takes the same report, without the tiebreak. */
  reportOutcome(report: tournament.OutcomeReport): Promise<challenge.Outcome | tournament.Outcome | Refused>;
}

export function createHotCalls(services: { challenge: ChallengeClient; tournament: TournamentClient }): HotCalls {
  const creations = {
    challenge: createHotCall('challenge.create_attempts', (creations: challenge.AttemptCreation[]) =>
      services.challenge.createAttempts({ creations }, BY_ID),
    ),
    tournament: createHotCall('tournament.create_attempts', (creations: tournament.AttemptCreation[]) =>
      services.tournament.createAttempts({ creations }, BY_ID),
    ),
  };
  const reports = {
    challenge: createHotCall('challenge.report_outcomes', (reports: tournament.OutcomeReport[]) =>
      services.challenge.reportOutcomes({ reports }, BY_ID),
    ),
    tournament: createHotCall('tournament.report_outcomes', (reports: tournament.OutcomeReport[]) =>
      services.tournament.reportOutcomes({ reports }, BY_ID),
    ),
  };
  return {
    createAttempt: (creation) =>
      'roundId' in creation ? creations.tournament.submit(creation) : creations.challenge.submit(creation),
    reportOutcome: async (report) => {
      const owner = ownerOf(report.attemptId);
      return owner === null ? refused('not_found') : reports[owner].submit(report);
    },
    async [Symbol.asyncDispose]() {
      const calls = [creations.challenge, creations.tournament, reports.challenge, reports.tournament];
      await Promise.all(calls.map((call) => call.drain()));
    },
  };
}

/** What both services answer for an item. */
interface ItemResult<Value> {
  readonly result:
    | { readonly $case: 'attempt' | 'outcome'; readonly value: Value }
    | { readonly $case: 'refused'; readonly value: Refusal }
    | { readonly $case: 'fault'; readonly value: { readonly message: string } }
    | undefined;
}

function createHotCall<Item, Value>(
  name: string,
  call: (items: Item[]) => Promise<{ readonly results: ItemResult<Value>[] } | Refused>,
) {
  const coalescer = createCoalescedCall<Item, ItemResult<Value>>({
    name,
    lanes: LANES,
    maxItems: MAX_ITEMS,
    maxQueued: MAX_QUEUED,
    call: async (items) => {
      const response = await call([...items]);
      if (isRefused(response)) throw new Error(`${name} refuses items, never the batch: ${response.code}`);
      return response.results;
    },
  });
  return {
    async submit(item: Item): Promise<Value | Refused> {
      const { result } = await coalescer.submit(item, { deadlineAt: Date.now() + ITEM_DEADLINE_MS });
      switch (result?.$case) {
        case 'attempt':
        case 'outcome':
          return result.value;
        case 'refused':
          if (!isApiErrorCode(result.value.code)) throw new Error(`${name} refused with a code that is none of ours`);
          return refused(result.value.code, result.value.message || undefined);
        case 'fault':
          throw new Error(`${name} failed on this item: ${result.value.message}`);
        case undefined:
          throw new Error(`${name} gave no result`);
      }
    },
    drain: () => coalescer.drain(),
  };
}
