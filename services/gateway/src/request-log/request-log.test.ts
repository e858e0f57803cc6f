import { createDatabase, type Database } from '@laurel/postgres';
import { createLogger } from '@laurel/service';
import { metrics } from '@laurel/telemetry';
import { createTestDatabase } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { UNREACHABLE } from '../gateway.fixture.ts';
import { findRequest, firstRequests, listNewestRequests } from '../repository/requests.ts';
import { type EndedRequest, startRequestLog } from './request-log.ts';

const ANY = { statusClass: null, errorCode: null, method: null, route: null, idempotencyKey: null, attemptId: null };
const cleanup = new AsyncDisposableStack();
let database: Database;
let lines: { readonly level: string; readonly reason?: string; readonly lines?: number }[];
const logger = createLogger({
  service: 'gateway',
  level: 'info',
  destination: { write: (text: string) => lines.push(JSON.parse(text)) },
});
let programId: string;

beforeAll(async () => {
  const { runningUrl: url } = cleanup.use(
    await createTestDatabase({ migrations: new URL('../../migrations/', import.meta.url) }),
  );
  database = cleanup.use(createDatabase({ url, maxConnections: 4, applicationName: 'request-log-test' }));
});
afterAll(() => cleanup.disposeAsync());
beforeEach(() => {
  lines = [];
  programId = newId();
});

function ended(overrides: Partial<EndedRequest> = {}): EndedRequest {
  return {
    requestId: newId(),
    principal: {
      apiKeyId: newId(),
      programId,
      environment: 'test',
      windowId: newId(),
      tenant: { programId, environment: 1 },
    },
    method: 'POST',
    url: '/v1/players',
    route: '/v1/players',
    pattern: '/players',
    status: 201,
    errorCode: undefined,
    durationMs: 7.249,
    idempotencyKey: 'ann@b.example',
    isReplayed: false,
    userAgent: undefined,
    requestBody: Buffer.from('{"player_ref":"ann","email":"ann@b.example"}'),
    responseBody: '{"player_ref":"ann"}',
    ...overrides,
  };
}
const dropped = async (reason: string) => {
  const text = await metrics.metrics();
  return Number(new RegExp(`^laurel_request_log_dropped_total\\{reason="${reason}"\\} (\\d+)`, 'm').exec(text)?.[1]);
};

test('requests are written redacted and in batches', async () => {
  const request = ended();
  const limited = ended({ route: 'unknown', pattern: '/attempts/:attempt_id', status: 429, requestBody: undefined });
  {
    await using log = startRequestLog({ database, logger });
    log.add(request);
    for (let n = 0; n < 349; n += 1) log.add(ended());
    log.add(limited);
  }
  const { lines: written } = await listNewestRequests(database, { programId, environment: 'test' }, ANY, 1_000);
  expect(written).toHaveLength(351);
  expect(await findRequest(database, { requestId: limited.requestId, programId })).toMatchObject({
    route: '/v1/attempts/{attempt_id}',
    status: 429,
    requestBody: null,
  });
  expect(await findRequest(database, { requestId: request.requestId, programId })).toMatchObject({
    at: new Date(Number.parseInt(request.requestId.replace('-', '').slice(0, 12), 16)),
    durationMs: 7.2,
    idempotencyKey: '[redacted]',
    requestBody: '{"player_ref":"ann","email":"[redacted]"}',
    responseBody: '{"player_ref":"ann"}',
  });
  const firsts = await firstRequests(database, { programId, environment: 'test' });
  expect(firsts).toMatchObject({ key_used: expect.any(Date), player_linked: expect.any(Date), attempt_created: null });
  expect(lines).toEqual([]);
});

test('a program beyond its rate limit adds one line a second', async () => {
  const before = await dropped('limited');
  const request = ended();
  {
    await using log = startRequestLog({ database, logger });
    for (let n = 0; n < 200; n += 1) log.add({ ...request, requestId: newId(), status: 429 });
    log.add(ended());
  }
  const limited = { ...ANY, statusClass: 4 };
  const { lines: kept } = await listNewestRequests(database, { programId, environment: 'test' }, limited, 1_000);
  // A second may end between two of the lines.
  expect(kept.length).toBeLessThanOrEqual(2);
  expect((await dropped('limited')) - before).toBe(200 - kept.length);
});

