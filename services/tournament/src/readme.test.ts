import { readmeIssues, retentionIssues } from '@laurel/testing';
import { expect, test } from 'vitest';
import { tournamentConfigSchema } from './config.ts';

test('the README of the tournament service names every table, rpc, setting and metric', () => {
  expect(readmeIssues('tournament', tournamentConfigSchema)).toEqual([]);
});

test('docs/operations/retention.md says of every table of the tournament service how long its rows are kept', () => {
  expect(retentionIssues('tournament', tournamentConfigSchema)).toEqual([]);
});
