/**
 * Bodies and queries that the portal refuses without a call of the webhook service, which is
 * scripted.
 */
import { gzipSync } from 'node:zlib';
import { createDatabase, type Database } from '@laurel/postgres';
import { Environment } from '@laurel/proto/common';
import { type Endpoint, WebhookServiceService } from '@laurel/proto/webhook';
import {
  createHttpClient,
  createPortal,
  createTestDatabase,
  type Portal,
  type SendOptions,
  signIn,
} from '@laurel/testing';
import { openDocuments } from '@laurel/testing/contract';
import { newId } from '@laurel/values/ids';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ScriptedService, startScriptedService } from '../../clients/scripted-service.fixture.ts';
import { operatorOf, startTestGateway } from '../../gateway.fixture.ts';
import { ABSENT, raw, toJson } from '../../http/raw-json.fixture.ts';

type Fields = Record<string, unknown>;
type Case = readonly [what: string, fields: Fields];

function each(name: string, values: Readonly<Record<string, unknown>>): Case[] {
  return Object.entries(values).map(([what, value]) => [`${name}: ${what}`, { [name]: value }]);
}

const NOT_A_STRING = { 'a number': 5, 'a boolean': true, 'an array': ['a'], 'an object': { a: 1 } };
const BAD_TEXT = {
  ...NOT_A_STRING,
  NUL: raw('"https://127.0.0.1:9443/a\\u0000"'),
  'a lone high surrogate': raw('"https://127.0.0.1:9443/\\ud800"'),
  'a lone low surrogate': raw('"https://127.0.0.1:9443/\\udc00a"'),
  'no string at all': raw("'a'"),
};
const ENDPOINT: Endpoint = {
  id: newId(),
  url: 'https://partner.example/hooks',
  events: [],
  programId: undefined,
  environment: Environment.UNSPECIFIED,
  description: '',
  active: true,
  createdAt: new Date(),
};
const CREDENTIALS = { email: 'dev@example.com', password: 'correct horse battery' };
const PATH = `/webhook-endpoints/${ENDPOINT.id}`;

/** A valid body, for each route that takes one. */
interface Target {
  readonly method: string;
  readonly path: string;
  readonly good: Fields;
}
const CREATE: Target = { method: 'POST', path: '/webhook-endpoints', good: { url: ENDPOINT.url } };
const CHANGE: Target = { method: 'PATCH', path: PATH, good: { description: 'changed' } };
const SESSION: Target = { method: 'POST', path: '/session', good: CREDENTIALS };

const stack = new AsyncDisposableStack();
let webhook: ScriptedService<typeof WebhookServiceService>;
let database: Database;
let portal: Portal;
let programId: string;

beforeAll(async () => {
  webhook = stack.use(await startScriptedService(WebhookServiceService, { putProgram: () => ({}) }));
  const { url, runningUrl } = stack.use(
    await createTestDatabase({ migrations: new URL('../../../migrations/', import.meta.url) }),
  );
  database = stack.use(createDatabase({ url, maxConnections: 2, applicationName: 'bad-input-test' }));
  const { port } = stack.use(
    await startTestGateway({
      GATEWAY_DATABASE_URL: runningUrl,
      WEBHOOK_ADDRESS: webhook.address,
      PORTAL_RATE_LIMIT_PER_MINUTE: '100000',
    }),
  );
  const operate = operatorOf(port);
  const { id } = (await operate('POST', '/developers', CREDENTIALS)).body;
  programId = (await operate('POST', '/programs', { name: 'Arcade', developer_id: id })).body.id;
  const http = stack.use(createHttpClient({ baseUrl: `http://127.0.0.1:${port}`, onAnswer: openDocuments().check }));
  portal = createPortal(http, (await signIn(http, CREDENTIALS)).body.token);
}, 60_000);
afterAll(() => stack.disposeAsync());
beforeEach(() => {
  webhook.script = {};
  webhook.asked.length = 0;
});

/**
 * Expects that every request is refused, that the webhook service is not called, and that no
 * session starts.
 */
