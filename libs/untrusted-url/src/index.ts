/**
 * Which addresses and untrusted URLs may be connected to, which headers a caller may give, and which of
 * many is called next. Pure: no name is resolved here.
 */
export { type Cidrs, isPublicAddress, mayConnectTo, NO_CIDRS, parseCidrs } from './address.ts';
export { createFairSlots, type FairSlots, healthAfterSuccess, type KnownHealth } from './fair-slots.ts';
export { isCallersHeader } from './header.ts';
export { type CheckedUrl, checkUrl, isLoopbackName, LOOPBACK_ADDRESS, MAX_URL_CHARACTERS } from './url.ts';
