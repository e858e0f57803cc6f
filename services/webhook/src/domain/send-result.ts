/**
 * Whether a send succeeded (docs/contract/partner-api.md, "Delivery behaviour"). Only a 2xx is a
 * success. A redirect is a failure and is not followed; a 4xx, a 5xx and an end without a response
 * are failures too. retry-schedule.ts decides when a failed delivery is sent again.
 */
import { excerptOf } from '@laurel/json';
import { nextSendAt, type RetryDelaysMs } from './retry-schedule.ts';

/** Why a send failed before a response arrived. */
export type FailureKind = 'dns' | 'blocked' | 'connect' | 'tls' | 'timeout' | 'protocol';

/**
 * Every kind of error that the log shows: before a response, by the response's status, or without a
 * recorded end.
 */
export type ErrorKind = FailureKind | 'http_3xx' | 'http_4xx' | 'http_5xx' | 'interrupted';

/** How a send ended. */
export type SendEnd =
  | {
      readonly kind: 'answer';
      /** 200 to 999, as libs/egress returns it; every status from 500 on counts as `http_5xx`. */
      readonly status: number;
      readonly body: Buffer;
    }
  | { readonly kind: 'failure'; readonly error: FailureKind | 'interrupted'; readonly sentence: string };

/** What is recorded when a send ends. */
export type SendResult = {
  readonly httpStatus: number | null;
  /** Null after a 2xx. */
  readonly error: { readonly kind: ErrorKind; readonly sentence: string } | null;
  readonly responseExcerpt: string | null;
  /** When the next send is due; null after a 2xx and after the last one. */
  readonly nextSendAt: Date | null;
};

/**
 * The sentences that the delivery log shows for errors. libs/egress has the sentences for
 * connection failures.
 */
export const ERROR_SENTENCES = {
  http_3xx: 'The response was a redirect, and redirects are not followed.',
  http_4xx: 'The response was a client error; only 2xx counts as success.',
  http_5xx: 'The response was a server error; only 2xx counts as success.',
  interrupted: 'The send was interrupted on our side; whether it arrived is not known.',
  endpoint_off: 'The endpoint was off, or the program had another developer by then.',
} as const satisfies Record<Exclude<ErrorKind, FailureKind> | 'endpoint_off', string>;

/**
 * Only a 2xx is a success; even a 4xx is sent again (docs/contract/partner-api.md, "Delivery
 * behaviour").
 */
export function decideResult(end: SendEnd, number: number, endedAt: Date, delaysMs: RetryDelaysMs): SendResult {
  const error = errorOf(end);
  return {
    httpStatus: end.kind === 'answer' ? end.status : null,
    error,
    responseExcerpt: end.kind === 'answer' ? excerptOf(end.body) : null,
    nextSendAt: error === null ? null : nextSendAt(number, endedAt, delaysMs),
  };
}

function errorOf(end: SendEnd): SendResult['error'] {
  if (end.kind === 'failure') return { kind: end.error, sentence: end.sentence };
  const kind = errorKindOf(end.status);
  return kind === null ? null : { kind, sentence: ERROR_SENTENCES[kind] };
}

function errorKindOf(status: number): Exclude<ErrorKind, FailureKind> | null {
  if (status >= 200 && status < 300) return null;
  if (status < 400) return 'http_3xx';
  return status < 500 ? 'http_4xx' : 'http_5xx';
}
