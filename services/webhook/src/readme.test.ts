import { readmeIssues, retentionIssues } from '@laurel/testing';
import { expect, test } from 'vitest';
import { webhookConfigSchema } from './config.ts';

test('the README of the webhook service names every table, rpc, setting and metric', () => {
  expect(readmeIssues('webhook', webhookConfigSchema)).toEqual([]);
});

test('docs/operations/retention.md says of every table of the webhook service how long its rows are kept', () => {
  expect(retentionIssues('webhook', webhookConfigSchema)).toEqual([]);
});
