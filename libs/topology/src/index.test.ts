import { expect, test } from 'vitest';
import { addressesFor, byService, isNatsUser, NATS_USERS, SERVICE_NAMES, SERVICES } from './index.ts';

test('every service is listed after the services that it calls', () => {
  for (const [index, name] of SERVICE_NAMES.entries()) {
    for (const called of SERVICES[name].calls) {
      expect(SERVICE_NAMES.indexOf(called)).toBeLessThan(index);
      expect(SERVICES[called].serves).toBe('grpc');
    }
  }
});

test('every service has its row in the table and its value in byService', () => {
  expect(Object.keys(SERVICES)).toEqual(SERVICE_NAMES);
  expect(Object.entries(byService((name) => name))).toEqual(SERVICE_NAMES.map((name) => [name, name]));
});

test('a service is given an address for each service that it calls', () => {
  expect(addressesFor('tournament', (called) => `${called}:9000`)).toEqual({ WALLET_ADDRESS: 'wallet:9000' });
  expect(addressesFor('wallet', (called) => `${called}:9000`)).toEqual({});
});

test('exactly the services that publish or consume events are users of NATS', () => {
  expect(NATS_USERS).toEqual(['challenge', 'tournament', 'webhook']);
  expect(['wallet', 'gateway', 'operator'].filter(isNatsUser)).toEqual([]);
});
