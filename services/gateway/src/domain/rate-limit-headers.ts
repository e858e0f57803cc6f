/**
 * Every answer to a valid key carries `X-RateLimit-Limit`, the requests that a minute has, and
 * `X-RateLimit-Remaining`, those that are left; beyond the limit `Retry-After` is the seconds to
 * wait (docs/contract/partner-api.md, "Rate limit"). A caller without a valid key has none left.
 */
export const LIMIT_HEADER = 'X-RateLimit-Limit';
export const REMAINING_HEADER = 'X-RateLimit-Remaining';
export const RETRY_AFTER_HEADER = 'Retry-After';
