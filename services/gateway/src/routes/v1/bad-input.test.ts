/**
 * Bodies and paths that `/v1` refuses: the gateway calls no service and uses no idempotency key.
 */
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { createDatabase, type Database } from '@laurel/postgres';
import { ChallengeServiceService } from '@laurel/proto/challenge';
import { TournamentServiceService } from '@laurel/proto/tournament';
import { WalletServiceService } from '@laurel/proto/wallet';
import { createHttpClient, createPartner, createTestDatabase, type Partner, type SendOptions } from '@laurel/testing';
import { openDocuments } from '@laurel/testing/contract';
import { newId, newOwnedId } from '@laurel/values/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startScriptedService } from '../../clients/scripted-service.fixture.ts';
import { operatorOf, startTestGateway } from '../../gateway.fixture.ts';
import { ABSENT, raw, toJson } from '../../http/raw-json.fixture.ts';

type Value = unknown;

const NOT_A_STRING: [string, Value][] = [
  ['null', null],
  ['a number', 5],
  ['a boolean', true],
  ['an array', ['a']],
  ['an object', { a: 1 }],
];
const BAD_REF: [string, Value][] = [
  ['absent', ABSENT],
  ...NOT_A_STRING,
  ['empty', ''],
  ['256 characters', 'x'.repeat(256)],
  ['with NUL', raw('"a\\u0000b"')],
  ['a lone high surrogate', raw('"a\\ud800b"')],
  ['a lone low surrogate', raw('"a\\udc00"')],
];
const BAD_ID: [string, Value][] = [
  ...NOT_A_STRING,
  ['empty', ''],
  ['a word', 'nonsense'],
  ['one digit too long', `${randomUUID()}0`],
  ['in braces', `{${randomUUID()}}`],
  ['without hyphens', randomUUID().replaceAll('-', '')],
  ['with NUL', raw(`"${randomUUID()}\\u0000"`)],
  ['256 characters', 'a'.repeat(256)],
];
const NOT_AN_OBJECT: [string, Value][] = [
  ['null', null],
  ['a string', '{}'],
  ['a number', 1],
  ['a boolean', true],
  ['an array', [{}]],
];
const NOT_A_SCORE: [string, Value][] = [
  ['absent', ABSENT],
  ['null', null],
  ['a numeric string', '1'],
  ['the text NaN', 'NaN'],
  ['the text Infinity', 'Infinity'],
  ['a boolean', true],
  ['an array', [1]],
  ['an object', {}],
  ['NaN', raw('NaN')],
  ['Infinity', raw('Infinity')],
  ['-Infinity', raw('-Infinity')],
  ['1e999', raw('1e999')],
  ['-1e999', raw('-1e999')],
  ['hexadecimal', raw('0x10')],
  ['with a leading zero', raw('01')],
  ['with a bare point', raw('1.')],
  ['with a plus', raw('+1')],
  ['a 400 digit integer', raw('9'.repeat(400))],
];
/**
 * As NOT_A_SCORE without the absent one: a tiebreak may be absent, because only some tournaments
 * require one.
 */
const NOT_A_TIEBREAK = NOT_A_SCORE.filter(([what]) => what !== 'absent');

const [challengeId, calibratingId, roundId] = [newId(), newId(), newId()];
const [attemptId, roundAttemptId] = [newOwnedId('challenge'), newOwnedId('tournament')];
const playerRef = 'player';
const email = 'ann@example.com';

const stack = new AsyncDisposableStack();
let database: Database;
let services: { readonly asked: unknown[] }[];
let partner: Partner;

