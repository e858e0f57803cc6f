/**
 * How a call's result travels.
 *
 * - A response is sent as itself.
 * - A refusal is sent as FAILED_PRECONDITION with its code in the trailer `laurel-error-code`. At
 *   the caller it becomes a value again.
 * - If a handler throws, the server sends INTERNAL with the trailer `laurel-error`. Only its own
 *   log has the error.
 * - A caller that may not make the call gets PERMISSION_DENIED, a failed call: a Laurel bug, or an
 *   intruder.
 * - A lost reply, which tests inject, is sent as UNAVAILABLE, like a broken connection.
 * - Every other status comes from gRPC itself. The caller gets a CallFailedError for it and for
 *   INTERNAL.
 *
 * Only transport failures count against the breaker: a refusal, or a bug in one handler, proves
 * that the service is reachable.
 */
import { Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { isApiErrorCode, type Refused, refused } from '@laurel/errors';
import { LostReplyError } from '@laurel/failpoint';

const ERROR_CODE_KEY = 'laurel-error-code';
const ERROR_KEY = 'laurel-error';

/**
 * A call that ended without a result. If `definite` is false it may have taken effect: retry it, or
 * resolve it by its id.
 */
export class CallFailedError extends Error {
  /** The code is a gRPC status. */
  readonly code: status;
  readonly definite: boolean;

  constructor(message: string, options: { code: status; definite: boolean; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.name = 'CallFailedError';
    this.code = options.code;
    this.definite = options.definite;
  }
}

/** The breaker is open: the call was not sent. */
export class UnavailableError extends CallFailedError {
  constructor(client: string, cause?: unknown) {
    super(`${client} is unavailable`, { code: status.UNAVAILABLE, definite: true, cause });
    this.name = 'UnavailableError';
  }
}

type StatusRule = {
  /** The status proves that the handler did not run. */
  definite: boolean;
  /** The status indicates an unhealthy service or connection. */
  countsAgainstBreaker: boolean;
};

const UNKNOWN_STATUS: StatusRule = { definite: false, countsAgainstBreaker: false };

const STATUS_RULES: Record<status, StatusRule> = {
  [status.OK]: { definite: false, countsAgainstBreaker: false },
  [status.CANCELLED]: { definite: false, countsAgainstBreaker: false },
  [status.UNKNOWN]: { definite: false, countsAgainstBreaker: true },
  [status.INVALID_ARGUMENT]: { definite: true, countsAgainstBreaker: false },
  [status.DEADLINE_EXCEEDED]: { definite: false, countsAgainstBreaker: true },
  [status.NOT_FOUND]: { definite: true, countsAgainstBreaker: false },
  [status.ALREADY_EXISTS]: { definite: false, countsAgainstBreaker: false },
  [status.PERMISSION_DENIED]: { definite: true, countsAgainstBreaker: false },
  // gRPC also uses this status for a response that is too large, after the handler ran.
  [status.RESOURCE_EXHAUSTED]: { definite: false, countsAgainstBreaker: false },
  // A refusal whose code this process does not know, for example from a newer release.
  [status.FAILED_PRECONDITION]: { definite: false, countsAgainstBreaker: false },
  [status.ABORTED]: { definite: false, countsAgainstBreaker: false },
  [status.OUT_OF_RANGE]: { definite: false, countsAgainstBreaker: false },
  [status.UNIMPLEMENTED]: { definite: true, countsAgainstBreaker: false },
  [status.INTERNAL]: { definite: false, countsAgainstBreaker: true },
  [status.UNAVAILABLE]: { definite: false, countsAgainstBreaker: true },
  [status.DATA_LOSS]: { definite: false, countsAgainstBreaker: true },
  [status.UNAUTHENTICATED]: { definite: true, countsAgainstBreaker: false },
};

/** The error that a server sends instead of a response. */
export type FailureStatus = { code: status; details: string; metadata: Metadata };

export function statusOfRefusal(refusal: Refused): FailureStatus {
  const metadata = new Metadata();
  metadata.set(ERROR_CODE_KEY, refusal.code);
  return { code: status.FAILED_PRECONDITION, details: refusal.message, metadata };
}

/** The failure that a server sends if a handler throws. It reveals nothing about the error. */
export function statusOfThrown(error: unknown): FailureStatus {
  const metadata = new Metadata();
  if (error instanceof LostReplyError) return { code: status.UNAVAILABLE, details: 'reply lost', metadata };
  metadata.set(ERROR_KEY, '1');
  return { code: status.INTERNAL, details: 'internal error', metadata };
}

export function statusOfNoPermission(): FailureStatus {
  return { code: status.PERMISSION_DENIED, details: 'not permitted', metadata: new Metadata() };
}

/** The failure in the form in which gRPC passes it to a caller. */
export function serviceError({ code, details, metadata }: FailureStatus): ServiceError {
  return Object.assign(new Error(details), { code, details, metadata });
}

/** The refusal that a failed call carries, if this process knows its code. */
export function refusalOf(error: ServiceError): Refused | null {
  if (error.code !== status.FAILED_PRECONDITION) return null;
  const code = error.metadata?.get(ERROR_CODE_KEY)[0];
  return typeof code === 'string' && isApiErrorCode(code) ? refused(code, error.details) : null;
}

export function callFailedError(call: string, error: ServiceError): CallFailedError {
  const { definite } = STATUS_RULES[error.code] ?? UNKNOWN_STATUS;
  return new CallFailedError(`${call} failed: ${status[error.code] ?? error.code}`, {
    code: error.code,
    definite,
    cause: error,
  });
}

/** Whether the failure counts against the service as a whole. */
export function countsAgainstBreaker(error: CallFailedError): boolean {
  const cause = error.cause as Partial<ServiceError> | undefined;
  const isErrorOfHandler = (cause?.metadata?.get(ERROR_KEY).length ?? 0) > 0;
  return !isErrorOfHandler && (STATUS_RULES[error.code] ?? UNKNOWN_STATUS).countsAgainstBreaker;
}

/**
 * Whether sending the call again may help: the connection broke or was refused. A call that an open
 * breaker refused is not sent again.
 */
export function isWorthRetrying(error: unknown): boolean {
  return error instanceof CallFailedError && !(error instanceof UnavailableError) && error.code === status.UNAVAILABLE;
}
