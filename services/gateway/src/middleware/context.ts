/** What the gateway knows of the request that it is serving: one object a request, filled by the middleware in their order. */
import type { ApiErrorCode } from '@laurel/errors';
import type { Span } from '@laurel/telemetry';
import type { Response } from 'express';
import type { Claim, KeyUse } from '../repository/idempotency-records.ts';
import type { Principal } from './admission.ts';

export class RequestContext {
  readonly requestId: string;
  /** `performance.now()` at arrival. */
  readonly startedAt: number;
  /** The route as the documents name it, for example `/v1/attempts/{attempt_id}`; never the path itself, which carries ids. */
  routeTemplate = 'unknown';
  /** Present when the request is in a trace. */
  span: Span | undefined;
  /** What the envelope of a failure said. */
  errorCode: ApiErrorCode | undefined;
  /** Asked every few seconds by machines: not worth a log line. */
  isProbe = false;
  /** Present on `/v1`: what the rate limit headers say. */
  rateLimit: { readonly limit: string; remaining: number } | undefined;
  principal: Principal | undefined;
  /** Present in the portal. */
  session: Session | undefined;
  rawBody: Buffer | undefined;
  isBodyTooLarge = false;
  /** What the check of the input found, once it was made: a fault waits until admission has had its say. */
  checked: InputVerdict | undefined;
  /** The checked input of the route. */
  input: CheckedInput | undefined;
  keyUse: KeyUse | undefined;
  claim: Claim | undefined;

  constructor(requestId: string, startedAt: number) {
    this.requestId = requestId;
    this.startedAt = startedAt;
  }
}

/** Who is signed in to the portal, and by which session. */
export interface Session {
  readonly developerId: string;
  readonly tokenHash: Buffer;
}

/** What validation hands to the route; the route's schemas say what `query` and `body` are. */
export interface CheckedInput {
  readonly params: Readonly<Record<string, string>>;
  readonly query: unknown;
  readonly body: unknown;
  /** Members of the body that are kept as the very text that was sent. */
  readonly verbatim: Readonly<Record<string, string>>;
  /** The body as sent, unknown members included; what an idempotency key is bound to. */
  readonly sentBody: unknown;
  readonly idempotencyKey: string;
}

/** A fault says what is wrong with the request, and never what it held. */
export type InputVerdict =
  | { readonly kind: 'valid'; readonly input: CheckedInput }
  | { readonly kind: 'faulty'; readonly message: string; readonly details?: object | undefined };

/** Express keeps the context where it keeps locals, so that no second look-up per request is needed. */
export function contextOf(response: Response): RequestContext {
  return response.locals as unknown as RequestContext;
}

export function openContext(response: Response, context: RequestContext): void {
  response.locals = context as unknown as typeof response.locals;
}
