import { readFileSync } from 'node:fs';
import { readmeIssues, retentionIssues } from '@laurel/testing';
import { expect, test } from 'vitest';
import { walletConfigSchema } from './config.ts';

test('the README of the wallet service names every table, rpc, setting and metric', () => {
  expect(readmeIssues('wallet', walletConfigSchema)).toEqual([]);
});

test('docs/operations/retention.md says of every table of the wallet service how long its rows are kept', () => {
  expect(retentionIssues('wallet', walletConfigSchema)).toEqual([]);
});

test('docs/operations/scale.md has every unique constraint and foreign key of the wallet', () => {
  const schema = readFileSync(new URL('../schema.sql', import.meta.url), 'utf8');
  const page = readFileSync(new URL('../../../docs/operations/scale.md', import.meta.url), 'utf8');
  const declared = /(?:CONSTRAINT (?=\w+ (?:PRIMARY|UNIQUE|FOREIGN))|CREATE UNIQUE INDEX )(\w+)/g;
  const names = [...schema.matchAll(declared)].map(([, name]) => name);
  expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  expect(names.length).toBeGreaterThan(0);
});
