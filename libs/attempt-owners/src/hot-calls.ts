/**
 * The hot calls of the two services that own attempts: each item goes to its owner, with those of concurrent requests in one array.
 *
 * Model      four coalescers (creations and reports, for each owner), in front of multiplexed rpcs (`@laurel/grpc`, `hot`). The
 *            states of an item and of a batch are the coalescer's.
 * Limits     LANES batches under way and MAX_ITEMS in one; MAX_QUEUED items wait, and more are refused immediately; ITEM_DEADLINE_MS
 *            from submit to answer, which also bounds a call and its one retry.
 * Invariants an item's owner follows from its ids, and only that owner is called. A batch that fails fails all of its items and is
 *            not split: the error is the call's. It is retried once when the connection broke, with the same ids, which makes it the
 *            same operation. The owner answers each item by its index: with a value, a refusal, or a failure, which rejects that
 *            item alone.
 */
import { isApiErrorCode, isRefused, type Refused, refused } from '@laurel/errors';
import { createCoalescedCall } from '@laurel/grpc';
import { ownerOf } from '@laurel/ids';
import type * as challenge from '@laurel/proto/challenge';
import type { Refusal } from '@laurel/proto/common';
import type * as tournament from '@laurel/proto/tournament';
import type { ChallengeClient } from './challenge.ts';
import type { TournamentClient } from './tournament.ts';

/** Two batches in flight hide the network round trip; more would only make each smaller. */
const LANES = 2;
/** The most items that `CreateAttempts` and `ReportOutcomes` accept. */
const MAX_ITEMS = 200;
/** About a second of work: items beyond it would time out, and are refused immediately. */
const MAX_QUEUED = 5_000;
/** For an item, its time in the queue included; a single call has less. */
const ITEM_DEADLINE_MS = 8_000;

/** Each item carries its id, so that the same batch may be sent again. */
const BY_ID = { retryLostReply: true };

/** One item per call. A rejection leaves the result unknown; the same id may be sent again. */
export interface HotCalls extends AsyncDisposable {
  /** The owner follows from the parent id in the creation. */
  createAttempt(
    creation: challenge.AttemptCreation | tournament.AttemptCreation,
  ): Promise<challenge.Attempt | tournament.Attempt | Refused>;
  /** The owner follows from the attempt id. The challenge service accepts the same report, without the tiebreak. */
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

/** The result of an item, alike in both services. */
interface ItemResult<Value> {
  readonly result:
    | { readonly $case: 'attempt' | 'outcome'; readonly value: Value }
    | { readonly $case: 'refused'; readonly value: Refusal }
    | { readonly $case: 'failure'; readonly value: { readonly message: string } }
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
        case 'failure':
          throw new Error(`${name} failed on this item: ${result.value.message}`);
        case undefined:
          throw new Error(`${name} gave no result`);
      }
    },
    drain: () => coalescer.drain(),
  };
}