beforeAll(async () => {
  const challenge = stack.use(await startScriptedService(ChallengeServiceService));
  const tournament = stack.use(await startScriptedService(TournamentServiceService));
  const wallet = stack.use(await startScriptedService(WalletServiceService));
  services = [challenge, tournament, wallet];
  const { url, runningUrl } = stack.use(
    await createTestDatabase({ migrations: new URL('../../../migrations/', import.meta.url) }),
  );
  database = stack.use(createDatabase({ url, maxConnections: 2, applicationName: 'bad-input-test' }));
  const gateway = await startTestGateway({
    GATEWAY_DATABASE_URL: runningUrl,
    CHALLENGE_ADDRESS: challenge.address,
    TOURNAMENT_ADDRESS: tournament.address,
    WALLET_ADDRESS: wallet.address,
    RATE_LIMIT_PER_MINUTE: '100000',
  });
  const { port } = stack.use(gateway);
  const http = stack.use(createHttpClient({ baseUrl: `http://127.0.0.1:${port}`, onAnswer: openDocuments().check }));
  partner = createPartner(http, (await operatorOf(port)('POST', '/programs', { name: 'Arcade' })).body.test_key);
}, 60_000);
afterAll(() => stack.disposeAsync());
beforeEach(() => {
  for (const { asked } of services) asked.length = 0;
});

const asked = () => services.flatMap((service) => service.asked);

const post = (path: string, options: SendOptions) =>
  partner.send('POST', path, { ...options, headers: { 'idempotency-key': randomUUID(), ...options.headers } });
const keyUses = () => database.query({ text: 'select id, state, operation_id from idempotency_records order by id' });

/** The request is refused as invalid, no service is called, and its idempotency key is unused. */
async function expectRefused(path: string, options: SendOptions): Promise<void> {
  const before = await keyUses();
  const { status, code, text } = await post(path, options);
  expect([status, code], text.slice(0, 300)).toEqual([400, 'invalid_request']);
  expect(asked()).toEqual([]);
  expect(await keyUses()).toEqual(before);
}

describe('bad bodies of POST /v1/attempts', () => {
  const send = (fields: Record<string, Value>) =>
    expectRefused('/v1/attempts', { raw: toJson({ challenge_id: challengeId, player_ref: playerRef, ...fields }) });

  test.each(BAD_REF)('POST /v1/attempts refuses player_ref: %s', (_what, value) => send({ player_ref: value }));
  test.each(BAD_ID)('POST /v1/attempts refuses challenge_id: %s', (_what, value) => send({ challenge_id: value }));
  test.each(BAD_ID)('POST /v1/attempts refuses tournament_round_id: %s', (_what, value) =>
    send({ challenge_id: ABSENT, tournament_round_id: value }),
  );
  test('POST /v1/attempts refuses a body that names both a challenge and a round', () =>
    send({ tournament_round_id: roundId }));
  test('POST /v1/attempts refuses a body with both contest ids, even if one of them is null', () =>
    send({ tournament_round_id: null }));
  test('POST /v1/attempts refuses a body without a contest id', () => send({ challenge_id: ABSENT }));
  test('POST /v1/attempts refuses a body in which both contest ids are null', () =>
    send({ challenge_id: null, tournament_round_id: null }));
  test.each([
    ...NOT_AN_OBJECT,
    ['over 16 KiB', { text: 'x'.repeat(16 * 1024) }],
    ['over 16 KiB in bytes, not in characters', { text: '選'.repeat(6 * 1024) }],
    ['5,000 arrays deep', raw(`${'['.repeat(5_000)}${']'.repeat(5_000)}`)],
    ['20,000 levels deep', raw(`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`)],
    ['100,000 arrays deep', raw(`{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`)],
  ] as [string, Value][])('POST /v1/attempts refuses metadata: %s', (_what, value) => send({ metadata: value }));

  test.each([
    [
      'challenge_id twice',
      (id: string, ref: string) => `{"challenge_id":"${randomUUID()}","challenge_id":"${id}","player_ref":"${ref}"}`,
    ],
    [
      'player_ref twice, once escaped',
      (id: string, ref: string) => `{"challenge_id":"${id}","player_ref":"a","player\\u005fref":"${ref}"}`,
    ],
    [
      'a key of metadata twice',
      (id: string, ref: string) => `{"challenge_id":"${id}","player_ref":"${ref}","metadata":{"a":1,"a":2}}`,
    ],
  ])('POST /v1/attempts refuses duplicate keys: %s', (_what, build) =>
    expectRefused('/v1/attempts', { raw: build(challengeId, playerRef) }),
  );

  test.each([
    ['metadata', '{"a":["\\u0000"]}'],
    ['metadata', '{"\\u0000":1}'],
    ['anything_else', '"\\u0000"'],
  ])('NUL anywhere in a body is refused: %s %s', async (name, text) => {
    const answer = await post('/v1/attempts', {
      raw: `{"challenge_id":"${challengeId}","player_ref":"${playerRef}","${name}":${text}}`,
    });
    expect([answer.status, answer.code]).toEqual([400, 'invalid_request']);
    expect(answer.text).toContain('The body holds text with NUL.');
    expect(asked()).toEqual([]);
  });
});

