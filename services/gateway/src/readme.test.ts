import { readmeIssues, retentionIssues } from '@laurel/testing';
import { expect, test } from 'vitest';
import { gatewayConfigSchema } from './config.ts';

test('the README of the gateway service names every table, rpc, setting and metric', () => {
  expect(readmeIssues('gateway', gatewayConfigSchema)).toEqual([]);
});

test('docs/operations/retention.md says of every table of the gateway service how long its rows are kept', () => {
  expect(retentionIssues('gateway', gatewayConfigSchema)).toEqual([]);
});
