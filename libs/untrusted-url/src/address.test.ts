import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPublicAddress, mayConnectTo, NO_CIDRS, parseCidrs } from './address.ts';

/**
 * First and last address of every block that IANA's special-purpose registries reserve, and of the
 * blocks that are not unicast.
 */
const SPECIAL = [
  // https://www.iana.org/assignments/iana-ipv4-special-registry
  ['0.0.0.0/8, this network', '0.0.0.0', '0.255.255.255'],
  ['10.0.0.0/8, private', '10.0.0.0', '10.255.255.255'],
  ['100.64.0.0/10, carrier-grade NAT', '100.64.0.0', '100.127.255.255'],
  ['127.0.0.0/8, loopback', '127.0.0.0', '127.255.255.255'],
  ['169.254.0.0/16, link-local', '169.254.0.0', '169.254.255.255'],
  ['169.254.169.254, metadata of clouds', '169.254.169.254', '169.254.170.2'],
  ['172.16.0.0/12, private', '172.16.0.0', '172.31.255.255'],
  ['192.0.0.0/24, protocol assignments', '192.0.0.0', '192.0.0.255'],
  ['192.0.0.9/32 and 192.0.0.10/32, anycast', '192.0.0.9', '192.0.0.10'],
  ['192.0.2.0/24, documentation', '192.0.2.0', '192.0.2.255'],
  ['192.31.196.0/24, AS112', '192.31.196.0', '192.31.196.255'],
  ['192.52.193.0/24, multicast tunnels', '192.52.193.0', '192.52.193.255'],
  ['192.88.99.0/24, relays of 6to4', '192.88.99.0', '192.88.99.255'],
  ['192.168.0.0/16, private', '192.168.0.0', '192.168.255.255'],
  ['192.175.48.0/24, AS112', '192.175.48.0', '192.175.48.255'],
  ['198.18.0.0/15, benchmarks', '198.18.0.0', '198.19.255.255'],
  ['198.51.100.0/24, documentation', '198.51.100.0', '198.51.100.255'],
  ['203.0.113.0/24, documentation', '203.0.113.0', '203.0.113.255'],
  ['224.0.0.0/4, multicast', '224.0.0.0', '239.255.255.255'],
  ['240.0.0.0/4, reserved', '240.0.0.0', '255.255.255.254'],
  ['255.255.255.255/32, broadcast', '255.255.255.255', '255.255.255.255'],
  ['168.63.129.16, the host of a machine in Azure', '168.63.129.16', '168.63.129.16'],
  // https://www.iana.org/assignments/iana-ipv6-special-registry
  ['::/128, unspecified', '::', '0:0:0:0:0:0:0:0'],
  ['::1/128, loopback', '::1', '0:0:0:0:0:0:0:1'],
  ['::/96, IPv4-compatible', '::7f00:1', '::255.255.255.255'],
  ['::/96 of a public address', '::8.8.8.8', '::808:808'],
  ['::ffff:0:0/96, IPv4-mapped loopback', '::ffff:127.0.0.1', '::ffff:7f00:1'],
  ['::ffff:0:0/96, IPv4-mapped private', '::ffff:10.0.0.1', '::FFFF:c0a8:1'],
  ['::ffff:0:0/96, IPv4-mapped metadata', '::ffff:169.254.169.254', '0:0:0:0:0:ffff:a9fe:a9fe'],
  ['::ffff:0:0:0/96, IPv4-translated', '::ffff:0:0:0', '::ffff:0:127.0.0.1'],
  ['64:ff9b::/96, translation', '64:ff9b::', '64:ff9b::ffff:ffff'],
  ['64:ff9b:1::/48, local translation', '64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff'],
  ['100::/64, discard', '100::', '100::ffff:ffff:ffff:ffff'],
  ['100:0:0:1::/64, dummy', '100:0:0:1::', '100::1:ffff:ffff:ffff:ffff'],
  ['2001::/23, protocol assignments', '2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2001::/32, Teredo', '2001::1', '2001:0:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2001:1::1 to 3, anycast', '2001:1::1', '2001:1::3'],
  ['2001:2::/48, benchmarks', '2001:2::', '2001:2:0:ffff:ffff:ffff:ffff:ffff'],
  ['2001:3::/32, multicast tunnels', '2001:3::', '2001:3:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2001:4:112::/48, AS112', '2001:4:112::', '2001:4:112:ffff:ffff:ffff:ffff:ffff'],
  ['2001:10::/28, ORCHID', '2001:10::', '2001:1f:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2001:20::/28, ORCHIDv2', '2001:20::', '2001:2f:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2001:30::/28, remote ids of drones', '2001:30::', '2001:3f:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2001:db8::/32, documentation', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2002::/16, 6to4', '2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2002:7f00:1::/48, 6to4 of loopback', '2002:7f00:1::', '2002:7f00:1::1'],
  ['2620:4f:8000::/48, AS112', '2620:4f:8000::', '2620:4f:8000:ffff:ffff:ffff:ffff:ffff'],
  ['3fff::/20, documentation', '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['4000::/2, not given out', '4000::', 'bfff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['5f00::/16, segment routing', '5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['fc00::/7, unique local', 'fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['fd00:ec2::254, metadata of a cloud', 'fd00:ec2::254', 'fd20:ce::254'],
  ['fe80::/10, link-local', 'fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['fec0::/10, site-local', 'fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['ff00::/8, multicast', 'ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
] as const;

/** Addresses next to those blocks: nothing else is refused. */
const PUBLIC = [
  '1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 168.63.129.15 168.63.129.17',
  '169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.3.0 192.88.98.255 192.88.100.0',
  '192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0',
  '223.255.255.255 8.8.8.8 1.1.1.1 ::ffff:8.8.8.8 ::ffff:808:808',
  '2000:: 2001:200:: 2001:db7:ffff:ffff:ffff:ffff:ffff:ffff 2001:db9:: 2001:4860:4860::8888 2003:: 2606:4700:4700::1111',
  '2620:4f:7fff:ffff:ffff:ffff:ffff:ffff 2620:4f:8001:: 3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff 3fff:1000::',
].flatMap((line) => line.split(' '));

const NO_ADDRESS = [
  ...['', ' ', 'localhost', 'example.com', '8.8.8', '8.8.8.8.', '8.8.8.8 ', '8.8.8.8:443', '8.8.8.8/32', '8.8.8.256'],
  ...[
    '0x8.8.8.8',
    '010.8.8.8',
    '134744072',
    '0x08080808',
    '8.8.8.08',
    '٨.8.8.8',
    '[2606:4700::1]',
    '2606:4700::1%eth0',
  ],
  ...['fe80::1%1', '::ffff:8.8.8.8%lo', '2606:4700:::1', '2606:4700::1::', '2606:4700:1', 'g606:4700::1'],
];

describe('public addresses', () => {
  it.each(SPECIAL)('an address in %s is not public', (_, first, last) => {
    expect({ first: isPublicAddress(first), last: isPublicAddress(last) }).toEqual({ first: false, last: false });
  });

  it.each(PUBLIC)('%s is a public address', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each(NO_ADDRESS)('%j is not an address', (text) => {
    expect(isPublicAddress(text)).toBe(false);
    expect(mayConnectTo(text, parseCidrs('0.0.0.0/0,::/0'))).toBe(false);
  });

  it('an IPv4 address mapped into IPv6 is public exactly if the plain address is public', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(isPublicAddress(`::ffff:${address}`)).toBe(isPublicAddress(address));
      }),
    );
  });

  it('an IPv6 address is public only in 2000::/3', () => {
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        const firstHextet = Number.parseInt(address.split(':')[0] || '0', 16);
        if (isPublicAddress(address)) expect(firstHextet >= 0x2000 && firstHextet < 0x4000).toBe(true);
      }),
    );
  });
});

