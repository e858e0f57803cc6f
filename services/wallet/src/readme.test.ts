import { readmeIssues, retentionIssues } from '@laurel/testing';
import { expect, test } from 'vitest';
import { walletConfigSchema } from './config.ts';

test('the README of the wallet service names every table, rpc, setting and metric', () => {
  expect(readmeIssues('wallet', walletConfigSchema)).toEqual([]);
});

test('docs/operations/retention.md says of every table of the wallet service how long its rows are kept', () => {
  expect(retentionIssues('wallet', walletConfigSchema)).toEqual([]);
});
