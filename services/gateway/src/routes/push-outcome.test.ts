/**
 * The integration service is scripted. The tests check which bytes it gets, how its results are
 * answered, and what never reaches it.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { AwardStatus } from '@laurel/proto/attempts';
import { Environment } from '@laurel/proto/common';
import { type Push, type PushResult, RecordStatus } from '@laurel/proto/integration';
import { createLogger, parseConfig } from '@laurel/service';
import { metrics } from '@laurel/telemetry';
import { createTestDatabase } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type ScriptedIntegration, startScriptedIntegration } from '../clients/integration.fixture.ts';
import { gatewayConfigSchema } from '../config.ts';
import { SECURITY_HEADERS } from '../http/security-headers.ts';
import { presentOutcome } from '../presenters/attempt.ts';
import { startGateway } from '../server.ts';

const UNREACHABLE = '127.0.0.1:1';
const OPERATOR_TOKEN = 'operator-token-of-this-very-test-';
const KIB = 1024;
const AT = new Date('2026-11-21T12:00:00.000Z');
const PER_INTEGRATION = 200;
/**
 * How many pushes a minute an address that has not sent a valid signature may send to an
 * integration.
 */
const PER_OTHER_ADDRESS = 20;
/**
 * An address that has not sent a valid signature may send a quarter of this per second to one
 * integration, and the bytes of two seconds in one burst.
 */
const UNKNOWN_KIB_PER_SECOND = 8_192;
const stack = new AsyncDisposableStack();
let integration: ScriptedIntegration;
let port: number;
let pushed: Push[] = [];
/** What the service reports of a push with a valid signature. */
let owner: Pick<PushResult, 'tenant' | 'extraCostBytes'>;
let answer: (push: Push) => PushResult['result'] | Promise<PushResult['result']>;

const UNAUTHORIZED: PushResult['result'] = {
  $case: 'refused',
  value: { code: 'unauthorized', message: 'of the service' },
};
const IGNORED: PushResult['result'] = {
  $case: 'batch',
  value: { records: [{ index: 0, attemptId: '', status: RecordStatus.IGNORED, code: '', message: '' }] },
};

beforeAll(async () => {
  integration = stack.use(await startScriptedIntegration());
  integration.script.receivePushes = async ({ pushes }) => {
    pushed.push(...pushes);
    return { results: await Promise.all(pushes.map(async (push) => ({ ...owner, result: await answer(push) }))) };
  };
  const { runningUrl } = stack.use(
    await createTestDatabase({ migrations: new URL('../../migrations/', import.meta.url) }),
  );
  const config = parseConfig(gatewayConfigSchema, {
    LOG_LEVEL: 'silent',
    HTTP_PORT: '0',
    GATEWAY_DATABASE_URL: runningUrl,
    WALLET_ADDRESS: UNREACHABLE,
    CHALLENGE_ADDRESS: UNREACHABLE,
    TOURNAMENT_ADDRESS: UNREACHABLE,
    WEBHOOK_ADDRESS: UNREACHABLE,
    INTEGRATION_ADDRESS: integration.address,
    OPERATOR_TOKEN,
    KEY_PEPPER: randomBytes(32).toString('base64'),
    PUSH_RATE_LIMIT_PER_MINUTE: String(PER_INTEGRATION),
    PUSH_UNKNOWN_KIB_PER_SECOND: String(UNKNOWN_KIB_PER_SECOND),
  });
  ({ port } = stack.use(await startGateway(config, createLogger({ service: 'gateway', level: 'silent' }))));
}, 60_000);
afterAll(() => stack.disposeAsync());
beforeEach(() => {
  pushed = [];
  owner = { tenant: undefined, extraCostBytes: 0n };
  answer = () => IGNORED;
});

interface Sent {
  /** The client's address: 127.0.0.x. */
  readonly from?: string;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string | Buffer;
  readonly method?: string;
}

const pathOf = (id: string) => `/webhooks/integrations/${id}/outcome`;

