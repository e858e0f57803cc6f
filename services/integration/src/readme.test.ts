import { readmeIssues } from '@laurel/testing';
import { expect, test } from 'vitest';
import { integrationConfigSchema } from './config.ts';

test('the README of the integration service names every table, rpc, setting and metric', () => {
  expect(readmeIssues('integration', integrationConfigSchema)).toEqual([]);
});
