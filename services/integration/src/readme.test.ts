import { readmeIssues, retentionIssues } from '@laurel/testing';
import { expect, test } from 'vitest';
import { integrationConfigSchema } from './config.ts';

test('the README of the integration service names every table, rpc, setting and metric', () => {
  expect(readmeIssues('integration', integrationConfigSchema)).toEqual([]);
});

test('docs/operations/retention.md says of every table of the integration service how long its rows are kept', () => {
  expect(retentionIssues('integration', integrationConfigSchema)).toEqual([]);
});