/** Raw headers, which no client library joins or repairs. */
async function push(path: string, { from = '127.0.0.1', headers = {}, body = '{}', method = 'POST' }: Sent = {}) {
  const options = { host: '127.0.0.1', localAddress: from, port, method, path, headers, agent: false };
  const request = httpRequest(options);
  request.on('error', () => {});
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  return { status: response.statusCode, headers: response.headers, text, body: JSON.parse(text) };
}

describe('a pushed body', () => {
  test('a push reaches the integration service byte for byte, whatever its content type', async () => {
    const id = newId();
    const body = randomBytes(2 * KIB);
    for (const contentType of ['application/json', 'text/plain; charset=latin1', 'application/x-www-form-urlencoded']) {
      const headers = { 'content-type': contentType, 'x-service-signature': 'sha256=ABC' };
      expect((await push(pathOf(id.toUpperCase()), { headers, body })).status).toBe(200);
    }
    expect((await push(pathOf(id), { body })).status).toBe(200);
    expect(pushed).toHaveLength(4);
    for (const [index, one] of pushed.entries()) {
      expect(one).toMatchObject({ integrationId: id, signature: index < 3 ? 'sha256=ABC' : '' });
      expect(Buffer.compare(one.body, body)).toBe(0);
    }
    expect(new Set(pushed.map(({ requestId }) => requestId)).size).toBe(4);
  });

  test('a signature that is sent twice counts as missing', async () => {
    await push(pathOf(newId()), { headers: { 'x-service-signature': ['sha256=a', 'sha256=a'] } });
    await push(pathOf('%ZZ'), { body: '' });
    await push(pathOf('nonsense'));
    expect(pushed.map(({ integrationId, signature, body }) => [integrationId, signature, String(body)])).toEqual([
      [expect.stringMatching(/.{36}/), '', '{}'],
      ['', '', ''],
      ['', '', '{}'],
    ]);
  });

  test('a body above 256 KiB is refused without a call', async () => {
    const id = newId();
    expect((await push(pathOf(id), { body: Buffer.alloc(256 * KIB, ' ') })).status).toBe(200);
    const chunked = { 'transfer-encoding': 'chunked' };
    for (const sent of [
      { body: Buffer.alloc(256 * KIB + 1, ' ') },
      { body: Buffer.alloc(256 * KIB + 1, ' '), headers: chunked },
      { body: gzipSync('{}'), headers: { 'content-encoding': 'gzip' } },
    ]) {
      const refusal = await push(pathOf(id), sent);
      expect([refusal.status, refusal.body.error.code]).toEqual([400, 'invalid_request']);
    }
    expect(pushed).toHaveLength(1);
  });

  test('only POST on exactly this path is served', async () => {
    const id = newId();
    for (const [method, path] of [
      ['GET', pathOf(id)],
      ['PUT', pathOf(id)],
      ['POST', `${pathOf(id)}/`],
      ['POST', `/webhooks/integrations/${id}`],
      ['POST', `/Webhooks/integrations/${id}/outcome`],
      ['POST', '/webhooks/integrations//outcome'],
    ] as const) {
      const refusal = await push(path, { method, body: '' });
      expect([refusal.status, refusal.body.error.code], `${method} ${path}`).toEqual([404, 'not_found']);
    }
    expect(pushed).toEqual([]);
  });
});

