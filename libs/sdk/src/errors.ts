import type { ErrorCode } from './api-types.ts';
import { isApiAnswer, STATUS_OF_CODE } from './closed-sets.ts';

/**
 * The codes with which a call can fail: the closed set of `/v1`, one code of the sandbox, and three
 * without an error of the API.
 * - `conflict`: sandbox only: the state of the player, round or delivery does not allow the call.
 * - `rate_limited`: the minute's requests are used up, and the next minute begins after the call's
 *   deadline (or `maxRetries` is 0).
 * - `network`: no response of Laurel arrived: no connection, one that ended early, or a response of
 *   an intermediary.
 * - `timeout`: no response within `timeoutMs`, or within the rest of `deadlineMs`.
 */
export type LaurelErrorCode = ApiCode | 'rate_limited' | 'network' | 'timeout';

/** The codes in the error bodies of the API. */
type ApiCode = ErrorCode | 'conflict';

const API_CODES = { ...STATUS_OF_CODE, conflict: 409 } satisfies Readonly<Record<ApiCode, number>>;

/**
 * Whether the API responds with this code and this status. The set is closed, and a code has one
 * status: anything else came from an intermediary.
 */
export function isApiCode(status: number, code: unknown): code is ApiCode {
  return isApiAnswer(status, code) || (code === 'conflict' && status === API_CODES.conflict);
}

export interface LaurelErrorFacts {
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly apiMessage?: string | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly cause?: unknown;
}

/**
 * A call that failed after all its tries. Branch on `code`, never on `message`, whose wording may
 * change at any time.
 *
 * A wrong argument is a `TypeError` instead; an aborted call rejects with its signal's reason.
 */
export class LaurelError extends Error {
  override readonly name = 'LaurelError';
  readonly code: LaurelErrorCode;
  /** The HTTP status of the last response; undefined if none arrived. */
  readonly status: number | undefined;
  /** Laurel's id of the last request: quote it to support. */
  readonly requestId: string | undefined;
  /**
   * The idempotency key that every try of this call had. The call can be repeated with this key,
   * and still takes effect only once.
   */
  readonly idempotencyKey: string | undefined;
  /** How long to wait before a repetition can help, in milliseconds: at most an hour. */
  readonly retryAfterMs: number | undefined;
  /**
   * The API's message about its refusal, without the operation that `message` names. For people;
   * its wording may change. Undefined if there is none.
   */
  readonly apiMessage: string | undefined;
  /** For some validation failures: which member of the request was wrong. */
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(code: LaurelErrorCode, message: string, facts: LaurelErrorFacts = {}) {
    super(message, 'cause' in facts ? { cause: facts.cause } : {});
    this.code = code;
    this.status = facts.status;
    this.requestId = facts.requestId;
    this.idempotencyKey = facts.idempotencyKey;
    this.retryAfterMs = facts.retryAfterMs;
    this.apiMessage = facts.apiMessage;
    this.details = facts.details;
  }
}
