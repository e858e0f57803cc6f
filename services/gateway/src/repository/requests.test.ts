import { randomBytes } from 'node:crypto';
import { createDatabase, type Database } from '@laurel/postgres';
import { createTestDatabase } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createKeepRequestLog } from '../workers/keep-request-log.ts';
import {
  COUNT_INTERVAL_MS,
  dropRequestPartitions,
  findRequest,
  firstRequests,
  insertRequests,
  type LoggedRequest,
  listNewerRequests,
  listNewestRequests,
  listOlderRequests,
  makeRequestPartitions,
  type RequestFilter,
  summarizeRequests,
} from './requests.ts';

const DAY_MS = 24 * 3_600_000;
const ANY: RequestFilter = {
  statusClass: null,
  errorCode: null,
  method: null,
  route: null,
  idempotencyKey: null,
  attemptId: null,
};

const cleanup = new AsyncDisposableStack();
let database: Database;
let replica: Database;
let superuser: Database;
let scope: { readonly programId: string; readonly environment: 'test' };

beforeAll(async () => {
  const { url, runningUrl } = cleanup.use(
    await createTestDatabase({ migrations: new URL('../../migrations/', import.meta.url) }),
  );
  const open = (databaseUrl: string) =>
    cleanup.use(createDatabase({ url: databaseUrl, maxConnections: 4, applicationName: 'requests-test' }));
  [database, replica, superuser] = [open(runningUrl), open(runningUrl), open(url)];
  await makeRequestPartitions(database);
});
afterAll(() => cleanup.disposeAsync());
beforeEach(() => {
  scope = { programId: newId(), environment: 'test' };
});

function line(overrides: Partial<LoggedRequest> = {}): LoggedRequest {
  const { at = new Date() } = overrides;
  return {
    ...scope,
    requestId: newId(at),
    at,
    method: 'POST',
    path: '/v1/attempts',
    route: '/v1/attempts',
    status: 201,
    errorCode: null,
    durationMs: 4.5,
    idempotencyKey: null,
    isReplayed: false,
    userAgent: 'laurel-sdk/1.0',
    requestBody: '{"player_ref":"a\\"b\\\\c"}',
    isRequestBodyTruncated: false,
    responseBody: null,
    isResponseBodyTruncated: false,
    ...overrides,
  };
}
const ids = (lines: readonly { requestId: string }[]) => lines.map(({ requestId }) => requestId);
const partitions = async () => {
  const text = `select c.relname as name from pg_inherits join pg_class c on c.oid = inhrelid
    where inhparent = 'request_batches'::regclass and c.relkind = 'r' order by 1`;
  return (await superuser.query<{ name: string }>({ text })).map(({ name }) => name);
};
const partitionOf = (at: number) => `request_batches_${new Date(at).toISOString().slice(0, 10).replaceAll('-', '')}`;
/** Makes the partition of a day so old that the function would not make it any more. */
async function makeOldPartition(at: number): Promise<void> {
  const start = at - (at % DAY_MS);
  const [from, to] = [start, start + DAY_MS].map((ms) => ms.toString(16).padStart(12, '0').padEnd(32, '0'));
  const text = `create table ${partitionOf(at)} partition of request_batches for values from ('${from}') to ('${to}')`;
  await superuser.query({ text });
}

