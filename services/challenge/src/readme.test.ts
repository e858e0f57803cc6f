import { readmeIssues, retentionIssues } from '@laurel/testing';
import { expect, test } from 'vitest';
import { challengeConfigSchema } from './config.ts';

test('the README of the challenge service names every table, rpc, setting and metric', () => {
  expect(readmeIssues('challenge', challengeConfigSchema)).toEqual([]);
});

test('docs/operations/retention.md says of every table of the challenge service how long its rows are kept', () => {
  expect(retentionIssues('challenge', challengeConfigSchema)).toEqual([]);
});
