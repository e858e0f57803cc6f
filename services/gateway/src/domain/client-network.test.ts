import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { networkOf } from './client-network.ts';

describe('networks of clients', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::1', '0:0:0:0::/64'],
    ['2001:DB8:0:12:a:b:c:d', '2001:db8:0:12::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['', ''],
  ])('the network of the address "%s" is "%s"', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });

  test('a client has the same network in every notation of its address', () => {
    const group = fc.integer({ min: 0, max: 0xffff });
    fc.assert(
      fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
        const full = groups.map((value) => value.toString(16).padStart(4, '0')).join(':');
        const short = new URL(`http://[${full}]`).hostname.slice(1, -1);
        expect(networkOf(full)).toBe(networkOf(short));
      }),
    );
  });
});
