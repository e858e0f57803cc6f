/**
 * HTTPS requests to untrusted URLs, and the check of URLs that developers give. Every connection
 * goes to a checked public address with a verified certificate. Every HTTP exchange has limits of
 * time and size. Whatever a remote does, the caller gets a result.
 */
export {
  createEgress,
  type Egress,
  type EgressOptions,
  type EgressRequest,
} from './egress.ts';
export type { EgressResult, EgressTimings } from './exchange.ts';
export type { EgressErrorKind } from './failure.ts';
export { createNameLookup } from './name-lookup.ts';
export { egressOptionsOf, egressSettings, urlCheckOf } from './settings.ts';
export type { UrlCheck } from './url-check.ts';
