/**
 * The hot calls of the two contest services. Each item goes to its own service, in one array with
 * the items of concurrent requests.
 *
 * Model: twelve coalescers in front of multiplexed rpcs (`@laurel/grpc`, `hot`): one each for
 * creations, reports and look-ups of open attempts, per service and environment. So no request with
 * a live API key waits behind a request with a test API key. The coalescer defines the states of an
 * item and of a batch.
 *
 * Limits: LANES batches in flight, each with as many items as a call takes. MAX_QUEUED items wait;
 * more are refused immediately. ITEM_DEADLINE_MS runs from submit to result, and also bounds a call
 * and its one retry.
 *
 * Invariants: an item's ids determine its service, and only that service is called. A failed call
 * fails all items of its batch; the batch is not split, because the error is not about one item. If
 * the connection broke, the batch is retried once with the same ids, which makes it the same
 * operation. The service gives each item, by its index, a value, a refusal, or a failure, which
 * rejects that item alone.
 */
import { createCoalescersByEnvironment } from '@laurel/coalesce';
import { isApiErrorCode, isRefused, type Refused, refused } from '@laurel/errors';
import { createCoalescedCall } from '@laurel/grpc';
import type {
  Attempt,
  AttemptCreation,
  OpenAttempts,
  Outcome,
  OutcomeReport,
  OpenAttemptQuery as QueryMessage,
} from '@laurel/proto/attempts';
import { Environment, type Refusal, type Tenant } from '@laurel/proto/common';
import { type ContestServiceName, contestServiceOf } from '@laurel/values/ids';
import type { ChallengeClient } from './challenge.ts';
import type { TournamentClient } from './tournament.ts';

/** Two batches in flight hide the network round trip; more batches would only be smaller. */
const LANES = 2;
/**
 * About a second of work. Items beyond this number would time out, so they are refused immediately.
 */
const MAX_QUEUED = 5_000;
/**
 * The deadline of one item, including its time in the queue. Single calls have a shorter deadline.
 */
const ITEM_DEADLINE_MS = 8_000;

/** A batch may be sent again, because each of its items carries an id or changes nothing. */
const BY_ID = { retryLostReply: 'immediately' } as const;

export type ReportedOutcome = {
  readonly outcome: Outcome;
  /** True if an earlier report of the same operation recorded the outcome. */
  readonly repeated: boolean;
};

/** A player, and the challenge or round that the player plays. */
export type OpenAttemptQuery = Omit<QueryMessage, 'contestId'> & {
  readonly parent: { readonly kind: 'challenge' | 'round'; readonly id: string };
};

/**
 * One item per call. After a rejection the result is unknown; the caller may send the same id
 * again.
 */
export interface HotCalls extends AsyncDisposable {
  /** The attempt id names the service. */
  createAttempt(creation: AttemptCreation): Promise<Attempt | Refused>;
  /** The attempt id names the service. The challenge service ignores the tiebreak. */
  reportOutcome(report: OutcomeReport): Promise<Outcome | Refused>;
  /**
   * Does what `reportOutcome` does, and also returns whether an earlier report of the same
   * operation recorded the outcome.
   */
  reportOutcomeWithRepeated(report: OutcomeReport): Promise<ReportedOutcome | Refused>;
  /** Changes nothing. Returns `not_found` if the tenant has no such challenge or round. */
  findOpenAttempts(query: OpenAttemptQuery): Promise<OpenAttempts | Refused>;
}

export function createHotCalls(services: { challenge: ChallengeClient; tournament: TournamentClient }): HotCalls {
  const callsOf = {
    challenge: createCallsTo('challenge', services.challenge),
    tournament: createCallsTo('tournament', services.tournament),
  };

  async function reportOutcomeWithRepeated(report: OutcomeReport): Promise<ReportedOutcome | Refused> {
    const contestService = contestServiceOf(report.attemptId);
    if (contestService === null) return refused('not_found');
    const answer = await callsOf[contestService].reports.submit(report);
    return isRefused(answer) ? answer : { outcome: answer.value, repeated: answer.repeated };
  }

  return {
    async createAttempt(creation) {
      const contestService = contestServiceOf(creation.attemptId);
      return contestService === null
        ? refused('not_found')
        : itemOf(await callsOf[contestService].creations.submit(creation));
    },
    reportOutcomeWithRepeated,
    async reportOutcome(report) {
      const reported = await reportOutcomeWithRepeated(report);
      return isRefused(reported) ? reported : reported.outcome;
    },
    async findOpenAttempts({ parent, ...query }) {
      const calls = callsOf[parent.kind === 'round' ? 'tournament' : 'challenge'];
      return itemOf(await calls.queries.submit({ ...query, contestId: parent.id }));
    },
    async [Symbol.asyncDispose]() {
      const calls = Object.values(callsOf).flatMap((ofOwner) => Object.values(ofOwner));
      await Promise.all(calls.map((call) => call.drain()));
    },
  };
}

function createCallsTo(contestService: ContestServiceName, client: ChallengeClient | TournamentClient) {
  return {
    creations: createHotCall(`${contestService}.create_attempts`, (creations: AttemptCreation[]) =>
      client.createAttempts({ creations }, BY_ID),
    ),
    reports: createHotCall(`${contestService}.report_outcomes`, (reports: OutcomeReport[]) =>
      client.reportOutcomes({ reports }, BY_ID),
    ),
    queries: createHotCall(`${contestService}.find_open_attempts`, (queries: QueryMessage[]) =>
      client.findOpenAttempts({ queries }, BY_ID),
    ),
  };
}

/** The result of an item, in the form that both services send. */
interface ItemResult<Value> {
  readonly result:
    | { readonly $case: 'attempt' | 'outcome' | 'found'; readonly value: Value }
    | { readonly $case: 'refused'; readonly value: Refusal }
    | { readonly $case: 'failure'; readonly value: { readonly message: string } }
    | undefined;
  readonly repeated?: boolean;
}

type ItemAnswer<Value> = { readonly value: Value; readonly repeated: boolean };

function itemOf<Value>(answer: ItemAnswer<Value> | Refused): Value | Refused {
  return isRefused(answer) ? answer : answer.value;
}

function createHotCall<Item extends { readonly tenant?: Tenant | undefined }, Value>(
  name: string,
  call: (items: Item[]) => Promise<{ readonly results: ItemResult<Value>[] } | Refused>,
) {
  const create = () =>
    createCoalescedCall<Item, ItemResult<Value>>({
      name,
      lanes: LANES,
      maxQueued: MAX_QUEUED,
      call: async (items) => {
        const response = await call([...items]);
        if (isRefused(response)) throw new Error(`${name} refuses items, never the batch: ${response.code}`);
        return response.results;
      },
    });
  const coalescer = createCoalescersByEnvironment<Item, ItemResult<Value>>({
    environmentOf: ({ tenant }) => (tenant?.environment === Environment.LIVE ? 'live' : 'test'),
    create,
  });
  return {
    async submit(item: Item): Promise<ItemAnswer<Value> | Refused> {
      const { result, repeated = false } = await coalescer.submit(item, { deadlineAt: Date.now() + ITEM_DEADLINE_MS });
      switch (result?.$case) {
        case 'attempt':
        case 'outcome':
        case 'found':
          return { value: result.value, repeated };
        case 'refused':
          if (!isApiErrorCode(result.value.code)) throw new Error(`${name} refused with an unknown error code`);
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
