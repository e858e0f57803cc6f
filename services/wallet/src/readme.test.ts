import { readmeIssues } from '@laurel/testing';
import { expect, test } from 'vitest';
import { walletConfigSchema } from './config.ts';

test('the README of the wallet service names every table, rpc, setting and metric', () => {
  expect(readmeIssues('wallet', walletConfigSchema)).toEqual([]);
});
