/**
 * The closed set of error codes, with an HTTP status and a default sentence for each
 * (docs/contract/partner-api.md, "Errors"). Both tables are total records, so a new code does not
 * compile until both map it.
 */

/** Every error code of `/v1`. The set is closed and versioned with the API. */
export type ErrorCode =
  | 'invalid_request'
  | 'unauthorized'
  | 'insufficient_funds'
  | 'blocked'
  | 'insider_entry'
  | 'not_found'
  | 'challenge_not_available'
  | 'challenge_already_claimed'
  | 'rung_locked'
  | 'attempt_cap_reached'
  | 'entries_closed'
  | 'round_closed'
  | 'attempt_already_settled'
  | 'idempotency_key_reused'
  | 'idempotency_in_progress'
  | 'client_reporting_removed'
  | 'score_out_of_range'
  | 'tiebreak_required'
  | 'internal_error';

/** The codes of `/v1`, and two that only `/api` returns. */
export type ApiErrorCode = ErrorCode | 'forbidden' | 'conflict';

export const HTTP_STATUS: Record<ApiErrorCode, number> = {
  invalid_request: 400,
  unauthorized: 401,
  insufficient_funds: 402,
  blocked: 403,
  insider_entry: 403,
  forbidden: 403,
  not_found: 404,
  challenge_not_available: 409,
  challenge_already_claimed: 409,
  rung_locked: 409,
  attempt_cap_reached: 409,
  entries_closed: 409,
  round_closed: 409,
  attempt_already_settled: 409,
  idempotency_key_reused: 409,
  idempotency_in_progress: 409,
  conflict: 409,
  client_reporting_removed: 410,
  score_out_of_range: 422,
  tiebreak_required: 422,
  internal_error: 500,
};

/**
 * One sentence for a person. Callers branch on the code: the wording is not part of the contract.
 */
export const DEFAULT_MESSAGE: Record<ApiErrorCode, string> = {
  invalid_request: 'The request is not valid.',
  unauthorized: 'The API key is missing or not valid.',
  insufficient_funds: 'The player cannot fund the entry fee.',
  blocked: 'The player may not play for money.',
  insider_entry: 'An insider of the program may not enter its own live tournament.',
  forbidden: 'You may not do this.',
  not_found: 'There is no such resource.',
  challenge_not_available: 'The challenge does not accept attempts now.',
  challenge_already_claimed: 'The player has already won the prize of this challenge.',
  rung_locked: 'The rung before this one must be claimed first.',
  attempt_cap_reached: 'The player has bought as many attempts as the cap allows.',
  entries_closed: 'The round no longer accepts entries.',
  round_closed: 'The round no longer accepts scores.',
  attempt_already_settled: 'The attempt is no longer open.',
  idempotency_key_reused: 'The idempotency key was used with another request.',
  idempotency_in_progress: 'The first request with this idempotency key is still in progress.',
  conflict: 'The resource is not in a state that allows this.',
  client_reporting_removed: 'Reporting outcomes from the browser was removed; report them from the game server.',
  score_out_of_range: 'The score lies outside the plausible window.',
  tiebreak_required: 'The tournament requires a tiebreak with the score.',
  internal_error: 'Something failed on our side; retry with the same idempotency key.',
};

export function isApiErrorCode(text: string): text is ApiErrorCode {
  return Object.hasOwn(HTTP_STATUS, text);
}
