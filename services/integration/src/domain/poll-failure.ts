/**
 * Why a poll failed because of the partner. The kind is what partners read as `last_poll_error`, and what the log shows of a page. A failure
 * of this service has no kind: it is not counted against the partner.
 */
import type { EgressResult } from '@laurel/egress';

/** The kinds of a request that ended without a status. */
type ConnectionFailure = 'dns' | 'blocked' | 'connect' | 'tls' | 'timeout' | 'protocol';

export type PollFailure =
  | ConnectionFailure
  /** Only 200 is a page; a redirect is not followed. */
  | `http_${number}`
  | 'body_too_large'
  | 'not_json'
  /** The descriptor's `records` names nothing in the page, or too much. */
  | 'unreadable'
  /** The page names a next one that may not be requested. */
  | 'next_page'
  /** Paging by `since` has come to a halt: records of one instant fill the page, and those that follow are never reached. */
  | 'same_instant';

/** What a request for a page led to. */
export type PageAnswer =
  | { readonly kind: 'page'; readonly body: Buffer }
  | {
      readonly kind: 'failed';
      readonly failure: PollFailure;
      readonly body: Buffer;
      /** `Retry-After`, where the status gives it a meaning. */
      readonly retryAfter?: string | readonly string[] | undefined;
    }
  /** This process is stopping. */
  | { readonly kind: 'aborted' };

const NOTHING = Buffer.alloc(0);
/** Too many requests, and a service that is unavailable. */
const ASK_LATER: ReadonlySet<number> = new Set([429, 503]);

/** A body that did not end is no page, however much of it arrived. */
export function pageAnswerOf(
  result: EgressResult,
  { durationMs, timeoutMs, maxBodyBytes }: Readonly<Record<'durationMs' | 'timeoutMs' | 'maxBodyBytes', number>>,
): PageAnswer {
  if (result.kind === 'failure') {
    if (result.error === 'aborted') return { kind: 'aborted' };
    return { kind: 'failed', failure: result.error, body: NOTHING };
  }
  const { status, headers, body, isTruncated } = result;
  if (status !== 200) {
    const retryAfter = ASK_LATER.has(status) ? headers['retry-after'] : undefined;
    return { kind: 'failed', failure: `http_${status}`, body, retryAfter };
  }
  if (!isTruncated) return { kind: 'page', body };
  if (body.length >= maxBodyBytes) return { kind: 'failed', failure: 'body_too_large', body };
  return { kind: 'failed', failure: Math.ceil(durationMs) >= timeoutMs ? 'timeout' : 'protocol', body };
}