test('a program beyond its bytes per second is logged without bodies', async () => {
  const text = JSON.stringify({ note: 'x'.repeat(10_000) });
  const big = { principal: { ...ended().principal, windowId: newId() }, requestBody: Buffer.from(text) };
  const requests = Array.from({ length: 20 }, () => ended(big));
  const other = ended({ requestBody: Buffer.from(text) });
  {
    await using log = startRequestLog({ database, logger });
    for (const request of [...requests, other]) log.add(request);
  }
  const found = await Promise.all(requests.map(({ requestId }) => findRequest(database, { requestId, programId })));
  const kept = found.filter((line) => line?.requestBody === text);
  // The budget allows the bytes of two seconds at once, and more if the machine takes long.
  expect(kept.length).toBeGreaterThanOrEqual(3);
  expect(kept.length).toBeLessThan(10);
  const cut = { requestBody: '', isRequestBodyTruncated: true, responseBody: '', isResponseBodyTruncated: true };
  for (const line of found) if (!kept.includes(line)) expect(line).toMatchObject({ status: 201, ...cut });
  expect(await findRequest(database, { requestId: other.requestId, programId })).toMatchObject({ requestBody: text });
});

test('the path and headers of a request are bounded, and the path counts towards the bytes per second', async () => {
  const url = `/v1/challenges?player_ref=${'p'.repeat(60_000)}`;
  const long = { principal: { ...ended().principal, windowId: newId() }, method: 'GET', url, requestBody: undefined };
  const requests = Array.from({ length: 100 }, () => ended({ ...long, userAgent: 'u'.repeat(60_000) }));
  {
    await using log = startRequestLog({ database, logger });
    for (const request of requests) log.add(request);
  }
  const found = await Promise.all(requests.map(({ requestId }) => findRequest(database, { requestId, programId })));
  for (const line of found) expect(line?.userAgent).toBe('u'.repeat(255));
  const whole = found.filter((line) => line?.path.length === 2_048);
  expect(whole.length).toBeGreaterThan(0);
  expect(whole.length).toBeLessThan(60);
  for (const line of found) if (!whole.includes(line)) expect(line?.path).toBe('/v1/challenges');
});

test('the log counts each line that it drops while the database is unreachable', async () => {
  await using lost = createDatabase({
    url: `postgresql://nobody@${UNREACHABLE}/none`,
    maxConnections: 2,
    applicationName: 'request-log-test',
  });
  const before = await dropped('database');
  {
    await using log = startRequestLog({ database: lost, logger });
    for (let n = 0; n < 600; n += 1) log.add(ended());
  }
  expect((await dropped('database')) - before).toBe(600);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({ reason: 'database', lines: 250 });
});

test('a full queue drops only the lines that do not fit', async () => {
  const before = await dropped('full');
  {
    await using log = startRequestLog({ database, logger });
    for (let n = 0; n < 5_350; n += 1) log.add(ended());
  }
  // The first batch has left the queue.
  expect((await dropped('full')) - before).toBe(100);
  const scope = { programId, environment: 'test' } as const;
  expect((await listNewestRequests(database, scope, ANY, 10_000)).lines).toHaveLength(5_250);

  // The queue takes 16 MiB of texts; the first batch has left it. A program may keep two bodies of
  // this size at once.
  const body = Buffer.alloc(16 * 1024 - '/v1/players'.length - '[redacted]'.length, ' ');
  {
    await using log = startRequestLog({ database, logger });
    for (let n = 0; n < 250 + 1_024 + 1; n += 1) {
      const { principal } = ended();
      log.add(ended({ principal: { ...principal, windowId: newId() }, requestBody: body, responseBody: undefined }));
    }
  }
  expect((await dropped('full')) - before).toBe(101);
  expect(lines.map(({ reason }) => reason)).toEqual(['full', 'full']);
});
