/**
 * An address is public if it can belong to a host on the Internet: global unicast, outside every
 * block that IANA's special-purpose registries reserve (loopback, private, link-local with the
 * metadata services of clouds, shared, documentation, translation, tunnels). Special blocks that a
 * registry calls globally reachable, such as anycast DNS, are refused too: no receiver is in them.
 */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Blocks of addresses, IPv4 and IPv6. */
export type Cidrs = readonly (readonly [ipaddr.IPv4 | ipaddr.IPv6, number])[];

export const NO_CIDRS: Cidrs = [];

/**
 * The part of IPv6 that IANA has allocated. All other unicast space is not routed, and embeds IPv4
 * addresses such as ::7f00:1.
 */
const GLOBAL_UNICAST_V6 = ipaddr.IPv6.parseCIDR('2000::/3');
/** Public by the registry, but inside Azure it is the machine's host, with its metadata. */
const AZURE_HOST = '168.63.129.16';

/** False for text that is not an address in its plain form, and for an address with a zone. */
export function isPublicAddress(address: string): boolean {
  const parsed = parseAddress(address);
  if (parsed === null || parsed.range() !== 'unicast') return false;
  if (parsed.kind() === 'ipv6') return (parsed as ipaddr.IPv6).match(GLOBAL_UNICAST_V6);
  return parsed.toString() !== AZURE_HOST;
}

/** Whether connections may go to the address: it is public, or in a network of `allow`. */
export function mayConnectTo(address: string, allow: Cidrs): boolean {
  if (isPublicAddress(address)) return true;
  const parsed = parseAddress(address);
  return parsed !== null && allow.some(([network, bits]) => contains(network, bits, parsed));
}

/**
 * Parses comma-separated blocks such as `10.0.0.0/8,fd00::/8`; empty text is none. Throws TypeError
 * for anything else.
 */
export function parseCidrs(text: string): Cidrs {
  const blocks = text.split(',').map((block) => block.trim());
  return blocks.length === 1 && blocks[0] === '' ? NO_CIDRS : blocks.map(parseCidr);
}

function parseCidr(text: string): Cidrs[number] {
  const [address, bits, ...rest] = text.split('/');
  const family = isIP(address ?? '');
  const isComplete = address !== undefined && bits !== undefined && rest.length === 0 && !address.includes('%');
  if (!isComplete || family === 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128)) {
    throw new TypeError(`"${text}" is not a block of addresses like 10.0.0.0/8 or fd00::/8`);
  }
  if (family === 4) return [ipaddr.IPv4.parse(address), Number(bits)];
  const network = inHexadecimal(address);
  // Addresses are compared unmapped, so such a block would silently match nothing.
  if (network.isIPv4MappedAddress()) throw new TypeError(`"${text}" must be written as a block of IPv4 addresses`);
  return [network, Number(bits)];
}

/**
 * The address; one mapped into IPv6 becomes IPv4. Only the strict forms count: Node takes any other
 * text for a name.
 */
function parseAddress(address: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  const family = isIP(address);
  if (family === 0 || address.includes('%')) return null;
  return family === 4 ? ipaddr.IPv4.parse(address) : unmapped(inHexadecimal(address));
}

/**
 * `ipaddr.js` reads ::8.8.8.8 as ::ffff:8.8.8.8, another address. The URL standard writes the whole
 * address in hexadecimal.
 */
function inHexadecimal(address: string): ipaddr.IPv6 {
  return ipaddr.IPv6.parse(new URL(`https://[${address}]`).hostname.slice(1, -1));
}

function unmapped(address: ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

function contains(network: ipaddr.IPv4 | ipaddr.IPv6, bits: number, address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (network.kind() !== address.kind()) return false;
  return network.kind() === 'ipv4'
    ? (address as ipaddr.IPv4).match(network as ipaddr.IPv4, bits)
    : (address as ipaddr.IPv6).match(network as ipaddr.IPv6, bits);
}
