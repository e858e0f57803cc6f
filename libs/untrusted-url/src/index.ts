/**
 * Which addresses and untrusted URLs Laurel may connect to, which headers a caller may set, and
 * which of many systems a service calls next. Pure: it resolves no name.
 */
export { type Cidrs, isPublicAddress, mayConnectTo, NO_CIDRS, parseCidrs } from './address.ts';
export { createFairSlots, type FairSlots, healthAfterSuccess, type KnownHealth } from './fair-slots.ts';
export { isCallersHeader } from './header.ts';
export { type CheckedUrl, checkUrl, isLoopbackName, LOOPBACK_ADDRESS, MAX_URL_CHARACTERS } from './url.ts';
