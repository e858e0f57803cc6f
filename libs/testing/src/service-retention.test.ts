import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { retentionIssues } from './service-retention.ts';

const PAGE = readFileSync(new URL('../../../docs/operations/retention.md', import.meta.url), 'utf8');
const SCHEMA = z.object({ INTEGRATION_LOG_RETENTION_DAYS: z.coerce.number().default(7) });

/** Returns the issues of the integration service after a change of its section. */
function issuesAfter(change: (page: string) => string): readonly string[] {
  const [before = '', section = ''] = PAGE.split('\n## Integration\n');
  return retentionIssues('integration', SCHEMA, `${before}\n## Integration\n${change(section)}`);
}

test('a page that states the retention of every table has no issue', () => {
  expect(issuesAfter((section) => section)).toEqual([]);
});

test('a table of the service that has no row on the page is an issue', () => {
  expect(issuesAfter((section) => section.replace('| `log_entries`', '| log entries '))).toEqual([
    'the table log_entries has no row',
  ]);
  expect(issuesAfter((section) => section.replace('| `programs`', '| `parties`'))).toEqual([
    'the table programs has no row',
    'parties is not a table of the service',
  ]);
  expect(issuesAfter((section) => section.replace(/^\| `programs`.*\n/m, '$&$&'))).toEqual(['programs has two rows']);
});

test('a setting that the service lacks is an issue', () => {
  const row = (from: string, to: string) => issuesAfter((section) => section.replace(from, to));
  expect(row('INTEGRATION_LOG_RETENTION_DAYS', 'LOG_DAYS')).toEqual([
    'log_entries is kept by LOG_DAYS, which is not a setting of the service',
  ]);
  expect(row('7 days', '9 days')).toEqual(['log_entries names 9 for INTEGRATION_LOG_RETENTION_DAYS: it is `7`']);
  expect(row('`delete-old-rows`', '`delete-old-logs`')).toEqual([
    'log_entries is removed by delete-old-logs, which is not a worker of the service',
  ]);
});

test('a table from which the service may delete rows cannot be documented as kept forever', () => {
  expect(issuesAfter((section) => section.replace(/`delete-old-rows` +/, ''))).toEqual([
    'the service may delete from log_entries, and its row does not say what it deletes',
  ]);
});
