/**
 * Every response to a valid key carries `X-RateLimit-Limit`, the requests that a minute allows, and
 * `X-RateLimit-Remaining`, the requests that are left in this minute. Beyond the limit
 * `Retry-After` gives the seconds to wait (docs/contract/partner-api.md, "Rate limit"). A caller
 * without a valid key has no requests left.
 */
export const LIMIT_HEADER = 'X-RateLimit-Limit';
export const REMAINING_HEADER = 'X-RateLimit-Remaining';
export const RETRY_AFTER_HEADER = 'Retry-After';
