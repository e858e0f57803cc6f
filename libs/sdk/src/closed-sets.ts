/**
 * The closed sets of the API by which a client decides. A value outside them came from an
 * intermediary, and decides nothing.
 *
 * `npm run player-shapes` copies this file to `@laurel/browser`, because each package is installed
 * without the other.
 */

/** Every error code of `/v1`, with its one HTTP status. */
export const STATUS_OF_CODE = {
  invalid_request: 400,
  unauthorized: 401,
  insufficient_funds: 402,
  blocked: 403,
  insider_entry: 403,
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
  score_out_of_range: 422,
  tiebreak_required: 422,
  internal_error: 500,
} as const;

/**
 * The statuses of an attempt. It is `open` until it gets one of the others, which never changes
 * again.
 */
export const ATTEMPT_STATUSES = ['open', 'settled', 'expired', 'voided'] as const;

/** The codes after which the same request may still take effect, or already has. */
const UNDECIDED: readonly unknown[] = ['unauthorized', 'idempotency_in_progress', 'internal_error'];

/** Whether `/v1` responds with this code and this status. */
export function isApiAnswer(status: number | undefined, code: unknown): code is keyof typeof STATUS_OF_CODE {
  const codes: Readonly<Record<string, number>> = STATUS_OF_CODE;
  return typeof code === 'string' && Object.hasOwn(codes, code) && codes[code] === status;
}

/** Whether Laurel has refused: nothing is charged, even if the same request is sent again. */
export function isRefusedByApi(status: number | undefined, code: unknown): boolean {
  return isApiAnswer(status, code) && !UNDECIDED.includes(code);
}