describe('bad bodies of POST /v1/attempts/{attempt_id}/outcome', () => {
  const send = (fields: Record<string, Value>) =>
    expectRefused(`/v1/attempts/${attemptId}/outcome`, { raw: toJson({ score: 100, ...fields }) });

  test.each(NOT_A_SCORE)('an outcome is refused with score: %s', (_what, value) => send({ score: value }));
  test.each([
    ...NOT_AN_OBJECT,
    ['over 64 KiB', { text: 'x'.repeat(64 * 1024) }],
    ['20,000 levels deep', raw(`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`)],
  ] as [string, Value][])('an outcome is refused with evidence: %s', (_what, value) => send({ evidence: value }));
  test.each([
    ['null', null],
    ['a string', '1'],
    ['1e999', raw('1e999')],
    ['an object', {}],
  ])('an outcome is refused with tiebreak: %s', (_what, value) => send({ tiebreak: value }));
  test('an outcome with two scores is refused', () =>
    expectRefused(`/v1/attempts/${attemptId}/outcome`, { raw: '{"score":1,"score":100}' }));
  test('an outcome is refused with evidence that has a key twice', () =>
    expectRefused(`/v1/attempts/${attemptId}/outcome`, { raw: '{"score":1,"evidence":{"a":{"b":1,"b":1}}}' }));
});

describe('bad input to rounds', () => {
  const named = (name: string, values: readonly [string, Value][]) =>
    values.map(([what, value]): [string, Record<string, Value>] => [`${name}: ${what}`, { [name]: value }]);

  /** Checks many requests like `expectRefused`. */
  async function expectAllRefused(
    path: string,
    good: Record<string, Value>,
    bad: readonly [string, Record<string, Value>][],
  ): Promise<void> {
    const before = await keyUses();
    for (const [what, fields] of bad) {
      const { status, code } = await post(path, { raw: toJson({ ...good, ...fields }) });
      expect({ what, status, code }).toEqual({ what, status: 400, code: 'invalid_request' });
    }
    expect(asked()).toEqual([]);
    expect(await keyUses()).toEqual(before);
  }

  test('an entry with a bad player_ref, bad metadata or a second parent is refused', () =>
    expectAllRefused('/v1/attempts', { tournament_round_id: roundId, player_ref: playerRef }, [
      ...named('player_ref', BAD_REF),
      ...named('metadata', [...NOT_AN_OBJECT, ['over 16 KiB', { text: 'x'.repeat(16 * 1024) }]]),
      ...named('challenge_id', [
        ['another parent', challengeId],
        ['null', null],
        ['nonsense', 'nonsense'],
      ]),
    ]));

  test('a report in a round with a bad score, tiebreak or evidence is refused', () =>
    expectAllRefused(`/v1/attempts/${roundAttemptId}/outcome`, { score: 100, tiebreak: 1 }, [
      ...named('score', NOT_A_SCORE),
      ...named('tiebreak', NOT_A_TIEBREAK),
      ...named('evidence', NOT_AN_OBJECT),
    ]));

  test('a report in a round with two tiebreaks is refused', () =>
    expectRefused(`/v1/attempts/${roundAttemptId}/outcome`, { raw: '{"score":1,"tiebreak":1,"tiebreak":2}' }));
});

