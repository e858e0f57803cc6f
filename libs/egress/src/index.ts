/**
 * HTTPS requests to untrusted URLs, and the check of the URLs that a developer may give. Every connection is made to a checked public
 * address, with a verified certificate; an HTTP exchange keeps to its limits of time and size; and whatever a remote does, the caller
 * gets a result.
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