describe('the answer to a push', () => {
  const settled = {
    attemptId: newId(),
    score: 58.214,
    metThreshold: true,
    thresholdApplied: 59.8,
    recordedAt: AT,
    receiptId: newId(),
  };

  test('the response to a single pushed record equals the response of /v1 to the same report', async () => {
    const award = { id: newId(), amountCents: 1_275n };
    for (const [record, ofV1] of [
      [
        { ...settled, award: { ...award, paidAt: AT } },
        { ...settled, award: { ...award, paidAt: AT, status: AwardStatus.PAID } },
      ],
      [
        { ...settled, award: { ...award, paidAt: undefined } },
        { ...settled, award: { ...award, paidAt: undefined, status: AwardStatus.HELD } },
      ],
      [
        { ...settled, metThreshold: false, thresholdApplied: undefined, award: undefined },
        { ...settled, metThreshold: false, thresholdApplied: undefined, award: undefined },
      ],
    ] as const) {
      for (const repeated of [false, true]) {
        answer = () => ({ $case: 'settled', value: { ...record, repeated } });
        const { status, text } = await push(pathOf(newId()));
        expect([status, text]).toEqual([200, presentOutcome(ofV1)]);
      }
    }
  });

  test('the response to several records shows the result of each', async () => {
    const attemptId = newId();
    const records = [
      { index: 0, attemptId, status: RecordStatus.SETTLED, code: '', message: '' },
      { index: 1, attemptId, status: RecordStatus.DUPLICATE, code: '', message: '' },
      { index: 2, attemptId: '', status: RecordStatus.REJECTED, code: 'not_found', message: 'for the log alone' },
      { index: 3, attemptId: '', status: RecordStatus.LISTENED, code: '', message: '' },
      { index: 4, attemptId: '', status: RecordStatus.IGNORED, code: '', message: '' },
    ];
    answer = () => ({ $case: 'batch', value: { records } });
    expect((await push(pathOf(newId()))).body).toEqual({
      results: [
        { index: 0, attempt_id: attemptId, status: 'settled' },
        { index: 1, attempt_id: attemptId, status: 'duplicate' },
        { index: 2, attempt_id: null, status: 'rejected', code: 'not_found' },
        { index: 3, attempt_id: null, status: 'listened' },
        { index: 4, attempt_id: null, status: 'ignored' },
      ],
    });
    answer = () => ({ $case: 'batch', value: { records: [] } });
    expect((await push(pathOf(newId()))).body).toEqual({ results: [] });
  });

  test.each([
    ['invalid_request', 400],
    ['not_found', 404],
    ['attempt_already_settled', 409],
    ['round_closed', 409],
    ['score_out_of_range', 422],
    ['tiebreak_required', 422],
  ])('the refusal %s answers %i in the envelope', async (code, status) => {
    answer = () => ({ $case: 'refused', value: { code, message: 'Why.' } });
    const refusal = await push(pathOf(newId()));
    expect([refusal.status, refusal.body]).toEqual([status, { error: { code, message: 'Why.' } }]);
  });

  test('every 401 has the same response, byte for byte except its request id', async () => {
    answer = () => UNAUTHORIZED;
    const answers = [
      await push(pathOf(newId()), { headers: { 'x-service-signature': `sha256=${'0'.repeat(64)}` } }),
      await push(pathOf('nonsense')),
      await push(pathOf(newId()), { body: '' }),
    ];
    for (const { status, text, headers } of answers) {
      const { 'x-request-id': requestId, date: _date, ...others } = headers;
      const { 'x-request-id': _id, date: _first, ...ofFirst } = answers[0]?.headers ?? {};
      expect([status, text, others]).toEqual([401, answers[0]?.text, ofFirst]);
      expect(requestId).toMatch(/.{36}/);
    }
    expect(answers[0]?.body).toEqual({
      error: { code: 'unauthorized', message: 'The signature is missing or not valid.' },
    });
  });

  test('a failure of the integration service is answered with a 500 that reveals nothing', async () => {
    for (const result of [
      { $case: 'failure', value: { message: 'connect ECONNREFUSED' } },
      { $case: 'refused', value: { code: 'nope', message: 'x' } },
      undefined,
    ] as const) {
      answer = () => result;
      const failure = await push(pathOf(newId()));
      expect([failure.status, failure.body.error.code]).toEqual([500, 'internal_error']);
      expect(failure.text).not.toContain('ECONNREFUSED');
    }
  });

  test('every response has the security headers and no rate headers', async () => {
    const { headers } = await push(pathOf(newId()));
    for (const [name, value] of Object.entries(SECURITY_HEADERS))
      expect(headers[name.toLowerCase()]).toBe(String(value));
    expect(headers['x-request-id']).toMatch(/.{36}/);
    expect(Object.keys(headers).filter((name) => name.startsWith('x-ratelimit'))).toEqual([]);
  });
});

