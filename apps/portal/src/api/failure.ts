/** What can go wrong with a call, as a value that a page shows. */
import type { ErrorCode } from './api-types.ts';

/** The envelope of every refusal: docs/contract/partner-api.md, "Errors". */
interface Envelope {
  readonly error: { readonly code: ErrorCode; readonly message: string };
}

export type Failure =
  | { readonly kind: 'session-ended' }
  /** No answer, or one that is not from the gateway. */
  | { readonly kind: 'unreachable' }
  | {
      readonly kind: 'refused';
      readonly status: number;
      readonly code: ErrorCode | 'rate_limited';
      readonly message: string;
      readonly requestId: string | null;
      readonly retryAfterSeconds: number | null;
    };

/** Carries a failure through TanStack Query, which knows only thrown errors. */
export class FailedCall extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.kind === 'refused' ? failure.message : failure.kind);
    this.failure = failure;
  }
}

export function failureOf(error: unknown): Failure {
  return error instanceof FailedCall ? error.failure : { kind: 'unreachable' };
}

/** Reads the answer of a refused call. */
export function readFailure(status: number, headers: Headers, body: unknown): Failure {
  if (status === 401) return { kind: 'session-ended' };
  const error = isEnvelope(body) ? body.error : undefined;
  if (error === undefined && status !== 429) return { kind: 'unreachable' };
  const retryAfter = Number(headers.get('Retry-After') ?? 'none');
  return {
    kind: 'refused',
    status,
    code: error?.code ?? 'rate_limited',
    message: error?.message ?? 'Too many requests.',
    requestId: headers.get('X-Request-Id'),
    retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : null,
  };
}

function isEnvelope(body: unknown): body is Envelope {
  const error = (body as Envelope | null)?.error;
  return typeof error?.code === 'string' && typeof error.message === 'string';
}
