/**
 * The challenge service is scripted. The tests check which calls it gets, and how its results are
 * shown and replayed.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { refused } from '@laurel/errors';
import { ChallengeServiceService } from '@laurel/proto/challenge';
import { Environment } from '@laurel/proto/common';
import { createLogger, parseConfig } from '@laurel/service';
import { createTestDatabase } from '@laurel/testing';
import { newId } from '@laurel/values/ids';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ScriptedService, startScriptedService } from '../../clients/scripted-service.fixture.ts';
import { gatewayConfigSchema } from '../../config.ts';
import { fetchDescribed } from '../../described-answer.fixture.ts';
import { startGateway } from '../../server.ts';

const UNREACHABLE = '127.0.0.1:1';
const OPERATOR_TOKEN = 'operator-token-of-this-very-test-';
const CHALLENGE_ID = newId();
const DISTRIBUTION = { p5: 61.6, p25: 68, p50: 74.2, p75: 82.5, p95: 97.1 };
const BODY = { distribution: DISTRIBUTION, sample_size: 12400 };
const SEEDED = {
  challengeId: CHALLENGE_ID,
  threshold: 66.4,
  targetPassRate: 0.2,
  sampleSize: 12400n,
  repeated: false,
};
const SHOWN = {
  challenge_id: CHALLENGE_ID,
  threshold: 66.4,
  target_pass_rate: 0.2,
  sample_size: 12400,
  calibration_source: 'partner_seeded',
  provisional: true,
  note: expect.stringMatching(/provisional/),
};
const INVALID = [400, 'invalid_request'];

const stack = new AsyncDisposableStack();
let challenge: ScriptedService<typeof ChallengeServiceService>;
let ports: number[];
let key: string;
let programId: string;

beforeAll(async () => {
  challenge = stack.use(await startScriptedService(ChallengeServiceService));
  const { runningUrl } = stack.use(
    await createTestDatabase({ migrations: new URL('../../../migrations/', import.meta.url) }),
  );
  const pepper = randomBytes(32).toString('base64');
  const start = async (challengeAddress: string) => {
    const config = parseConfig(gatewayConfigSchema, {
      LOG_LEVEL: 'silent',
      HTTP_PORT: '0',
      GATEWAY_DATABASE_URL: runningUrl,
      WALLET_ADDRESS: UNREACHABLE,
      CHALLENGE_ADDRESS: challengeAddress,
      TOURNAMENT_ADDRESS: UNREACHABLE,
      WEBHOOK_ADDRESS: UNREACHABLE,
      INTEGRATION_ADDRESS: UNREACHABLE,
      OPERATOR_TOKEN,
      KEY_PEPPER: pepper,
      RATE_LIMIT_PER_MINUTE: '100000',
    });
    return stack.use(await startGateway(config, createLogger({ service: 'gateway', level: 'silent' }))).port;
  };
  ports = [await start(challenge.address), await start(UNREACHABLE)];
  const authorization = `Bearer ${OPERATOR_TOKEN}`;
  const made = await send('/api/operator/programs', { authorization }, { name: 'Arcade' });
  programId = made.body.id;
  key = made.body.test_key;
}, 60_000);
afterAll(() => stack.disposeAsync());
beforeEach(() => {
  challenge.script = { seedChallenge: async () => SEEDED };
  challenge.asked.length = 0;
});

async function send(path: string, headers: Record<string, string>, body: unknown, replica = 0) {
  return fetchDescribed(ports[replica] ?? 0, path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}
const seed = (body: unknown, { id = CHALLENGE_ID, idempotencyKey = randomUUID() as string, replica = 0 } = {}) =>
  send(
    `/v1/challenges/${id}/distribution`,
    { 'x-api-key': key, ...(idempotencyKey !== '' && { 'idempotency-key': idempotencyKey }) },
    body,
    replica,
  );
const codeOf = ({ status, body }: Awaited<ReturnType<typeof send>>) => [status, body.error?.code];

test('a distribution reaches the challenge service with its operation and its key', async () => {
  const seeded = await seed({ ...BODY, other: 1 }, { id: CHALLENGE_ID.toUpperCase() });
  expect([seeded.status, seeded.body]).toEqual([201, SHOWN]);
  expect(Object.keys(seeded.body)).toEqual(Object.keys(SHOWN));
  expect(seeded.headers.has('idempotency-replayed')).toBe(false);
  expect(challenge.asked).toEqual([
    [
      'seedChallenge',
      {
        operationId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        tenant: { programId, environment: Environment.TEST },
        challengeId: CHALLENGE_ID,
        distribution: DISTRIBUTION,
        sampleSize: 12400n,
        keyUse: {
          keyId: expect.stringMatching(/^[0-9a-f-]{36}$/),
          fingerprint: expect.objectContaining({ length: 32 }),
          isFirst: true,
          usedAt: expect.any(Date),
        },
      },
    ],
  ]);
});

test('a distribution may have negative, tiny and huge percentiles', async () => {
  const distribution = { p5: -1e300, p25: -0.5, p50: 0, p75: 5e-324, p95: 1e300 };
  challenge.script.seedChallenge = async () => ({ ...SEEDED, sampleSize: 500n });
  const seeded = await seed({ distribution, sample_size: 500 });
  expect([seeded.status, seeded.body]).toEqual([201, { ...SHOWN, sample_size: 500 }]);
  expect(challenge.asked).toMatchObject([['seedChallenge', { distribution, sampleSize: 500n }]]);
});

test('an invalid distribution is 400 and leaves its idempotency key free', async () => {
  const withPercentile = (change: object) => ({ ...BODY, distribution: { ...DISTRIBUTION, ...change } });
  const withoutPercentile = (name: string) => {
    const { [name]: _left, ...distribution } = DISTRIBUTION as Record<string, number>;
    return { ...BODY, distribution };
  };
  const raw = (p5: string, size = '12400') =>
    `{"distribution":{"p5":${p5},"p25":68,"p50":74.2,"p75":82.5,"p95":97.1},"sample_size":${size}}`;
  const idempotencyKey = randomUUID();
  for (const body of [
    {},
    [],
    '',
    '{',
    { sample_size: 500 },
    { distribution: DISTRIBUTION },
    { ...BODY, distribution: null },
    { ...BODY, distribution: [1, 2, 3, 4, 5] },
    { ...BODY, distribution: {} },
    ...Object.keys(DISTRIBUTION).map(withoutPercentile),
    withPercentile({ p5: '61.6' }),
    withPercentile({ p25: null }),
    withPercentile({ p50: true }),
    withPercentile({ p75: [82.5] }),
    // These percentiles are equal or descending, or are equal as doubles although their digits
    // ascend.
    withPercentile({ p5: 68 }),
    withPercentile({ p95: 82 }),
    withPercentile({ p5: 70, p25: 60 }),
    raw('67.9999999999999999999'),
    raw('NaN'),
    raw('Infinity'),
    raw('-Infinity'),
    raw('-1e309'),
    raw('61.6,"p5":61.7'),
    raw('61.6', '499'),
    raw('61.6', '500.5'),
    raw('61.6', '"500"'),
    raw('61.6', 'null'),
    raw('61.6', '-500'),
    raw('61.6', '9007199254740993'),
    raw('61.6', '1e400'),
  ]) {
    expect(codeOf(await seed(body, { idempotencyKey })), JSON.stringify(body)).toEqual(INVALID);
  }
  expect(challenge.asked).toEqual([]);
  expect((await seed(BODY, { idempotencyKey })).status).toBe(201);
});

test('a distribution needs an idempotency key of 1 to 255 characters', async () => {
  for (const [body, id] of [
    [BODY, CHALLENGE_ID],
    [BODY, 'nonsense'],
    [{}, CHALLENGE_ID],
  ] as const) {
    for (const idempotencyKey of ['', 'k'.repeat(256)]) {
      const answer = await seed(body, { id, idempotencyKey });
      expect(codeOf(answer)).toEqual(INVALID);
      expect(answer.body.error.message).toMatch(/Idempotency-Key/);
    }
  }
  const path = `/v1/challenges/${CHALLENGE_ID}/distribution`;
  expect(codeOf(await send(path, { 'x-api-key': key, 'idempotency-key': '' }, BODY))).toEqual(INVALID);
  expect((await seed(BODY, { idempotencyKey: 'k'.repeat(255) })).status).toBe(201);
  for (const body of [BODY, '{']) expect(codeOf(await send(path, {}, body))).toEqual([401, 'unauthorized']);
});

test('a malformed challenge id is 400 and reaches no service', async () => {
  for (const id of ['nonsense', '%20', `${CHALLENGE_ID}0`]) expect(codeOf(await seed(BODY, { id }))).toEqual(INVALID);
  expect(challenge.asked).toEqual([]);
});

test('a refusal of the challenge service is passed on with its message and frees the key', async () => {
  const idempotencyKey = randomUUID();
  const message = 'The challenge is not calibrating.';
  challenge.script.seedChallenge = async () => refused('invalid_request', message);
  const answer = await seed(BODY, { idempotencyKey });
  expect([answer.status, answer.body]).toEqual([400, { error: { code: 'invalid_request', message } }]);
  challenge.script.seedChallenge = async () => refused('idempotency_key_reused');
  expect(codeOf(await seed(BODY, { idempotencyKey }))).toEqual([409, 'idempotency_key_reused']);
  challenge.script.seedChallenge = async () => SEEDED;
  expect((await seed(BODY, { idempotencyKey })).status).toBe(201);
});

test('a repeated distribution is replayed byte for byte without a call', async () => {
  const idempotencyKey = randomUUID();
  const first = await seed(BODY, { idempotencyKey });
  // The same request, written differently.
  const again = await seed(
    '{ "sample_size": 1.24e4, "distribution": {"p95":97.10,"p75":82.5,"p50":74.2,"p25":68.0,"p5":61.6} }',
    { idempotencyKey, id: CHALLENGE_ID.toUpperCase() },
  );
  expect([again.status, again.text]).toEqual([201, first.text]);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  for (const other of [
    await seed({ ...BODY, sample_size: 12401 }, { idempotencyKey }),
    await seed(BODY, { idempotencyKey, id: newId() }),
    await seed(BODY, { idempotencyKey, id: 'nonsense' }),
  ]) {
    expect(codeOf(other)).toEqual([409, 'idempotency_key_reused']);
  }
  // A request that is invalid on its own is refused before its idempotency key is looked up.
  for (const id of [CHALLENGE_ID, 'nonsense']) {
    expect(codeOf(await seed({}, { idempotencyKey, id }))).toEqual(INVALID);
  }
  expect((await seed(BODY, { idempotencyKey })).text).toBe(first.text);
  expect(challenge.asked).toHaveLength(1);
});

test('a repetition that the challenge service recognises gets the response of a replay', async () => {
  const first = await seed(BODY);
  challenge.script.seedChallenge = async () => ({ ...SEEDED, repeated: true });
  const found = await seed(BODY);
  expect([found.status, found.text]).toEqual([201, first.text]);
  expect(found.headers.get('idempotency-replayed')).toBe('true');
});

test('a distribution is 409 while the first request with its key is in flight', async () => {
  const idempotencyKey = randomUUID();
  const began = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  challenge.script.seedChallenge = async () => {
    began.resolve();
    await answered.promise;
    return SEEDED;
  };
  const first = seed(BODY, { idempotencyKey });
  await began.promise;
  const meanwhile = await seed(BODY, { idempotencyKey });
  expect(codeOf(meanwhile)).toEqual([409, 'idempotency_in_progress']);
  expect(Number(meanwhile.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  answered.resolve();
  expect((await first).status).toBe(201);
  const replayed = await seed(BODY, { idempotencyKey });
  expect([replayed.status, replayed.text]).toEqual([201, (await first).text]);
  expect(replayed.headers.get('idempotency-replayed')).toBe('true');
});

test('a retry after a failure of the challenge service runs the same operation', async () => {
  const idempotencyKey = randomUUID();
  const failed = await seed(BODY, { idempotencyKey, replica: 1 });
  expect(codeOf(failed)).toEqual([500, 'internal_error']);
  expect(failed.text).not.toMatch(/UNAVAILABLE|ECONNREFUSED|grpc/i);
  challenge.script.seedChallenge = async () => {
    throw new Error('its database is down');
  };
  expect(codeOf(await seed(BODY, { idempotencyKey }))).toEqual([500, 'internal_error']);
  challenge.script.seedChallenge = async () => SEEDED;
  expect((await seed(BODY, { idempotencyKey })).status).toBe(201);
  const [one, two] = challenge.asked.map(
    ([, request]) => request as { operationId: string; keyUse: { isFirst: boolean } },
  );
  expect(two?.operationId).toBe(one?.operationId);
  expect(two?.keyUse.isFirst).toBe(false);
});