async function expectAllRefused(
  { method, path }: Target,
  cases: readonly (readonly [what: string, options: SendOptions])[],
): Promise<void> {
  expect(cases.length).toBeGreaterThan(0);
  const sessions = { text: 'select from sessions' };
  const before = (await database.query(sessions)).length;
  for (const [what, options] of cases) {
    const { status, code, text } = await portal.send(method, path, options);
    expect({ what, status, code }, text.slice(0, 300)).toEqual({ what, status: 400, code: 'invalid_request' });
  }
  expect(webhook.asked).toEqual([]);
  expect(await database.query(sessions)).toHaveLength(before);
}
const refuseFields = (target: Target, cases: readonly Case[]) =>
  expectAllRefused(
    target,
    cases.map(([what, fields]) => [what, { raw: toJson({ ...target.good, ...fields }) }]),
  );

// The webhook service decides which URLs are safe to call: libs/untrusted-url/src/url.test.ts.
const URL_CASES = each('url', {
  ...BAD_TEXT,
  null: null,
  empty: '',
  '2,049 characters': `https://partner.example/${'x'.repeat(2_049 - 'https://partner.example/'.length)}`,
});
const EVENT_CASES = each('events', {
  'a string': 'attempt.settled',
  'a number': 5,
  'a boolean': true,
  'an object': { 0: 'attempt.settled' },
  'a number within': [5],
  'null within': [null],
  'a list within': [['attempt.settled']],
  'an unknown name': ['attempt.created'],
  'an unknown name among others': ['attempt.settled', 'nonsense'],
  'another case': ['Attempt.Settled'],
  'an empty name': [''],
  'a wildcard': ['*'],
  'a name with a space': ['attempt.settled '],
  'a name with NUL': raw('["attempt.settled\\u0000"]'),
  '256 characters': ['a'.repeat(256)],
  'too many': Array.from({ length: 101 }, () => 'attempt.settled'),
  'a property of every object': ['constructor', '__proto__'],
});
const DESCRIPTION_CASES = each('description', {
  ...BAD_TEXT,
  '1,001 characters': 'x'.repeat(1_001),
  '1,001 characters of two units each': '🏆'.repeat(1_001),
});
const UNKNOWN_FIELDS: Case[] = [
  'id',
  'secret',
  'signing_secret',
  'developer_id',
  'developerId',
  'created_at',
  'URL',
  'programId',
  '__proto__',
  'constructor',
  'x-note',
].map((name) => [`unknown: ${name}`, { [name]: raw('"a"') }]);

test('no webhook endpoint is created from an invalid field', () =>
  refuseFields(CREATE, [
    ...URL_CASES,
    ['url: absent', { url: ABSENT }],
    ...EVENT_CASES,
    ...each('events', { null: null }),
    ...each('program_id', {
      ...NOT_A_STRING,
      empty: '',
      'a word': 'nonsense',
      'one digit too long': `${programId}0`,
      'in braces': `{${programId}}`,
      'without hyphens': programId.replaceAll('-', ''),
      'with NUL': raw(`"${programId}\\u0000"`),
      '256 characters': 'a'.repeat(256),
    }),
    ...each('environment', {
      ...NOT_A_STRING,
      empty: '',
      'an unknown one': 'staging',
      'another case': 'Test',
      'its number': 1,
      'a property of every object': 'constructor',
      '256 characters': 'a'.repeat(256),
    }),
    ...DESCRIPTION_CASES,
    ...each('active', { true: true, false: false }),
    ...UNKNOWN_FIELDS,
  ]));

test('no webhook endpoint is changed by an invalid field', async () => {
  await refuseFields(CHANGE, [
    ...URL_CASES,
    ...EVENT_CASES,
    ...each('events', { null: null }),
    ...DESCRIPTION_CASES,
    ...each('description', { null: null }),
    ...each('active', { null: null, 'a string': 'true', 'a number': 1, 'an array': [true], 'an object': {} }),
    // The program and the environment of an endpoint cannot change.
    ...each('program_id', { one: programId, null: null }),
    ...each('environment', { one: 'test', null: null }),
    ...UNKNOWN_FIELDS,
    ['nothing', { description: ABSENT }],
  ]);
});

test('no portal session starts with an invalid field', () =>
  refuseFields(SESSION, [
    ...each('email', {
      absent: ABSENT,
      null: null,
      ...BAD_TEXT,
      empty: '',
      'a word': 'nonsense',
      'without a domain': 'a@',
      'two at signs': 'a@b@example.com',
      'with a space': 'a b@example.com',
      'with NUL': raw('"a\\u0000@example.com"'),
      '256 characters': `${'a'.repeat(256 - '@example.com'.length)}@example.com`,
      '100,000 characters': `${'a'.repeat(100_000)}@example.com`,
    }),
    ...each('password', {
      absent: ABSENT,
      null: null,
      ...NOT_A_STRING,
      '1,001 characters': 'x'.repeat(1_001),
      'a lone surrogate': raw('"\\ud800"'),
    }),
    ...UNKNOWN_FIELDS,
  ]));

