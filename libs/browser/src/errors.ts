/** The codes that this library raises itself, or for an answer of the partner's server. */
export type LibraryErrorCode =
  /** `init` was not called. */
  | 'not_initialised'
  /** Nothing is armed, or no attempt was begun. */
  | 'not_armed'
  /** An attempt may have been paid for: `begin` or `result` first, or `disarm`. */
  | 'attempt_in_progress'
  /** A browser reports no outcome. */
  | 'client_reporting_removed'
  /** There was no HTTP answer: what was sent may have been done. */
  | 'network'
  /** The player's session with the partner's server is missing or over. */
  | 'unauthorized'
  | 'insufficient_funds'
  | 'challenge_not_available'
  /** The player may not play for money. */
  | 'blocked'
  /** Anything else; `serverCode` names it where the server did, and `cause` is the error of a `headers` function. */
  | 'unknown';

/** The conflicts (409) that pass under the server's own code. */
export type ConflictCode =
  | 'challenge_already_claimed'
  | 'rung_locked'
  | 'attempt_cap_reached'
  | 'entries_closed'
  | 'round_closed'
  | 'attempt_already_settled'
  | 'idempotency_key_reused'
  | 'idempotency_in_progress';

/** A conflict that a later server adds passes too. */
export type LaurelBrowserErrorCode = LibraryErrorCode | ConflictCode | (string & {});

/** Every failure of this library but a server key in its options (`TypeError`), an aborted signal and those of `init`. Branch on `code`. */
export class LaurelBrowserError extends Error {
  override readonly name = 'LaurelBrowserError';
  readonly code: LaurelBrowserErrorCode;
  /** The HTTP status of the partner's server, if it answered. */
  readonly status: number | undefined;
  /** The code in the server's answer, if it had one; the same as `code` where that passes. */
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

const PASSED = /^(insufficient_funds|challenge_not_available|blocked|client_reporting_removed)$/;

/** The error for an answer that is no success, or no JSON. */
export function errorOfAnswer(status: number, body: unknown): LaurelBrowserError {
  const { code, message } = (body as { error?: { code?: string; message?: string } } | undefined)?.error ?? {};
  const passes = code !== undefined && (status === 409 || PASSED.test(code));
  const ownCode = passes ? code : status === 401 ? 'unauthorized' : 'unknown';
  return new LaurelBrowserError(ownCode, message ?? `The game server answered ${status}.`, status, code);
}

/** What a server answers before, or without, a decision about what this arm may have been charged. */
const UNDECIDED = /^(network|timeout|idempotency_in_progress|cross_origin)$/;
const REFUSED = /^4(0[02349]|10|22)$/;

/**
 * Whether Laurel has decided, through the server, that nothing is charged. Not after a lost reply, an answer of something in between, a failure
 * of the server, a rate limit, a session that ended or while an earlier request with the same arm runs: the same arm sent again may still become
 * an attempt, or already has.
 */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof LaurelBrowserError)) return false;
  const { status, serverCode } = error;
  return typeof serverCode === 'string' && !UNDECIDED.test(serverCode) && REFUSED.test(`${status}`);
}