describe('the limits of pushes', () => {
  const minuteNow = () => Math.floor(Date.now() / 60_000);
  /** `count` pushes from one address, at most 50 at a time. */
  async function pushOften(id: string, count: number, from = '127.0.0.1') {
    const statuses: (number | undefined)[] = [];
    for (let sent = 0; sent < count; sent += 50) {
      const batch = Array.from({ length: Math.min(50, count - sent) }, () => push(pathOf(id), { from }));
      statuses.push(...(await Promise.all(batch)).map(({ status }) => status));
    }
    return statuses;
  }

  /**
   * Sends a new integration as many pushes as it may get in a minute, from the only address that
   * has signed a push to it. Starts over with another integration until all pushes fall into one
   * minute, because the next minute starts a new count.
   */
  async function exhaust(): Promise<string> {
    for (;;) {
      const id = newId();
      answer = () => IGNORED;
      await push(pathOf(id));
      answer = () => UNAUTHORIZED;
      const minute = minuteNow();
      pushed = [];
      const statuses = await pushOften(id, PER_INTEGRATION);
      const last = await push(pathOf(id));
      if (minuteNow() !== minute) continue;
      expect(statuses).toEqual(statuses.map(() => 401));
      expect(pushed).toHaveLength(PER_INTEGRATION);
      expect([last.status, last.body]).toEqual([
        429,
        {
          error: 'Too many requests.',
          retry_after: Number(last.headers['retry-after']),
          limit: PER_INTEGRATION,
          reset_at: new Date((minute + 1) * 60_000).toISOString(),
        },
      ]);
      return id;
    }
  }

  test('an integration beyond its limit per minute is 429 before any secret is compared', async () => {
    answer = () => UNAUTHORIZED;
    await exhaust();
    expect((await push(pathOf(newId()))).status).toBe(401);
    expect(pushed).toHaveLength(PER_INTEGRATION + 1);
  });

  test('an integration beyond its limit per minute is 429 before its body is sent', async () => {
    answer = () => UNAUTHORIZED;
    const headers = { 'content-length': 256 * KIB };
    for (;;) {
      const path = pathOf(await exhaust());
      const minute = minuteNow();
      const request = httpRequest({ port, method: 'POST', path, headers, agent: false });
      request.on('error', () => {});
      request.flushHeaders();
      const [limited] = (await once(request, 'response')) as [IncomingMessage];
      request.destroy();
      if (minuteNow() !== minute) continue;
      expect(limited.statusCode).toBe(429);
      return;
    }
  });

  /**
   * Opens one connection. It reads every response when it arrives, and counts the bytes that the
   * gateway takes.
   */
  function connectRaw() {
    const socket = connect({ port });
    socket.on('error', () => {});
    const closed = new Promise((resolve) => socket.once('close', resolve));
    let text = '';
    let taken = 0;
    socket.setEncoding('latin1').on('data', (chunk) => {
      text += chunk;
    });
    const send = (chunk: string | Buffer) =>
      socket.write(chunk, (error) => {
        if (!error) taken += chunk.length;
      });
    const answers = async (count: number) => {
      while (text.split('HTTP/1.1 ').length <= count) await once(socket, 'data');
      return text
        .split('HTTP/1.1 ')
        .slice(1)
        .map((answer) => [answer.slice(0, 3), /^connection: close/im.test(answer)]);
    };
    return { send, answers, closed, taken: () => taken };
  }
  const headOf = (path: string, bytes: number, others = '') =>
    `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${bytes}\r\n${others}\r\n`;
  const MIB = Buffer.alloc(KIB * KIB, ' ');

  test('a refused push with a large body closes its connection', async () => {
    for (;;) {
      const path = pathOf(await exhaust());
      const minute = minuteNow();
      const { send, answers, closed, taken } = connectRaw();
      for (let count = 0; count < 3; count += 1) {
        send(`${headOf(path, 2)}{}`);
        await answers(count + 1);
      }
      send(headOf(path, 256 * MIB.length));
      for (let count = 0; count < 128; count += 1) send(MIB);
      const statuses = await answers(4);
      await closed;
      if (minuteNow() !== minute) continue;
      expect(statuses).toEqual([...Array(3).fill(['429', false]), ['429', true]]);
      // No more bytes than the buffers of the two sockets can hold.
      expect(taken()).toBeLessThan(32 * MIB.length);
      return;
    }
  });

  test.each([
    ['too large', 256 * MIB.length, ''],
    ['compressed', 256 * MIB.length, 'content-encoding: gzip\r\n'],
  ])('a push whose body is %s is 400 before its body is read', async (_name, bytes, others) => {
    const { send, answers, closed, taken } = connectRaw();
    send(headOf(pathOf(newId()), bytes, others));
    for (let count = 0; count < 128; count += 1) send(MIB);
    expect(await answers(1)).toEqual([['400', true]]);
    await closed;
    expect(taken()).toBeLessThan(32 * MIB.length);
  });

  test.each([
    // Each case uses its own addresses, because the budget that one case uses up is not refilled
    // before the next.
    ['of 256 KiB', '127.0.4', { body: Buffer.alloc(256 * KIB, ' ') }],
    ['in chunks, which count as such', '127.0.5', { headers: { 'transfer-encoding': 'chunked' } }],
  ])('an unknown address is 429 after some bodies %s, until its bucket is refilled', async (_name, network, sent) => {
    const partner = newId();
    const flood = async (from: string) => {
      answer = () => IGNORED;
      await push(pathOf(partner), { from, ...sent });
      answer = () => UNAUTHORIZED;
      const [id, startedAt] = [newId(), performance.now()];
      const answers = await Promise.all(
        Array.from({ length: PER_OTHER_ADDRESS }, () => push(pathOf(id), { from, ...sent })),
      );
      return { from, answers, seconds: (performance.now() - startedAt) / 1_000 };
    };
    // On a machine that takes 0.7 s for the flood, the budget is refilled meanwhile. Then the flood
    // is repeated from another address.
    let last = await flood(`${network}.1`);
    for (let host = 2; host < 10 && last.seconds > 0.6; host += 1) last = await flood(`${network}.${host}`);
    const { from, answers, seconds } = last;
    const verified = answers.filter(({ status }) => status === 401).length;
    expect(verified).toBeGreaterThanOrEqual(Math.floor((UNKNOWN_KIB_PER_SECOND * 2) / 4 / 272));
    expect(verified).toBeLessThanOrEqual(((UNKNOWN_KIB_PER_SECOND / 4) * (2 + seconds)) / 272);
    const refused = answers.find(({ status }) => status === 429);
    const [refusedAt, resetAt] = [refused?.headers.date, refused?.body.reset_at].map((at) => Date.parse(at));
    expect(refused?.headers['retry-after']).toBe('1');
    expect(refused?.body).toMatchObject({ retry_after: 1, limit: (UNKNOWN_KIB_PER_SECOND * KIB) / 4 });
    expect((resetAt ?? 0) - (refusedAt ?? 0)).toBeLessThan(2_000);
    // The address's own integration, which has seen its valid signature, continues meanwhile.
    answer = () => IGNORED;
    expect((await push(pathOf(partner), { from, ...sent })).status).toBe(200);
  });

  test('a flood from an unknown address does not block the partner’s address', async () => {
    const partner = { from: '127.0.0.2', headers: { 'x-service-signature': 'sha256=valid' } };
    answer = ({ signature }) => (signature === '' ? UNAUTHORIZED : IGNORED);
    for (;;) {
      const id = newId();
      const minute = minuteNow();
      const alone = await pushOften(id, PER_OTHER_ADDRESS + 5, '127.0.0.3');
      const first = await push(pathOf(id), partner);
      const others: number[] = [];
      for (let address = 4; address < 20; address += 1) {
        const statuses = await pushOften(id, PER_OTHER_ADDRESS, `127.0.0.${address}`);
        others.push(statuses.filter((status) => status === 401).length);
      }
      const unsigned = await push(pathOf(id), { from: '127.0.0.20' });
      const served = (await Promise.all(Array.from({ length: 40 }, () => push(pathOf(id), partner)))).map(
        ({ status }) => status,
      );
      if (minuteNow() !== minute) continue;
      expect(alone).toEqual([...Array(PER_OTHER_ADDRESS).fill(401), ...Array(5).fill(429)]);
      expect(first.status).toBe(200);
      // The partner's first push counts together with the pushes of all addresses that have not
      // signed.
      const left = PER_INTEGRATION - PER_OTHER_ADDRESS - 1;
      expect(others.reduce((sum, count) => sum + count, 0)).toBe(left);
      expect([unsigned.status, unsigned.body.limit]).toEqual([429, PER_INTEGRATION]);
      expect(served).toEqual(Array(40).fill(200));
      return;
    }
  });

  test('a push with a valid signature makes its address known, even if its content is refused', async () => {
    const id = newId();
    answer = () => ({ $case: 'refused', value: { code: 'not_found', message: '' } });
    expect((await push(pathOf(id))).status).toBe(404);
    answer = () => UNAUTHORIZED;
    expect(await pushOften(id, PER_OTHER_ADDRESS + 5)).toEqual(Array(PER_OTHER_ADDRESS + 5).fill(401));
  });

  test('an unknown address may have 64 pushes under way, and a known address 96', async () => {
    const id = newId();
    const release = Promise.withResolvers<void>();
    await push(pathOf(id), { from: '127.0.0.31' });
    answer = async () => {
      await release.promise;
      return IGNORED;
    };
    const flood = Array.from({ length: 70 }, (_, index) =>
      push(pathOf(newId()), { from: '127.0.0.30', body: `${index}` }),
    );
    const limits: number[] = [];
    const refused = new Promise<void>((resolve) => {
      for (const one of flood) void one.then(({ body }) => limits.push(body.limit) === 6 && resolve());
    });
    await refused;
    expect(limits).toEqual(Array(6).fill(64));
    const partner = Array.from({ length: 96 }, () => push(pathOf(id), { from: '127.0.0.31' }));
    release.resolve();
    expect((await Promise.all(partner)).map(({ status }) => status)).toEqual(Array(96).fill(200));
    const statuses = (await Promise.all(flood)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(64);
  });

  test('too many pushes under way at one integration do not affect another integration', async () => {
    const [flooded, other] = [newId(), newId()];
    await push(pathOf(flooded));
    const release = Promise.withResolvers<void>();
    answer = async ({ integrationId }) => {
      if (integrationId === flooded) await release.promise;
      return IGNORED;
    };
    const flood = Array.from({ length: 120 }, () => push(pathOf(flooded)));
    const first = await Promise.any(flood);
    expect([first.status, first.body.limit, first.headers['retry-after']]).toEqual([429, 96, '1']);
    expect((await push('/v1/challenges', { method: 'GET', body: '' })).status).toBe(401);
    const another = push(pathOf(other));
    release.resolve();
    expect((await another).status).toBe(200);
    const statuses = (await Promise.all(flood)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(96);
    expect(statuses.filter((status) => status === 429)).toHaveLength(24);
  });
});

describe('the metrics of pushes', () => {
  async function failedIn(environment: 'live' | 'test' | 'none'): Promise<number> {
    const counts = (await metrics.metrics()).matchAll(
      new RegExp(
        `^laurel_http_request_duration_seconds_count\\{.*status="500",environment="${environment}".*\\} (\\d+)$`,
        'gm',
      ),
    );
    return [...counts].reduce((sum, [, value]) => sum + Number(value), 0);
  }

  test('a failed push counts in the integration’s environment once a signature has shown it', async () => {
    const [ofTest, ofLive, unknown] = [newId(), newId(), newId()];
    const tenant = { programId: newId(), environment: Environment.TEST };
    owner = { tenant, extraCostBytes: 0n };
    await push(pathOf(ofTest), { from: '127.0.0.33' });
    owner = { tenant: { ...tenant, environment: Environment.LIVE }, extraCostBytes: 0n };
    await push(pathOf(ofLive), { from: '127.0.0.33' });
    const before = await Promise.all((['live', 'test', 'none'] as const).map(failedIn));
    answer = () => {
      throw new Error('the database of the service is down');
    };
    const failed = [ofTest, ofTest, ofLive, unknown];
    for (const id of failed) expect((await push(pathOf(id), { from: '127.0.0.33' })).status).toBe(500);
    await expect
      .poll(() => Promise.all((['live', 'test', 'none'] as const).map(failedIn)))
      .toEqual([(before[0] ?? 0) + 1, (before[1] ?? 0) + 2, (before[2] ?? 0) + 1]);
  });
});

describe('the budget of a program', () => {
  const KIB_PER_SECOND = 1_024;

  test('a test push beyond the program’s bytes per second is 429, and a live push is not', async () => {
    const [ofTest, ofLive, tenantId] = [newId(), newId(), newId()];
    owner = { tenant: { programId: tenantId, environment: Environment.LIVE }, extraCostBytes: 0n };
    expect((await push(pathOf(ofLive), { from: '127.0.0.31' })).status).toBe(200);
    const extraCostBytes = BigInt(10 * KIB_PER_SECOND * KIB);
    owner = { tenant: { programId: tenantId, environment: Environment.TEST }, extraCostBytes };
    expect((await push(pathOf(ofTest), { from: '127.0.0.31' })).status).toBe(200);
    const refused = await push(pathOf(ofTest), { from: '127.0.0.31', body: Buffer.alloc(256 * KIB, ' ') });
    expect([refused.status, refused.body]).toEqual([
      429,
      {
        error: 'Too many requests.',
        retry_after: expect.any(Number),
        limit: KIB_PER_SECOND * KIB,
        reset_at: expect.any(String),
      },
    ]);
    expect(refused.body.retry_after).toBeGreaterThanOrEqual(7);
    expect((await push(pathOf(ofLive), { from: '127.0.0.31' })).status).toBe(200);
    expect(pushed.map(({ integrationId }) => integrationId)).toEqual([ofLive, ofTest, ofLive]);
  });

  test('a live push is answered while every lane of test pushes is busy', async () => {
    const [ofTest, ofLive] = [newId(), newId()];
    const from = '127.0.0.32';
    owner = { tenant: { programId: newId(), environment: Environment.LIVE }, extraCostBytes: 0n };
    expect((await push(pathOf(ofLive), { from })).status).toBe(200);
    owner = { tenant: { programId: newId(), environment: Environment.TEST }, extraCostBytes: 0n };
    expect((await push(pathOf(ofTest), { from })).status).toBe(200);
    const held = Promise.withResolvers<void>();
    answer = async ({ integrationId }) => {
      if (integrationId === ofTest) await held.promise;
      return IGNORED;
    };
    owner = { tenant: undefined, extraCostBytes: 0n };
    const flood = Array.from({ length: 30 }, () => push(pathOf(ofTest), { from }));
    await expect.poll(() => pushed.length).toBeGreaterThan(2);
    expect((await push(pathOf(ofLive), { from })).status).toBe(200);
    held.resolve();
    expect(new Set((await Promise.all(flood)).map(({ status }) => status))).toEqual(new Set([200]));
  });
});