test('the portal refuses every malformed body', async () => {
  for (const target of [CREATE, CHANGE, SESSION]) {
    const good = toJson(target.good);
    const [name = '', value] = Object.entries(target.good)[0] ?? [];
    const pair = `${JSON.stringify(name)}:${JSON.stringify(value)}`;
    const escaped = `"\\u00${name.charCodeAt(0).toString(16)}${name.slice(1)}"`;
    const open = good.slice(0, -1);
    await expectAllRefused(target, [
      ['nothing', {}],
      ['no bytes', { raw: '' }],
      ['white space', { raw: ' \n' }],
      ...['null', '[]', '[{}]', '"a"', '1', 'true', '{', open, `${open},}`, `${good}${good}`, `${open}/**/}`].map(
        (text): [string, SendOptions] => [text.slice(0, 80), { raw: text }],
      ),
      ['an empty object', { raw: '{}' }],
      ['a field twice', { raw: `${open},${pair}}` }],
      ['a field twice, once escaped', { raw: `${open},${escaped}:${JSON.stringify(value)}}` }],
      ['a field twice, first another', { raw: `{${JSON.stringify(name)}:null,${good.slice(1)}` }],
      ['deep nesting', { raw: `${open},"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}` }],
      ['250,000 open brackets', { raw: '['.repeat(250_000) }],
      ['a field that is not UTF-8', { raw: Buffer.from(open.concat(',"a":"\xc3\x28"}'), 'latin1') }],
      ['UTF-16', { raw: Buffer.from(good, 'utf16le') }],
      ['over 256 KiB', { raw: `${good}${' '.repeat(256 * 1024)}` }],
      ['2 MiB', { raw: `${open},"a":"${'x'.repeat(2 * 1024 * 1024)}"}` }],
      ...[
        'text/plain',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x',
        'application/json; charset=utf-16',
        'application/jsonp',
        'nonsense',
        '',
      ].map((type): [string, SendOptions] => [
        `content type ${type}`,
        { raw: good, headers: { 'content-type': type } },
      ]),
      ['a form', { raw: new URLSearchParams(target.good as Record<string, string>).toString() }],
      ['compressed', { raw: gzipSync(good), headers: { 'content-encoding': 'gzip' } }],
      ['with a content encoding', { raw: good, headers: { 'content-encoding': 'br' } }],
    ]);
  }
});

test('the delivery log refuses every invalid query', async () => {
  for (const query of [
    'status=',
    'status=nonsense',
    'status=Pending',
    'status=pending&status=failed',
    'status=1',
    'event=',
    'event=nonsense',
    'event=attempt.settled&event=webhook.test',
    'event=constructor',
    'limit=0',
    'limit=201',
    'limit=-1',
    'limit=1.5',
    'limit=1e2',
    'limit=',
    'cursor=',
    'cursor=%00',
    `cursor=${'a'.repeat(256)}`,
    'cursor=a&cursor=b',
  ]) {
    const answer = await portal.send('GET', `${PATH}/deliveries?${query}`);
    expect({ query, status: answer.status, code: answer.code }).toEqual({
      query,
      status: 400,
      code: 'invalid_request',
    });
  }
  expect(webhook.asked).toEqual([]);
});

test('a body on a route that takes none has no effect', async () => {
  webhook.script.rotateSecret = async () => ({ endpoint: ENDPOINT, signingSecret: `whsec_${'0'.repeat(64)}` });
  webhook.script.deleteEndpoint = async () => ({});
  for (const raw of ['{', 'x'.repeat(300_000), '{"url":"http://evil.example"}']) {
    const rotated = await portal.send('POST', `${PATH}/rotate-secret`, { raw });
    expect([rotated.status, rotated.body]).toMatchObject([200, { id: ENDPOINT.id, url: ENDPOINT.url }]);
  }
  expect((await portal.send('DELETE', PATH, { raw: '{' })).status).toBe(204);
  expect(new Set(webhook.asked.map(([rpc]) => rpc))).toEqual(new Set(['rotateSecret', 'deleteEndpoint']));
});
