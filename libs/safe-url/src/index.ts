/** Which addresses and URLs that strangers gave us may be spoken to. Pure: no name is resolved here. */
export { type Cidrs, isPublicAddress, mayConnectTo, NO_CIDRS, parseCidrs } from './address.ts';
export { type CheckedUrl, checkUrl, isLoopbackName, LOOPBACK_ADDRESS } from './url.ts';
