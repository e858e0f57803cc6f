/** Which addresses and untrusted URLs may be connected to. Pure: no name is resolved here. */
export { type Cidrs, isPublicAddress, mayConnectTo, NO_CIDRS, parseCidrs } from './address.ts';
export { type CheckedUrl, checkUrl, isLoopbackName, LOOPBACK_ADDRESS } from './url.ts';
