import type { ApiPromise } from '../api-promise.ts';
import type {
  Attempt,
  DeliveryReference,
  PlayerLink,
  Round,
  SandboxEventList,
  SandboxPlayerRequest,
} from '../api-types.ts';
import { checkPlayerBody, pathSegment, query } from '../arguments.ts';
import type { CallOptions, Send } from '../send.ts';

export interface ListSandboxEventsQuery {
  /** The `next_cursor` of the previous page, or the `cursor` of an event. */
  readonly after?: string | undefined;
  /**
   * Where a first page, without `after`, begins. `now` (the default): an empty page with a cursor
   * to start at. `oldest`: the oldest event.
   */
  readonly from?: 'now' | 'oldest' | undefined;
  /** Events a page, 1 to 200; 200 by default. */
  readonly limit?: number | undefined;
}

/** Each call adds funds. */
const CREATE_PLAYER = { method: 'POST', template: '/api/sandbox/players', repetition: 'once' } as const;
const HOLD_NEXT_AWARD = {
  method: 'POST',
  template: '/api/sandbox/players/{playerRef}/hold-next-award',
  repetition: 'harmless',
  noContent: true,
} as const;
const EXPIRE_ATTEMPT = {
  method: 'POST',
  template: '/api/sandbox/attempts/{attemptId}/expire',
  repetition: 'harmless',
} as const;
const CLOSE_ENTRIES = {
  method: 'POST',
  template: '/api/sandbox/rounds/{roundId}/close-entries',
  repetition: 'harmless',
} as const;
const CLOSE_ROUND = {
  method: 'POST',
  template: '/api/sandbox/rounds/{roundId}/close',
  repetition: 'harmless',
} as const;
/** Each call uses up one of the delivery's retries. */
const RETRY_DELIVERY = {
  method: 'POST',
  template: '/api/sandbox/webhook-deliveries/{deliveryId}/retry-now',
  repetition: 'once',
} as const;
const LIST_EVENTS = { method: 'GET', template: '/api/sandbox/events', repetition: 'harmless' } as const;

/**
 * What a test needs and a game does not: players with play money, and the end of waiting times. For
 * test keys only: with a live key every method rejects with a TypeError and sends nothing. These
 * routes are not part of the contract of `/v1`, and may change with any release.
 */
export class Sandbox {
  readonly #send: Send;

  constructor(send: Send, apiKey: string) {
    this.#send = (operation, prepare) =>
      send(operation, () => {
        requireTestKey(apiKey);
        return prepare();
      });
  }

  /**
   * Creates an account with play money and links it to the `player_ref`; or changes the player whom
   * the ref names, and adds the `funds`. Not repeated after a lost response, which could add the
   * funds again: a new `player_ref` gives a player with a known balance.
   */
  createPlayer(body: SandboxPlayerRequest, options?: CallOptions): ApiPromise<PlayerLink> {
    return this.#send(CREATE_PLAYER, () => ({ path: '/api/sandbox/players', body: checkPlayerBody(body), options }));
  }

  /**
   * Holds the player's next award or purse for review. Two calls before that award still hold only
   * one.
   */
  holdNextAward(playerRef: string, options?: CallOptions): ApiPromise<void> {
    return this.#send(HOLD_NEXT_AWARD, () => ({
      path: `/api/sandbox/players/${pathSegment('playerRef', playerRef)}/hold-next-award`,
      options,
    }));
  }

  /**
   * Ends an open attempt as if its hour had passed, and refunds its fee. `attempt_already_settled`
   * if the attempt is no longer open. This call may itself have ended it: its first response was
   * lost, and the call was repeated. `attempts.retrieve` shows what happened.
   */
  expireAttempt(attemptId: string, options?: CallOptions): ApiPromise<Attempt> {
    return this.#send(EXPIRE_ATTEMPT, () => ({
      path: `/api/sandbox/attempts/${pathSegment('attemptId', attemptId)}/expire`,
      options,
    }));
  }

  /**
   * Closes an open round for entries, as if the last ten minutes before its end had begun.
   * `conflict` if it is not open.
   */
  closeEntries(roundId: string, options?: CallOptions): ApiPromise<Round> {
    return this.#send(CLOSE_ENTRIES, () => ({ path: `${roundPath(roundId)}/close-entries`, options }));
  }

  /**
   * Ends an open round now, and responds when it is settled or cancelled, with every payout and
   * refund done. `conflict` if the round is not open. This call may itself have ended it: its first
   * response was lost, and the call was repeated. `rounds.leaderboard` shows what happened.
   */
  closeRound(roundId: string, options?: CallOptions): ApiPromise<Round> {
    return this.#send(CLOSE_ROUND, () => ({ path: `${roundPath(roundId)}/close`, options }));
  }

  /**
   * Makes the next scheduled retry of a webhook delivery due now; it counts as that retry.
   * `conflict` if none is scheduled. Not repeated after a lost response, which could use up another
   * retry.
   */
  retryDelivery(deliveryId: string, options?: CallOptions): ApiPromise<DeliveryReference> {
    return this.#send(RETRY_DELIVERY, () => ({
      path: `/api/sandbox/webhook-deliveries/${pathSegment('deliveryId', deliveryId)}/retry-now`,
      options,
    }));
  }

  /**
   * The sandbox's events, oldest first, whether or not a webhook endpoint gets them; kept for 3
   * days.
   */
  listEvents(parameters?: ListSandboxEventsQuery, options?: CallOptions): ApiPromise<SandboxEventList> {
    return this.#send(LIST_EVENTS, () => ({
      path: `/api/sandbox/events${query(parameters, { whole: ['limit'] })}`,
      options,
    }));
  }
}

/** The API would refuse a live key with `unauthorized`, and count a failed authentication. */
function requireTestKey(apiKey: string): void {
  if (!apiKey.startsWith('sk_test_')) throw new TypeError('laurel.sandbox needs a test key, "sk_test_...".');
}

function roundPath(roundId: string): string {
  return `/api/sandbox/rounds/${pathSegment('roundId', roundId)}`;
}
