import type { ErrorCode } from './api-types.ts';
import { isApiAnswer, STATUS_OF_CODE } from './closed-sets.ts';

/**
 * What a call can fail with: the closed set of `/v1`, one more of the sandbox, and what no envelope of the API names.
 * - `conflict`: of the sandbox alone: the player, the round or the delivery is not in a state that allows the call.
 * - `rate_limited`: the minute's requests are used up, and the next minute begins after the call's deadline (or `maxRetries` is 0).
 * - `network`: no answer of Laurel arrived: no connection, a connection that ended early, or an answer that something in between wrote.
 * - `timeout`: no answer within `timeoutMs`, or within what was left of `deadlineMs`.
 */
export type LaurelErrorCode = ApiCode | 'rate_limited' | 'network' | 'timeout';

/** What the envelope of a failure names. */
type ApiCode = ErrorCode | 'conflict';

const API_CODES = { ...STATUS_OF_CODE, conflict: 409 } satisfies Readonly<Record<ApiCode, number>>;

/**
 * Whether the API answers this code with this status. The set is closed, and a code has one status:
 * anything else was written by something in between.
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
 * A call that failed after all its tries. Branch on `code`, never on `message`, whose wording may change at any time.
 *
 * A wrong argument is a `TypeError` instead, and an aborted call rejects with the reason of its signal.
 */
export class LaurelError extends Error {
  override readonly name = 'LaurelError';
  readonly code: LaurelErrorCode;
  /** The HTTP status of the last answer; undefined where none arrived. */
  readonly status: number | undefined;
  /** Laurel's name of the last request: quote it to support. */
  readonly requestId: string | undefined;
  /** The key that every try of this call had. A repetition with it takes effect once. */
  readonly idempotencyKey: string | undefined;
  /** How long to wait before a repetition is worthwhile, in milliseconds: an hour at most. */
  readonly retryAfterMs: number | undefined;
  /** What the API wrote about its refusal, without the operation that `message` names: for people, and it may change. Undefined where it wrote nothing. */
  readonly apiMessage: string | undefined;
  /** Which member of the request was wrong, on some failures of validation. */
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
