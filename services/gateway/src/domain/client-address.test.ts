import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clientAddressOf, parseNetworks, trustedProxiesOf } from './client-address.ts';

const isTrusted = trustedProxiesOf(parseNetworks('10.0.0.0/8, 192.0.2.7,2001:db8:1::/48') ?? undefined);

describe('trusted networks', () => {
  test.each(['10.0.0.1', '::ffff:10.0.0.1', '10.255.255.255', '192.0.2.7', '2001:db8:1:2::3'])(
    'trusted networks contain %s',
    (address) => {
      expect(isTrusted(address)).toBe(true);
    },
  );

  test.each(['11.0.0.1', '192.0.2.8', '2001:db8:2::1', '', 'nonsense'])(
    'trusted networks do not contain "%s"',
    (address) => {
      expect(isTrusted(address)).toBe(false);
    },
  );

  test.each(['', '10.0.0.0/33', '10.0.0', '10.0.0.0/8,', 'proxy', '::1/129', '10.0.0.0/-1', '10.0.0.1:80'])(
    '"%s" is not a list of trusted networks',
    (text) => expect(parseNetworks(text)).toBeNull(),
  );

  test('no network is trusted by default', () => {
    expect(trustedProxiesOf(undefined)('127.0.0.1')).toBe(false);
  });
});

describe('client addresses', () => {
  test.each([
    ['a peer that is not a proxy, whatever it sends', '203.0.113.9', '198.51.100.1', '203.0.113.9'],
    ['a proxy that names no client', '10.0.0.1', undefined, '10.0.0.1'],
    ['whom a proxy names', '10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['whom a proxy names, over IPv6', '::ffff:10.0.0.1', '::ffff:198.51.100.1', '198.51.100.1'],
    ['the right-most that is not a proxy', '10.0.0.1', '1.1.1.1, 198.51.100.1, 10.0.0.2,192.0.2.7', '198.51.100.1'],
    ['one with a port', '10.0.0.1', '198.51.100.1:4711', '198.51.100.1'],
    ['an IPv6 address', '10.0.0.1', '2001:db8::1', '2001:db8::1'],
    ['an IPv6 address with a port', '10.0.0.1', '[2001:db8::1]:4711', '2001:db8::1'],
    ['the outermost proxy when all are ours', '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['the last that could be named', '10.0.0.1', '198.51.100.1, unknown, 10.0.0.2', '10.0.0.2'],
    ['the proxy when it names nonsense', '10.0.0.1', 'unknown', '10.0.0.1'],
    ['the proxy when the header is empty', '10.0.0.1', '', '10.0.0.1'],
  ])('the client address is %s', (_name, peer, forwardedFor, client) => {
    expect(clientAddressOf(peer, forwardedFor, isTrusted)).toBe(client);
  });

  test('the client address never depends on what the client put into the header', () => {
    const entry = fc.oneof(
      fc.ipV4(),
      fc.ipV6(),
      fc.string().map((text) => text.replaceAll(',', '')),
    );
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 40 }), fc.ipV4(), (forged, client) => {
        fc.pre(!isTrusted(client));
        const header = [...forged, client, '10.0.0.2'].join(', ');
        expect(clientAddressOf('10.0.0.1', header, isTrusted)).toBe(client);
      }),
    );
  });
});
