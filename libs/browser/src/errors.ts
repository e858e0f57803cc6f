import { isApiAnswer, isRefusedByApi } from './closed-sets.ts';

/** The codes that this library raises, on its own or for a response of the partner's server. */
export type LibraryErrorCode =
  /** `init` was not called. */
  | 'not_initialised'
  /** Nothing is armed, or no attempt was begun. */
  | 'not_armed'
  /** An attempt may have been paid for: call `begin`, `result` or `disarm` first. */
  | 'attempt_in_progress'
  /** `reportOutcome` was called, but a browser cannot report outcomes. */
  | 'client_reporting_removed'
  /** There was no HTTP response: the request may have taken effect. */
  | 'network'
  /** The player's session with the partner's server is missing or has ended. */
  | 'unauthorized'
  | 'insufficient_funds'
  | 'challenge_not_available'
  /** The player may not play for money. */
  | 'blocked'
  /**
   * Anything else. `serverCode` has the server's code, if any; `cause` the error of a `headers`
   * function.
   */
  | 'unknown';

/** The conflicts (409) that are passed on with the server's own code. */
export type ConflictCode =
  | 'challenge_already_claimed'
  | 'rung_locked'
  | 'attempt_cap_reached'
  | 'entries_closed'
  | 'round_closed'
  | 'attempt_already_settled'
  | 'idempotency_key_reused'
  | 'idempotency_in_progress';

/** A closed set: any other code becomes `unknown`, and `serverCode` names it. */
export type LaurelBrowserErrorCode = LibraryErrorCode | ConflictCode;

/**
 * Every failure of this library, except a server key in its options (`TypeError`), an aborted
 * signal, and failures of `init`. Branch on `code`.
 */
export class LaurelBrowserError extends Error {
  override readonly name = 'LaurelBrowserError';
  readonly code: LaurelBrowserErrorCode;
  /** The HTTP status of the partner's server, if it responded. */
  readonly status: number | undefined;
  /** The code in the server's response, if any; equal to `code` if this library passed it on. */
  readonly serverCode: string | undefined;

  constructor(
    code: LaurelBrowserErrorCode,
    message: string,
    status?: number,
    serverCode?: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.code = code;
    this.status = status;
    this.serverCode = serverCode;
  }
}

const PASSED_ON_CODES: readonly unknown[] = ['insufficient_funds', 'blocked'];

/** The error for a response that is not a success, or not JSON. */
export function errorOfAnswer(status: number, body: unknown): LaurelBrowserError {
  const { code, message } = (body as { error?: { code?: unknown; message?: unknown } } | null)?.error ?? {};
  return new LaurelBrowserError(
    codeOf(status, code),
    typeof message === 'string' ? message : `The game server answered ${status}.`,
    status,
    typeof code === 'string' ? code : undefined,
  );
}

function codeOf(status: number, code: unknown): LaurelBrowserErrorCode {
  if (isRetired(status, code)) return 'client_reporting_removed';
  const passes = isApiAnswer(status, code) && (status === 409 || PASSED_ON_CODES.includes(code));
  return passes ? (code as ConflictCode) : status === 401 ? 'unauthorized' : 'unknown';
}

/** The handler's own refusal of every `outcome`. */
function isRetired(status: number | undefined, code: unknown): boolean {
  return status === 410 && code === 'client_reporting_removed';
}

/**
 * Whether Laurel has decided, through the server, that nothing is charged: only a code of the
 * closed set with its own status says so. Any other response came from an intermediary, or does not
 * state whether the arm became an attempt or still may become one.
 */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof LaurelBrowserError)) return false;
  const { status, serverCode } = error;
  return isRefusedByApi(status, serverCode) || isRetired(status, serverCode);
}

/** Whether the server has no such attempt of this player: the only refusal of a read. */
export function isNotFound(error: unknown): boolean {
  return isRefusal(error) && (error as LaurelBrowserError).status === 404;
}
