import { readmeIssues } from '@laurel/testing';
import { expect, test } from 'vitest';
import { tournamentConfigSchema } from './config.ts';

test('the README of the tournament service names every table, rpc, setting and metric', () => {
  expect(readmeIssues('tournament', tournamentConfigSchema)).toEqual([]);
});
