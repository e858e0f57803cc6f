/**
 * Why a poll failed because of the partner. Partners read the kind as `last_poll_error`, and the
 * log shows it for a page. A failure of this service has no kind: it does not count against the
 * partner.
 */
import type { EgressResult } from '@laurel/egress';

/** Why a request ended without a status. */
type ConnectionFailure = 'dns' | 'blocked' | 'connect' | 'tls' | 'timeout' | 'protocol';

export type PollFailure =
  | ConnectionFailure
  /** Only a 200 is a page; redirects are not followed. */
  | `http_${number}`
  | 'body_too_large'
  | 'not_json'
  /** The descriptor's `records` leads to nothing in the page, or to too much. */
  | 'unreadable'
  /** The next page that this page names may not be requested. */
  | 'next_page'
  /**
   * Paging by `since` is stuck: records of one instant fill the page, and no poll reads those that
   * follow.
   */
  | 'same_instant';

/** The result of a request for a page. */
export type PageAnswer =
  | { readonly kind: 'page'; readonly body: Buffer }
  | {
      readonly kind: 'failed';
      readonly failure: PollFailure;
      readonly body: Buffer;
      /** `Retry-After`, if the status gives it a meaning. */
      readonly retryAfter?: string | readonly string[] | undefined;
    }
  /** This process is stopping. */
  | { readonly kind: 'aborted' };

const NOTHING = Buffer.alloc(0);
/** The statuses Too Many Requests and Service Unavailable. */
const ASK_LATER: ReadonlySet<number> = new Set([429, 503]);

/** An incomplete body is not a page, however much of it arrived. */
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
