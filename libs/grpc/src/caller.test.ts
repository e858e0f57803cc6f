import { SERVICE_NAMES } from '@laurel/topology';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { serviceOfNames } from './caller.ts';

describe('the service that a certificate names', () => {
  test.each([
    ['URI:spiffe://laurel/gateway', 'gateway'],
    ['DNS:wallet, URI:spiffe://laurel/wallet', 'wallet'],
    ['URI:spiffe://laurel/webhook, DNS:localhost, IP Address:127.0.0.1', 'webhook'],
    [undefined, 'unknown'],
    ['', 'unknown'],
    ['DNS:gateway', 'unknown'],
    ['DNS:spiffe://laurel/gateway', 'unknown'],
    ['URI:spiffe://laurel/', 'unknown'],
    ['URI:spiffe://laurel/nats', 'unknown'],
    ['URI:spiffe://laurel/gateway/x', 'unknown'],
    ['URI:spiffe://other/gateway', 'unknown'],
    ['URI:SPIFFE://laurel/gateway', 'unknown'],
    ['URI:spiffe://laurel/gateway, URI:spiffe://laurel/wallet', 'unknown'],
    // One name that imitates several, in Node's notation.
    ['DNS:"a, URI:spiffe://laurel/gateway, DNS:b"', 'unknown'],
  ])('a certificate with the names %s belongs to the service %s', (names, service) => {
    expect(serviceOfNames(names)).toBe(service);
  });

  test('a certificate names a Laurel service only if exactly one URI is that service’s name', () => {
    const name = fc.oneof(
      fc.constantFrom(...SERVICE_NAMES).map((service) => `URI:spiffe://laurel/${service}`),
      fc.string({ unit: 'grapheme-ascii' }).map((text) => `URI:${text}`),
      fc.domain().map((domain) => `DNS:${domain}`),
    );
    fc.assert(
      fc.property(fc.array(name, { maxLength: 4 }), (names) => {
        const service = serviceOfNames(names.join(', '));
        const uris = names
          .join(', ')
          .split(', ')
          .filter((text) => text.startsWith('URI:'));
        if (service !== 'unknown') expect(uris).toEqual([`URI:spiffe://laurel/${service}`]);
      }),
    );
  });
});
