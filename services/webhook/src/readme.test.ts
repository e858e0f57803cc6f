import { readmeIssues } from '@laurel/testing';
import { expect, test } from 'vitest';
import { webhookConfigSchema } from './config.ts';

test('the README of the webhook service names every table, rpc, setting and metric', () => {
  expect(readmeIssues('webhook', webhookConfigSchema)).toEqual([]);
});