describe('the partitions of the request log', () => {
  test('the service makes the partitions of the days around today', async () => {
    const today = Date.now();
    await Promise.all([makeRequestPartitions(database), makeRequestPartitions(replica)]);
    expect(await partitions()).toEqual([-1, 0, 1, 2].map((days) => partitionOf(today + days * DAY_MS)));
    await expect(database.query({ text: 'create table mine (id int)' })).rejects.toThrow('permission denied');
    await expect(database.query({ text: `drop table ${partitionOf(today)}` })).rejects.toThrow('must be owner');
    await expect(database.query({ text: `delete from request_batches` })).rejects.toThrow('permission denied');
    await expect(database.query({ text: `select * from ${partitionOf(today)}` })).rejects.toThrow('permission denied');
  });

  test('the worker drops only the partitions of days that ended more than seven days ago', async () => {
    const now = Date.now();
    const [kept, dropped] = [now - 7 * DAY_MS, now - 8 * DAY_MS];
    await makeOldPartition(kept);
    await makeOldPartition(dropped);
    const lines = [line({ at: new Date(kept) }), line({ at: new Date(dropped) }), line()];
    for (const one of lines) await insertRequests(database, [one], []);
    expect(await partitions()).toContain(partitionOf(dropped));

    await createKeepRequestLog(database)(new Date(now));
    expect(await partitions()).not.toContain(partitionOf(dropped));
    const { lines: left } = await listNewestRequests(database, scope, ANY, 10);
    expect(new Set(ids(left))).toEqual(new Set(ids([lines[0], lines[2]] as LoggedRequest[])));
    expect(await dropRequestPartitions(database)).toBe(0);
    await superuser.query({ text: `drop table ${partitionOf(kept)}` });
  });

  test('a batch with a request of a day without a partition is refused', async () => {
    const batch = [line(), line({ at: new Date(Date.now() + 5 * DAY_MS) })];
    await expect(insertRequests(database, batch, [])).rejects.toThrow('no partition');
    expect((await listNewestRequests(database, scope, ANY, 10)).lines).toEqual([]);
  });

  test('counts of requests that are past their retention are deleted', async () => {
    const now = Date.now();
    const old = now - 9 * DAY_MS;
    await makeOldPartition(old);
    await insertRequests(database, [line({ at: new Date(old) }), line()], []);
    await createKeepRequestLog(database)(new Date(now));
    const period = { from: new Date(now - 10 * DAY_MS), to: new Date(now + DAY_MS), buckets: 1 };
    expect((await summarizeRequests(database, { ...scope, ...period })).total).toBe(1);
  });
});

describe('the lists of the request log', () => {
  test('a request is found by its id only in its own program', async () => {
    const written = line({ responseBody: '{"a":1}', isReplayed: true, idempotencyKey: 'k', errorCode: 'not_found' });
    await insertRequests(database, [written], []);
    const { requestId, programId } = written;
    expect(await findRequest(database, { requestId, programId })).toEqual({
      ...written,
      position: expect.any(BigInt),
      attemptId: null,
    });
    expect(await findRequest(database, { requestId, programId: newId() })).toBeNull();
  });

  test('a large batch of requests is stored compressed', async () => {
    const lines = Array.from({ length: 50 }, () => line({ responseBody: `{"note":"${'é'.repeat(500)}"}` }));
    await insertRequests(database, lines, []);
    const text = `select octet_length(lines) as bytes from request_batches where program_id = '${scope.programId}'`;
    const [batch] = await superuser.query<{ bytes: number }>({ text });
    expect(batch?.bytes).toBeLessThan(JSON.stringify(lines).length / 10);
    for (const { requestId, programId, responseBody } of lines) {
      expect(await findRequest(database, { requestId, programId })).toMatchObject({ requestId, responseBody });
    }
  });

  test('pages have each request of the program and environment once, newest first', async () => {
    const lines = Array.from({ length: 7 }, () => line());
    for (const one of lines) await insertRequests(database, [one, line({ environment: 'live' })], []);
    await insertRequests(database, [line({ programId: newId() })], []);

    const first = await listNewestRequests(database, scope, ANY, 3);
    const read = [...first.lines];
    for (let { next } = first; next !== null; ) {
      const page = await listOlderRequests(database, scope, ANY, { below: next, limit: 3 });
      read.push(...page.lines);
      next = page.next;
    }
    expect(ids(read)).toEqual(ids(lines).reverse());
    const after = { after: first.head, limit: 3 };
    expect(await listNewerRequests(database, scope, ANY, after)).toEqual({ lines: [], head: first.head });
  });

  test('each filter lists exactly the requests that match it', async () => {
    const odd = line({
      status: 409,
      errorCode: 'idempotency_in_progress',
      method: 'PATCH',
      route: '/v1/integrations/{id}',
      idempotencyKey: 'key-1',
    });
    await insertRequests(database, [line(), odd, line({ status: 500, errorCode: 'internal_error' })], []);
    for (const filter of [
      { statusClass: 4 },
      { errorCode: 'idempotency_in_progress' },
      { method: 'PATCH' },
      { route: '/v1/integrations/{id}' },
      { idempotencyKey: 'key-1' },
    ]) {
      const { lines, head, next } = await listNewestRequests(database, scope, { ...ANY, ...filter }, 10);
      expect([filter, ids(lines), next]).toEqual([filter, [odd.requestId], null]);
      const newer = await listNewerRequests(database, scope, { ...ANY, ...filter }, { after: 0n, limit: 10 });
      expect(ids(newer.lines)).toEqual([odd.requestId]);
      expect(newer.head).toBeLessThanOrEqual(head);
    }
  });

  test('a request is listed with the attempt that it names or created', async () => {
    const attemptId = newId();
    const created = `{"id":"${attemptId}","player_ref":"a"}`;
    const outcome = '/v1/attempts/{attempt_id}/outcome';
    const own = [
      line({ responseBody: created }),
      line({ responseBody: created, isReplayed: true }),
      line({ responseBody: `${created.slice(0, 50)}`, isResponseBodyTruncated: true }),
      line({ path: `/v1/attempts/${attemptId.toUpperCase()}/outcome`, route: outcome }),
      line({ path: `/v1/attempts/${attemptId}?x=1`, route: '/v1/attempts/{attempt_id}', status: 404 }),
    ];
    const others = [
      line(),
      line({ status: 402, responseBody: '{"error":{"code":"insufficient_funds"}}' }),
      line({ path: '/v1/players', route: '/v1/players', responseBody: created }),
      line({ path: `/v1/attempts/${attemptId}`, route: 'unknown' }),
      line({ path: '/v1/attempts/nonsense', route: '/v1/attempts/{attempt_id}' }),
      line({ responseBody: `{"id":"${newId()}"}` }),
    ];
    for (const one of [...own, ...others]) await insertRequests(database, [one], []);
    const { lines } = await listNewestRequests(database, scope, ANY, 20);
    const attempts = lines.toReversed().map((one) => one.attemptId);
    expect(attempts).toEqual([...own.map(() => attemptId), null, null, null, null, null, expect.any(String)]);
    const found = await listNewestRequests(database, scope, { ...ANY, attemptId }, 20);
    expect(ids(found.lines)).toEqual(ids(own).toReversed());
    const newer = await listNewerRequests(database, scope, { ...ANY, attemptId }, { after: 0n, limit: 20 });
    expect(ids(newer.lines)).toEqual(ids(own));
  });

  test('a filtered page reads a limited number of rows, and the next page continues after them', async () => {
    const rare = line({ status: 404 });
    await insertRequests(database, [rare], []);
    for (let n = 0; n < 11; n += 1) {
      await insertRequests(
        database,
        Array.from({ length: 1_000 }, () => line({ requestBody: null })),
        [],
      );
    }
    const filter = { ...ANY, statusClass: 4 };
    const first = await listNewestRequests(database, scope, filter, 10);
    expect(first.lines).toEqual([]);
    const second = await listOlderRequests(database, scope, filter, { below: first.next ?? 0n, limit: 10 });
    expect([ids(second.lines), second.next]).toEqual([[rare.requestId], null]);
    const tail = await listNewerRequests(database, scope, { ...ANY, statusClass: 5 }, { after: 0n, limit: 10 });
    expect(tail.lines).toEqual([]);
    expect(tail.head).toBeGreaterThan(0n);
  });
});