describe('allowed networks', () => {
  const allow = parseCidrs('127.0.0.0/8, 10.1.2.3/32,fd00::/8');

  it('allowed networks permit exactly their own addresses and the public ones', () => {
    for (const address of ['127.0.0.1', '127.255.255.255', '10.1.2.3', 'fd00::1', '::ffff:127.0.0.1', '8.8.8.8']) {
      expect(mayConnectTo(address, allow)).toBe(true);
    }
    for (const address of ['192.168.0.1', '10.1.2.4', 'fc00::1', '::1', '169.254.169.254', '::7f00:1']) {
      expect(mayConnectTo(address, allow)).toBe(false);
    }
    expect(mayConnectTo('127.0.0.1', NO_CIDRS)).toBe(false);
  });

  it('the allowed networks may be empty, or cover everything', () => {
    expect(parseCidrs('')).toEqual([]);
    expect(parseCidrs(' ')).toEqual([]);
    for (const address of ['0.0.0.0', '127.0.0.1', '255.255.255.255', '::1', 'ff02::1']) {
      expect(mayConnectTo(address, parseCidrs('0.0.0.0/0,::/0'))).toBe(true);
    }
  });

  it.each([
    ...['10.0.0.0', '10.0.0.0/33', '10.0.0.0/-1', '10.0.0.0/8/8', '10.0.0/8', '0xa.0.0.0/8', 'fd00::/129', 'fd00::'],
    ...['fe80::1%eth0/64', '10.0.0.0/', '/8', 'localhost/8', '10.0.0.0/8,', ',', '10.0.0.0/8;fd00::/8', '10.0.0.0/ 8'],
    ...['::ffff:10.0.0.0/104', '10.0.0.0/8e0'],
  ])('%j is not a block of addresses', (text) => {
    expect(() => parseCidrs(text)).toThrow(TypeError);
  });
});
