/**
 * Which addresses count as one client, wherever failures, connections or pushes are counted by
 * address.
 */
import { isIPv6 } from 'node:net';

const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
const GROUPS = 8;
const GROUPS_OF_A_NETWORK = 4;

/** An IPv4 address that arrived over IPv6 becomes plain IPv4; any other address stays unchanged. */
export function unmappedAddress(address: string): string {
  return MAPPED_IPV4.exec(address)?.[1] ?? address;
}

/** An IPv4 address, or the /64 of an IPv6 address, which belongs to one subscriber. */
export function networkOf(address: string): string {
  const client = unmappedAddress(address);
  if (!isIPv6(client)) return client;
  const [head = '', tail = ''] = client.toLowerCase().replace(/%.*/, '').split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === '' ? [] : tail.split(':');
  const zeros = Array<string>(Math.max(0, GROUPS - left.length - right.length)).fill('0');
  const groups = [...left, ...zeros, ...right].slice(0, GROUPS_OF_A_NETWORK);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}