describe('pages of large requests', () => {
  // Random, so that the stored batches are not smaller.
  const random = () => randomBytes(12_000).toString('base64').slice(0, 16_000);

  test('a page of large requests reads a limited number of bytes, and the next pages have the rest', async () => {
    const rare = line({ status: 404 });
    await insertRequests(database, [rare], []);
    for (let n = 0; n < 24; n += 1) {
      await insertRequests(
        database,
        Array.from({ length: 50 }, () => line({ requestBody: random() })),
        [],
      );
    }
    const filter = { ...ANY, statusClass: 4 };
    const first = await listNewestRequests(database, scope, filter, 10);
    expect(first.lines).toEqual([]);
    const second = await listOlderRequests(database, scope, filter, { below: first.next ?? 0n, limit: 10 });
    expect([ids(second.lines), second.next]).toEqual([[rare.requestId], null]);
    const all = await listNewestRequests(database, scope, ANY, 700);
    const rest = await listOlderRequests(database, scope, ANY, { below: all.next ?? 0n, limit: 700 });
    expect([all.lines.length, rest.lines.length, rest.next]).toEqual([700, 501, null]);
  });
});

describe('a reader that follows the request log', () => {
  test('a reader of the request log misses no request that is committed late', async () => {
    const at = new Date();
    await insertRequests(database, [line({ at })], []);
    const { head } = await listNewestRequests(database, scope, ANY, 10);
    const [slow, quick] = [line({ at }), line({ at, status: 202 })];
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    // Holds the row in which the slow batch is counted, after its positions are given.
    const holding = Promise.withResolvers<void>();
    const holder = superuser.transaction(async (tx) => {
      await tx.query({ text: 'select from request_counts where program_id = $1 for update' }, [scope.programId]);
      holding.resolve();
      await gate;
    });
    await holding.promise;
    const slowWritten = insertRequests(database, [slow], []);
    const waiting = async () => {
      const text = `select count(*)::integer as count from pg_locks where not granted
        and database = (select oid from pg_database where datname = current_database()) or
        (not granted and locktype = 'transactionid')`;
      return (await superuser.query<{ count: number }>({ text }))[0]?.count ?? 0;
    };
    while ((await waiting()) < 1);
    let isQuickWritten = false;
    const quickWritten = insertRequests(replica, [quick], []).finally(() => {
      isQuickWritten = true;
    });
    while (!isQuickWritten && (await waiting()) < 2);

    const before = await listNewerRequests(database, scope, ANY, { after: head, limit: 10 });
    open();
    await Promise.all([holder, slowWritten, quickWritten]);
    const after = await listNewerRequests(database, scope, ANY, { after: before.head, limit: 10 });
    expect(ids([...before.lines, ...after.lines]).sort()).toEqual(ids([slow, quick]).sort());
  });

  test('a reader of the request log gets each request of two busy replicas exactly once', async () => {
    const { head: start } = await listNewestRequests(database, scope, ANY, 10);
    const batches = Array.from({ length: 60 }, () => Array.from({ length: 5 }, () => line()));
    let left = batches.length;
    const writers = batches.map((batch, index) =>
      insertRequests(index % 2 === 0 ? database : replica, batch, []).finally(() => {
        left -= 1;
      }),
    );
    const read: string[] = [];
    let head = start;
    for (let isLast = false; !isLast; ) {
      isLast = left === 0;
      for (let isFull = true; isFull; ) {
        const page = await listNewerRequests(superuser, scope, ANY, { after: head, limit: 7 });
        read.push(...ids(page.lines));
        head = page.head;
        isFull = page.lines.length === 7;
      }
    }
    await Promise.all(writers);
    expect(read.length).toBe(300);
    expect(new Set(read)).toEqual(new Set(ids(batches.flat())));
    const newest = await listNewestRequests(database, scope, ANY, 300);
    expect(ids(newest.lines)).toEqual(read.toReversed());
  });
});

