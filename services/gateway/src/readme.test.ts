import { readmeIssues } from '@laurel/testing';
import { expect, test } from 'vitest';
import { gatewayConfigSchema } from './config.ts';

test('the README of the gateway service names every table, rpc, setting and metric', () => {
  expect(readmeIssues('gateway', gatewayConfigSchema)).toEqual([]);
});
