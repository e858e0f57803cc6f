/**
 * HTTPS requests to addresses that strangers chose. Every connection is made to a public address that was checked, with a certificate
 * that was verified; an exchange takes no longer and no more than it was given; and whatever a remote does, the caller gets a value.
 */
export {
  createEgress,
  type Egress,
  type EgressOptions,
  type EgressRequest,
} from './egress.ts';
export type { EgressResult, EgressTimings } from './exchange.ts';
export type { EgressErrorKind } from './failure.ts';
export { isCallersHeader } from './headers.ts';
