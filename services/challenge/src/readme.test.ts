import { readmeIssues } from '@laurel/testing';
import { expect, test } from 'vitest';
import { challengeConfigSchema } from './config.ts';

test('the README of the challenge service names every table, rpc, setting and metric', () => {
  expect(readmeIssues('challenge', challengeConfigSchema)).toEqual([]);
});