test('a summary counts the requests of a period by time, status and code', async () => {
  const to = new Date(Math.ceil(Date.now() / COUNT_INTERVAL_MS) * COUNT_INTERVAL_MS);
  const from = new Date(to.getTime() - 4 * COUNT_INTERVAL_MS);
  const at = (slot: number) => new Date(from.getTime() + slot * COUNT_INTERVAL_MS + 1_000);
  const lines = [
    line({ at: at(-1) }),
    ...[line({ at: at(0) }), line({ at: at(1) }), line({ at: at(1) })],
    ...[1, 2].map(() => line({ at: at(2), status: 404, errorCode: 'not_found' })),
    line({ at: at(2), status: 429 }),
    line({ at: at(3), status: 500, errorCode: 'internal_error' }),
    line({ at: at(3), environment: 'live' }),
  ];
  for (const one of lines) await insertRequests(database, [one], []);
  await expect(summarizeRequests(database, { ...scope, from, to, buckets: 2 })).resolves.toEqual({
    total: 7,
    errors4xx: 3,
    errors5xx: 1,
    topErrors: [
      { code: 'not_found', count: 2 },
      { code: 'http_429', count: 1 },
      { code: 'internal_error', count: 1 },
    ],
    buckets: [
      { from, ok: 3, errors4xx: 0, errors5xx: 0 },
      { from: new Date(from.getTime() + 2 * COUNT_INTERVAL_MS), ok: 0, errors4xx: 3, errors5xx: 1 },
    ],
  });
});

test('later requests do not change the time of a program’s first request of a kind', async () => {
  const none = { key_used: null, player_linked: null, attempt_created: null, outcome_reported: null };
  expect(await firstRequests(database, scope)).toEqual(none);
  const [earlier, later] = [new Date('2026-11-26T10:00:00.000Z'), new Date('2026-11-26T11:00:00.000Z')];
  const first = (at: Date) => ({ ...scope, milestone: 'key_used', at }) as const;
  await insertRequests(database, [line()], [first(earlier)]);
  await insertRequests(replica, [line()], [first(later), { ...scope, milestone: 'player_linked', at: later }]);
  expect(await firstRequests(database, scope)).toEqual({ ...none, key_used: earlier, player_linked: later });
});
