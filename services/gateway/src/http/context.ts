/**
 * What the gateway knows of the request that it serves: one object per request, filled step by step
 * until its response.
 */
import type { ApiErrorCode, Refused } from '@laurel/errors';
import type { Span } from '@laurel/telemetry';
import type { Environment } from '@laurel/values/tenant';
import type { Response } from 'express';
import type { OperatorSession } from '../domain/operator-session.ts';
import type { Principal } from '../domain/principal.ts';
import type { Session } from '../domain/session.ts';
import type { IdempotencyLock, IdempotencyUse } from '../repository/idempotency-records.ts';

export class RequestContext {
  readonly requestId: string;
  /** `performance.now()` at arrival. */
  readonly startedAt: number;
  /**
   * The route's path in the documents, for example `/v1/attempts/{attempt_id}`. Never the actual
   * path, which carries ids.
   */
  routeTemplate = 'unknown';
  /** Present when the request is in a trace. */
  span: Span | undefined;
  /** The code and the message of a failure's envelope. */
  errorCode: ApiErrorCode | undefined;
  /** The text of the response, for the request log; undefined for a response in pieces. */
  responseBody: string | undefined;
  /** Whether the response is the stored one of an earlier request. */
  isReplayed = false;
  /**
   * Whether machines poll the route every few seconds, so that a request is not worth a log line.
   */
  isProbe = false;
  /** Present on `/v1`: the values of the rate limit headers. */
  rateLimit: { readonly limit: string; remaining: number } | undefined;
  principal: Principal | undefined;
  /** Present on `/api/operator`: the name of the token's holder. */
  operator: string | undefined;
  /** Present on `/api/operator` if the request was authenticated by the session cookie. */
  operatorSession: OperatorSession | undefined;
  /** Present in the portal. */
  session: Session | undefined;
  /** Whether the integration service has verified the signature of the push. */
  isSignatureValid = false;
  /** The environment of the push's integration, once a valid signature has shown it. */
  pushEnvironment: Environment | undefined;
  rawBody: Buffer | undefined;
  isBodyTooLarge = false;
  /** The most bytes that this request's body may have. */
  maxBodyBytes = 0;
  /**
   * The result of the input check, once the check has run. A request with a validation issue is
   * answered only after admission has decided.
   */
  checked: InputVerdict | undefined;
  idempotencyUse: IdempotencyUse | undefined;
  idempotencyLock: IdempotencyLock | undefined;

  constructor(requestId: string, startedAt: number) {
    this.requestId = requestId;
    this.startedAt = startedAt;
  }

  /**
   * The environment of the API key or of the pushed integration. `none` if it is not known, as in
   * the portal, which serves both.
   */
  get environment(): 'live' | 'test' | 'none' {
    return this.principal?.environment ?? this.pushEnvironment ?? 'none';
  }

  /**
   * Whether the caller is authenticated: a key, a session, an operator's token or a signature was
   * valid.
   */
  get isCallerKnown(): boolean {
    const { principal, session, operator, isSignatureValid } = this;
    return principal !== undefined || session !== undefined || operator !== undefined || isSignatureValid;
  }
}

/** What validation passes to the route; the route's schemas define `params`, `query` and `body`. */
export interface CheckedInput {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  /** Members of the body, kept as the exact text that was sent. */
  readonly verbatim: Readonly<Record<string, string>>;
  /**
   * The body as sent, with unknown members and exact numbers. An idempotency key is bound to it.
   */
  readonly sentBody: unknown;
  readonly idempotencyKey: string;
}

/** A validation issue says what is wrong with the request, and never repeats the value. */
export type InputVerdict =
  | { readonly kind: 'valid'; readonly input: CheckedInput }
  | { readonly kind: 'invalid'; readonly refusal: Refused; readonly details?: object | undefined };

/** The context takes the place of Express's `locals`, so that each request needs one look-up. */
export function contextOf(response: Response): RequestContext {
  return response.locals as unknown as RequestContext;
}

export function openContext(response: Response, context: RequestContext): void {
  response.locals = context as unknown as typeof response.locals;
}