describe('bad bodies of POST /v1/players', () => {
  const send = (fields: Record<string, Value>) =>
    expectRefused('/v1/players', { raw: toJson({ player_ref: playerRef, email, ...fields }) });

  test.each(BAD_REF)('POST /v1/players refuses player_ref: %s', (_what, value) => send({ player_ref: value }));
  test.each([['absent', ABSENT], ...NOT_A_STRING, ['empty', '']] as [string, Value][])(
    'POST /v1/players refuses email: %s',
    (_what, value) => send({ email: value }),
  );
  test.each([
    ['without @', '"nonsense"'],
    ['with NUL', '"a\\u0000@example.com"'],
    ['a lone surrogate', '"a\\ud800@example.com"'],
    ['10,000 characters', `"${'a'.repeat(10_000)}@example.com"`],
    ['a wildcard', '"%@example.com"'],
  ])('POST /v1/players refuses, or does not find, email: %s', async (_what, text) => {
    const answer = await post('/v1/players', { raw: `{"player_ref":"${playerRef}","email":${text}}` });
    // The wallet has no account here.
    expect([400, 404], answer.text).toContain(answer.status);
  });
});

describe('a bad POST /v1/challenges/{id}/distribution', () => {
  const percentiles = { p5: -1e9, p25: -1e8, p50: 0, p75: 1e8, p95: 1e9 };
  const path = `/v1/challenges/${calibratingId}/distribution`;

  test.each(NOT_A_SCORE)('a distribution is refused with p50: %s', (_what, p50) =>
    expectRefused(path, { raw: `{"distribution":${toJson({ ...percentiles, p50 })},"sample_size":500}` }),
  );
  test.each([...NOT_A_SCORE, ['a half', 500.5], ['499', 499], ['negative', -500]] as typeof NOT_A_SCORE)(
    'a distribution is refused with sample_size: %s',
    (_what, sample_size) =>
      expectRefused(path, { raw: toJson({ distribution: raw(toJson(percentiles)), sample_size }) }),
  );
  test.each(NOT_AN_OBJECT)('a distribution is refused if it is: %s', (_what, distribution) =>
    expectRefused(path, { raw: toJson({ distribution, sample_size: 500 }) }),
  );
});

describe('bad bodies and content types', () => {
  const PATHS = [
    '/v1/attempts',
    `/v1/attempts/${attemptId}/outcome`,
    '/v1/players',
    `/v1/challenges/${calibratingId}/distribution`,
  ];
  test.each([
    ['nothing', ''],
    ['white space', ' \n'],
    ['null', 'null'],
    ['an array', '[]'],
    ['a string', '"a"'],
    ['a number', '1'],
    ['an open brace', '{'],
    ['a trailing comma', '{"score":1,}'],
    ['single quotes', "{'score':1}"],
    ['a comment', '{"score":1/* */}'],
    ['two documents', '{"score":1}{"score":1}'],
    ['a control character in a string', '{"score":1,"evidence":{"a":"\u0001"}}'],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
    [
      'a field that is not UTF-8',
      Buffer.concat([Buffer.from('{"player_ref":"'), Buffer.from([0xc3, 0x28]), Buffer.from('","score":1}')]),
    ],
    ['UTF-16', Buffer.from('{"score":1}', 'utf16le')],
    ['over 256 KiB', `{"score":1,"evidence":{"a":"${'x'.repeat(256 * 1024)}"}}`],
    ['2 MiB', `{"score":1,"evidence":{"a":"${'x'.repeat(2 * 1024 * 1024)}"}}`],
    ['250,000 open brackets', '['.repeat(250_000)],
  ])('every POST route refuses as its body: %s', async (_what, text) => {
    for (const path of PATHS) await expectRefused(path, { raw: text });
  });

  test.each([
    ['text/plain', 'text/plain'],
    ['a form', 'application/x-www-form-urlencoded'],
    ['XML', 'application/xml'],
    ['multipart', 'multipart/form-data; boundary=x'],
    ['nonsense', 'nonsense'],
    ['empty', ''],
    ['another character set', 'application/json; charset=utf-16'],
    ['another character set, quoted and behind a parameter', 'application/json; version=1; Charset="latin1"'],
    ['another character set behind the right one', 'application/json; charset=utf-8; charset=ascii'],
  ])('every POST route refuses the content type: %s', async (_what, type) => {
    const bodies = [
      { challenge_id: challengeId, player_ref: playerRef },
      { score: 100 },
      { player_ref: playerRef, email },
    ];
    for (const [index, path] of PATHS.entries()) {
      await expectRefused(path, { raw: JSON.stringify(bodies[index]), headers: { 'content-type': type } });
    }
  });

  test('the JSON content type is accepted in any case and with parameters', async () => {
    const types = [
      'application/json; charset=utf-8',
      'Application/JSON;charset=UTF-8',
      'application/json; charset="utf8"; charset=UTF-8',
      'application/json; version=1; profile="a;charset=latin1"',
      'application/json ; ',
    ];
    for (const type of types) {
      const body = { raw: toJson({ player_ref: playerRef, email }), headers: { 'content-type': type } };
      // The wallet has no account here.
      expect((await post('/v1/players', body)).code).toBe('not_found');
    }
    expect(asked()).toHaveLength(types.length);
  });

  test('a compressed body is refused', async () => {
    for (const body of [gzipSync(`{"a":"${'x'.repeat(5_000_000)}"}`), Buffer.from('not gzip')]) {
      await expectRefused('/v1/attempts', { raw: body, headers: { 'content-encoding': 'gzip' } });
    }
  });
});

