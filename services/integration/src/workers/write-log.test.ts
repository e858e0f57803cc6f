/** The log is written after the responses, in few statements, and a response never waits for it. */

import type { Database } from '@laurel/postgres';
import { createLogger } from '@laurel/service';
import { newId } from '@laurel/values/ids';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type IntegrationDatabase, startIntegrationDatabase } from '../database.fixture.ts';
import type { NewLogEntry } from '../repository/log-entries.ts';
import { createLogWriter } from './write-log.ts';

let database: IntegrationDatabase;
let running: Database;
let integrationId: string;
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  database = await startIntegrationDatabase(stack);
  running = database.connect();
  integrationId = (await database.newIntegration()).id;
});
afterAll(() => stack.disposeAsync());

const logger = createLogger({ service: 'integration', level: 'silent' });

function entry(rest: Partial<NewLogEntry> = {}): NewLogEntry {
  const at = new Date();
  return { id: newId(), integrationId, kind: 'push', at, bodyExcerpt: '', error: null, records: [], ...rest };
}

async function isWritten({ id }: NewLogEntry): Promise<boolean> {
  return (await database.superuser.query({ text: 'select 1 from log_entries where id = $1' }, [id])).length === 1;
}

it('the entries of many pushes are written in a few statements that do not wait for the disk', async () => {
  const writes: boolean[] = [];
  const counting: Database = {
    ...running,
    write: (statement, values, options) => {
      writes.push(options.durable);
      return running.write(statement, values, options);
    },
  };
  const log = createLogWriter({ database: counting, logger });
  const entries = Array.from({ length: 300 }, () => entry());
  for (const one of entries) log.add(one);
  await log.drain();
  expect(writes.length).toBeLessThanOrEqual(2);
  expect(new Set(writes)).toEqual(new Set([false]));
  for (const one of entries) expect(await isWritten(one)).toBe(true);
});

it('a log entry that cannot be written does not affect the other entries', async () => {
  const log = createLogWriter({ database: running, logger });
  const [first, bad, last] = [entry(), entry({ integrationId: newId() }), entry()];
  for (const one of [first, bad, last]) log.add(one);
  await log.drain();
  expect(await Promise.all([first, bad, last].map(isWritten))).toEqual([true, false, true]);
});

it('entries that were added are written before the writer is disposed', async () => {
  const added = entry();
  {
    await using log = createLogWriter({ database: running, logger });
    log.add(entry());
    log.add(added);
  }
  expect(await isWritten(added)).toBe(true);
});
