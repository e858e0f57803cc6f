/**
 * The client address of a request. The client is the peer of the connection, unless that is a
 * trusted proxy. Then it is the right-most address of `X-Forwarded-For` that is not a trusted
 * proxy's.
 * - Each proxy appends the address of the peer that it saw. So the entries that trusted proxies
 *   have appended are true: from the right end up to the first address that is not a trusted
 *   proxy's. Everything left of that is untrusted input.
 * - The header of a peer that is not a trusted proxy is ignored: any peer can send it.
 * - An entry that is not an address ends the list: the client is then the last known proxy.
 */
import { BlockList, isIP, isIPv6 } from 'node:net';
import { unmappedAddress } from './client-network.ts';

const NETWORK = /^([0-9a-f.:]+)(?:\/(\d{1,3}))?$/i;
/**
 * An entry of `X-Forwarded-For` as proxies write it: `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1`,
 * `[2001:db8::1]:4711`.
 */
const ENTRY = /^(?:\[([0-9a-f.:]+)\]|([0-9a-f:]*:[0-9a-f:.]*:[0-9a-f:.]*)|(\d+\.\d+\.\d+\.\d+))(?::\d{1,5})?$/i;
/**
 * The most entries that are read: no chain of proxies is longer, so entries beyond these are not
 * trusted.
 */
const MAX_HOPS = 16;
const MAX_HEADER_CHARACTERS = 1_024;

export type TrustedProxies = (address: string) => boolean;

/** Reads networks such as `10.0.0.0/8,2001:db8::1`. Returns null if one of them is not valid. */
export function parseNetworks(text: string): BlockList | null {
  const networks = new BlockList();
  for (const entry of text.split(',')) {
    const [, address = '', prefix] = NETWORK.exec(entry.trim()) ?? [];
    const version = isIP(address);
    if (version === 0) return null;
    const bits = version === 4 ? 32 : 128;
    const length = prefix === undefined ? bits : Number(prefix);
    if (length > bits) return null;
    networks.addSubnet(address, length, version === 4 ? 'ipv4' : 'ipv6');
  }
  return networks;
}

/**
 * Makes the check whether an address is in one of the networks. An IPv4 address that arrives over
 * IPv6 counts as IPv4.
 */
export function trustedProxiesOf(networks: BlockList | undefined): TrustedProxies {
  if (networks === undefined) return () => false;
  return (address) => isIP(address) !== 0 && networks.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/**
 * The client's address, from the connection's peer and the `X-Forwarded-For` that arrived over it.
 */
export function clientAddressOf(peer: string, forwardedFor: string | undefined, isTrusted: TrustedProxies): string {
  let client = unmappedAddress(peer);
  if (forwardedFor === undefined || !isTrusted(client)) return client;
  const entries = forwardedFor.slice(-MAX_HEADER_CHARACTERS).split(',').slice(-MAX_HOPS);
  for (const entry of entries.toReversed()) {
    const [, bracketed, ipv6, ipv4] = ENTRY.exec(entry.trim()) ?? [];
    const address = unmappedAddress(bracketed ?? ipv6 ?? ipv4 ?? '');
    if (isIP(address) === 0) return client;
    client = address;
    if (!isTrusted(client)) return client;
  }
  return client;
}