describe('what a response says', () => {
  test.each([
    ['/v1/attempts', '{"player_ref":"a","player_ref":"b"}', 'The member `player_ref` stands twice.', undefined],
    ['/v1/attempts', '{"metadata":{"a":{"seed":1,"seed":2}}}', 'The member `seed` stands twice.', undefined],
    ['/v1/players', '{}', 'The body is not valid.', ['player_ref is missing', 'email is missing']],
    ['/v1/players', '[]', 'The body is not valid.', ['must be an object']],
    [
      '/v1/players',
      '{"player_ref":1,"email":""}',
      'The body is not valid.',
      ['player_ref must be a string', 'email must not be empty'],
    ],
    [
      '/v1/attempts',
      '{"player_ref":"p"}',
      'The body is not valid.',
      ['must have exactly one of `challenge_id` and `tournament_round_id`'],
    ],
    [`/v1/attempts/${randomUUID()}/outcome`, '{}', 'The body is not valid.', ['score is missing']],
    [
      `/v1/challenges/${randomUUID()}/distribution`,
      '{}',
      'The body is not valid.',
      ['distribution is missing', 'sample_size is missing'],
    ],
    [
      `/v1/challenges/${randomUUID()}/distribution`,
      '{"distribution":{"p5":1,"p25":1,"p50":3,"p75":4,"p95":5},"sample_size":499}',
      'The body is not valid.',
      ['distribution must ascend strictly: p5, p25, p50, p75, p95', 'sample_size must be at least 500'],
    ],
    [
      `/v1/challenges/${randomUUID()}/distribution`,
      '{"distribution":{"p5":"1","p25":2,"p50":3,"p75":4},"sample_size":500.5}',
      'The body is not valid.',
      ['distribution.p5 must be a finite number', 'distribution.p95 is missing', 'sample_size must be a whole number'],
    ],
    [
      `/v1/attempts/${randomUUID()}/outcome`,
      '{"score":"1"}',
      'The body is not valid.',
      ['score must be a finite number'],
    ],
  ])('POST %s with %s names its validation issues', async (path, raw, message, expected) => {
    const answer = await post(path, { raw });
    expect([answer.status, answer.code]).toEqual([400, 'invalid_request']);
    const { error } = answer.body as {
      error: { message: string; details?: { issues: { field?: string; message: string }[] } };
    };
    expect(error.message).toBe(message);
    const issues = error.details?.issues.map((issue) => [issue.field, issue.message].filter(Boolean).join(' '));
    expect(issues).toEqual(expected);
  });

  test('a malformed id in a path of the partner API is 404', async () => {
    for (const id of ['nonsense', 'a'.repeat(2_000), '%00', "1'--", `${randomUUID()}%20`]) {
      for (const answer of [
        await partner.send('GET', `/v1/attempts/${id}`),
        await post(`/v1/attempts/${id}/outcome`, { raw: '{"score":1}' }),
        await partner.send('GET', `/v1/tournaments/rounds/${id}/leaderboard`),
      ]) {
        expect([answer.status, answer.code]).toEqual([404, 'not_found']);
      }
    }
    expect(asked()).toEqual([]);
  });
});
