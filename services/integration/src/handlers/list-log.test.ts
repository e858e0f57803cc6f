/** The log of an integration, as its developer reads it. */
import { refused } from '@laurel/errors';
import type { RpcContext } from '@laurel/grpc';
import { LogKind, RecordStatus } from '@laurel/proto/integration';
import { expectAccepted } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type IntegrationDatabase, startIntegrationDatabase } from '../database.fixture.ts';
import type { RecordResult } from '../domain/record-result.ts';
import { insertLogEntries, type NewLogEntry } from '../repository/log-entries.ts';
import { listLog } from './list-log.ts';

const CONTEXT = { requestId: undefined, caller: undefined, signal: new AbortController().signal } satisfies RpcContext;
const AT = new Date('2026-11-22T10:00:00.123Z');

type Owner = Awaited<ReturnType<IntegrationDatabase['newIntegration']>>;

let database: IntegrationDatabase;
let list: ReturnType<typeof listLog>;
let write: (entries: readonly NewLogEntry[]) => Promise<void>;
const stack = new AsyncDisposableStack();

beforeAll(async () => {
  database = await startIntegrationDatabase(stack);
  const running = database.connect();
  list = listLog({ database: running });
  write = (entries) => insertLogEntries(running, entries);
});
afterAll(() => stack.disposeAsync());

function entryOf({ id }: Owner, rest: Partial<NewLogEntry> = {}): NewLogEntry {
  return { id: newId(), integrationId: id, kind: 'push', at: AT, bodyExcerpt: '{}', error: null, records: [], ...rest };
}

function page(
  { id, developerId }: Owner,
  rest: { limit?: number; cursor?: string; developerId?: string; programId?: string } = {},
) {
  return list({ developerId, integrationId: id, cursor: '', limit: 100, ...rest }, CONTEXT);
}

/** Reads the whole log in pages of this size. */
async function idsOf(owner: Owner, limit: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let cursor = ''; ; ) {
    const { entries, nextCursor } = expectAccepted(await page(owner, { limit, cursor }));
    expect(entries.length).toBeLessThanOrEqual(limit);
    ids.push(...entries.map(({ id }) => id));
    if (nextCursor === '') return ids;
    cursor = nextCursor;
  }
}

it('an entry of the log shows the result of each record, or why the whole body failed', async () => {
  const owner = await database.newIntegration();
  const attemptId = newId();
  const records: RecordResult[] = [
    { index: 0, status: 'settled', attemptId, code: null, message: null },
    { index: 1, status: 'rejected', attemptId: null, code: 'not_found', message: 'There is "none"\\\u0000 🂡.' },
    { index: 2, status: 'listened', attemptId: null, code: null, message: null },
  ];
  const pushed = entryOf(owner, { records, bodyExcerpt: '[{"a":"🂡"}]' });
  const polled = entryOf(owner, { kind: 'poll', at: new Date(AT.getTime() + 1), error: 'timeout', bodyExcerpt: '' });
  await write([pushed, polled]);
  expect(expectAccepted(await page(owner))).toEqual({
    entries: [
      { id: polled.id, kind: LogKind.POLL, at: polled.at, bodyExcerpt: '', error: 'timeout', records: [] },
      {
        id: pushed.id,
        kind: LogKind.PUSH,
        at: AT,
        bodyExcerpt: '[{"a":"🂡"}]',
        error: '',
        records: [
          { index: 0, attemptId, status: RecordStatus.SETTLED, code: '', message: '' },
          { index: 1, attemptId: '', status: RecordStatus.REJECTED, code: 'not_found', message: records[1]?.message },
          { index: 2, attemptId: '', status: RecordStatus.LISTENED, code: '', message: '' },
        ],
      },
    ],
    nextCursor: '',
  });
});

it('the pages of the log together are the whole log, newest first, for any page size', async () => {
  const owner = await database.newIntegration();
  await write([entryOf(await database.newIntegration())]);
  const entries = Array.from({ length: 23 }, (_, index) =>
    entryOf(owner, { at: new Date(AT.getTime() + Math.floor(index / 4)) }),
  );
  await write(entries);
  const newestFirst = entries
    .toSorted((one, other) => other.at.getTime() - one.at.getTime() || (one.id < other.id ? 1 : -1))
    .map(({ id }) => id);
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 25 }), async (limit) => {
      expect(await idsOf(owner, limit)).toEqual(newestFirst);
    }),
    { numRuns: 15 },
  );
});

it('pages of the log do not shift when entries are added', async () => {
  const owner = await database.newIntegration();
  const entries = [0, 1, 2].map((ms) => entryOf(owner, { at: new Date(AT.getTime() + ms) }));
  await write(entries);
  const first = expectAccepted(await page(owner, { limit: 2 }));
  await write([entryOf(owner, { at: new Date(AT.getTime() + 3) })]);
  const second = expectAccepted(await page(owner, { limit: 2, cursor: first.nextCursor }));
  expect(second.entries.map(({ id }) => id)).toEqual([entries[0]?.id]);
});

it('the log of an integration without entries is empty', async () => {
  const owner = await database.newIntegration();
  expect(await page(owner)).toEqual({ entries: [], nextCursor: '' });
  expect(await page(owner, { developerId: newId() })).toEqual(refused('not_found'));
  expect(await page({ ...owner, id: newId() })).toEqual(refused('not_found'));
});

it("a log that is requested by program has only the entries of that program's integration", async () => {
  const owner = await database.newIntegration();
  const other = await database.newIntegration(owner.developerId);
  const entry = entryOf(owner);
  await write([entry]);
  const asking = (programId: string, developerId = owner.developerId) => page(owner, { programId, developerId });
  for (const programId of [owner.tenant.programId, owner.tenant.programId.toUpperCase()]) {
    expect(expectAccepted(await asking(programId)).entries.map(({ id }) => id)).toEqual([entry.id]);
    expect(await asking(programId, newId())).toEqual(refused('not_found'));
  }
  for (const programId of [other.tenant.programId, newId()]) {
    expect(await asking(programId)).toEqual(refused('not_found'));
  }
});

it('a text that is not a cursor is refused', async () => {
  const owner = await database.newIntegration();
  for (const cursor of ['x', 'AAAA', Buffer.from('["a","b"]').toString('base64url')])
    expect(await page(owner, { cursor })).toEqual(refused('invalid_request', 'The cursor is not valid.'));
});
