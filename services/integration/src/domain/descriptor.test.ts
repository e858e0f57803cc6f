import { isRefused } from '@laurel/errors';
import { describe, expect, test } from 'vitest';
import { parseDescriptor, parseDescriptorText, parseSentDescriptor } from './descriptor.ts';

const ID = '018f6f7e-2a6b-7c1d-9e3f-5a4b3c2d1e0f';
const ATTEMPT = { attempt_id: '/a' };
const PLAYER = { player_ref: '/p', challenge_id: '/c' };
const mapOf = (map: object) => ({ version: 1, map: { attempt: ATTEMPT, score: '/s', ...map } });
const pullOf = (pull: object) => ({ version: 1, pull: { url: 'https://game.example/runs', ...pull } });
const ATTEMPT_RULE =
  'must have either `attempt_id` alone, or `player_ref` and exactly one of `challenge_id` and `tournament_round_id`';
const POINTER_RULE = 'must be a JSON Pointer: empty, or names that each follow a `/`; `-` is not a name';

describe('a descriptor is accepted with', () => {
  test.each<readonly [what: string, descriptor: object]>([
    ['nothing', {}],
    ["nothing but the partner's own members", { 'x-owner': 'ops' }],
    ['only its version', { version: 1 }],
    ['own members anywhere', { ...mapOf({ 'x-note': [1] }), 'x-a': null }],
    [
      'every member of a map',
      mapOf({ records: '', when: [{ pointer: '/t', in: [1] }], tiebreak: '/t', evidence: '', dedupe: '/d' }),
    ],
    [
      'a player and a round',
      mapOf({ attempt: { player_ref: '/p', tournament_round_id: { const: ID } }, dedupe: '/d' }),
    ],
    ['a URL to poll', pullOf({})],
    [
      'every member of a poll',
      pullOf({
        query: { a: '1' },
        headers: { 'X-Game': 'g' },
        auth: { type: 'basic', username: 'u', password: 'p' },
        paging: { type: 'cursor', param: 'c', pointer: '/n' },
        max_pages: 1,
      }),
    ],
    ['a secret that the database keeps', pullOf({ auth: { type: 'bearer' } })],
  ])('%s', (_what, descriptor) => {
    expect(isRefused(parseDescriptor(descriptor, 'pull_poll'))).toBe(false);
  });
});

describe('the members of a map that are absent', () => {
  const mapIn = (map: object) => {
    const descriptor = parseDescriptor({ version: 1, map }, 'push_webhook');
    if (isRefused(descriptor)) throw new Error(descriptor.message);
    return descriptor.map;
  };
  const canonical = mapIn({ attempt: { attempt_id: '/attempt_id' }, score: '/score' });

  test.each([
    {},
    { attempt: { attempt_id: '/attempt_id' } },
    { score: '/score' },
    { score: { pointer: '/score', as: 'number' } },
  ])('a map of %j reads the canonical attempt and score, no tiebreak and no evidence', (map) => {
    expect(mapIn(map)).toEqual(canonical);
    expect(canonical).toMatchObject({ tiebreak: null, evidence: null });
  });

  test('a map can read a player’s score from records at another place', () => {
    expect(mapIn({ records: '/events', attempt: PLAYER, dedupe: '/id' })).toMatchObject({
      records: { text: '/events' },
      attempt: { kind: 'player' },
      score: { pointer: { text: '/score' }, as: 'number' },
    });
  });

  test('a descriptor without a map also reads the canonical tiebreak and evidence', () => {
    for (const sent of [{}, { version: 1 }]) {
      expect(parseDescriptor(sent, 'push_webhook')).toMatchObject({
        map: {
          ...canonical,
          tiebreak: { pointer: { text: '/tiebreak' } },
          evidence: { pointer: { text: '/evidence' } },
        },
      });
    }
  });
});

describe('names that begin with `x-`', () => {
  const read = (sent: object) => {
    const descriptor = parseDescriptor(sent, 'pull_poll');
    if (isRefused(descriptor)) throw new Error(descriptor.message);
    return descriptor;
  };

  test('members that begin with `x-` are ignored beside the members of a descriptor, at any depth', () => {
    const own = { 'x-note': 'n' };
    const plain = {
      version: 1,
      map: { attempt: ATTEMPT, score: { pointer: '/s' }, when: [{ pointer: '/t', in: [1] }], tiebreak: '/t' },
      pull: { url: 'https://game.example', auth: { type: 'none' }, paging: { type: 'none' } },
    };
    const noted = {
      ...own,
      ...plain,
      map: {
        ...own,
        ...plain.map,
        attempt: { ...own, ...ATTEMPT },
        score: { ...own, ...plain.map.score },
        when: plain.map.when.map((condition) => ({ ...own, ...condition })),
      },
      pull: { ...own, ...plain.pull, auth: { ...own, type: 'none' }, paging: { ...own, type: 'none' } },
    };
    expect(read(noted)).toEqual(read(plain));
  });

  test('names that begin with `x-` are read in evidence, query and headers, where the partner chooses every name', () => {
    const evidence = { 'x-build': { const: 'b' } };
    expect(read(mapOf({ evidence })).map.evidence).toMatchObject({ members: [{ nameText: '"x-build"' }] });
    const sent = { query: { 'x-q': '1' }, headers: { 'x-game': 'g' } };
    expect(read(pullOf(sent)).pull).toMatchObject(sent);
  });
});

test('a poll has by default no paging, no authentication and at most 5 pages', () => {
  const descriptor = parseDescriptor(pullOf({}), 'pull_poll');
  expect(descriptor).toMatchObject({
    pull: { query: {}, headers: {}, auth: { type: 'none' }, paging: { type: 'none' }, maxPages: 5 },
  });
});

test.each(['cursor', 'next_url'])('paging by %s leads to newer records unless the list says newest_first', (type) => {
  const pagingOf = (order: object) => {
    const paging = { type, ...(type === 'cursor' && { param: 'c' }), pointer: '/n', ...order };
    const descriptor = parseDescriptor(pullOf({ paging }), 'pull_poll');
    return isRefused(descriptor) ? descriptor : descriptor.pull?.paging;
  };
  expect(pagingOf({})).toMatchObject({ order: 'oldest_first' });
  for (const order of ['oldest_first', 'newest_first']) expect(pagingOf({ order })).toMatchObject({ order });
  expect(isRefused(pagingOf({ order: 'random' }) as object)).toBe(true);
});

describe('a descriptor is refused for', () => {
  test.each<readonly [what: string, descriptor: unknown, field: string, message: string]>([
    ['members without a version', { map: { attempt: ATTEMPT, score: '/s' } }, 'version', 'is missing'],
    ['another version', { version: 2 }, 'version', 'must be `1`'],
    ['a misspelt member of the map', mapOf({ tiebrake: '/t' }), 'map', 'must not have `tiebrake`'],
    ['a score of null', mapOf({ score: null }), 'map.score', 'must be a JSON Pointer or an object'],
    ['an attempt of null', mapOf({ attempt: null }), 'map.attempt', 'must be an object'],
    ['a pointer without its slash', mapOf({ score: 's' }), 'map.score', POINTER_RULE],
    ['a tilde that escapes nothing', mapOf({ score: '/~2' }), 'map.score', POINTER_RULE],
    ['the item after the last', mapOf({ score: '/a/-' }), 'map.score', POINTER_RULE],
    ['a JSONPath', mapOf({ score: '$.s' }), 'map.score', POINTER_RULE],
    ['a score that is a number', mapOf({ score: 5 }), 'map.score', 'must be a JSON Pointer or an object'],
    [
      'an unknown form of a number',
      mapOf({ score: { pointer: '/s', as: 'percent' } }),
      'map.score.as',
      'must be `number` or `numeric_string`',
    ],
    ['a constant score', mapOf({ score: { const: 1 } }), 'map.score.pointer', 'is missing'],
    ['an attempt with no member', mapOf({ attempt: {} }), 'map.attempt', ATTEMPT_RULE],
    ['an attempt and a player', mapOf({ attempt: { ...ATTEMPT, ...PLAYER } }), 'map.attempt', ATTEMPT_RULE],
    ['a player alone', mapOf({ attempt: { player_ref: '/p' } }), 'map.attempt', ATTEMPT_RULE],
    [
      'a challenge and a round',
      mapOf({ attempt: { ...PLAYER, tournament_round_id: '/r' } }),
      'map.attempt',
      ATTEMPT_RULE,
    ],
    ['an attempt that is picked', mapOf({ attempt: { ...ATTEMPT, pick: 'oldest' } }), 'map.attempt', ATTEMPT_RULE],
    [
      'an unknown pick',
      mapOf({ attempt: { ...PLAYER, pick: 'newest' } }),
      'map.attempt.pick',
      'must be `only` or `oldest`',
    ],
    [
      'a constant that is not a uuid',
      mapOf({ attempt: { player_ref: '/p', challenge_id: { const: 'c' } } }),
      'map.attempt.challenge_id.const',
      'must be a uuid',
    ],
    [
      'a player without dedupe',
      mapOf({ attempt: PLAYER }),
      'map.dedupe',
      'is missing: without it the same body, sent again, would settle the next attempt of the player',
    ],
    [
      'a condition that nothing meets',
      mapOf({ when: [{ pointer: '/t', in: [] }] }),
      'map.when.0.in',
      'must have at least 1 item',
    ],
    [
      'a condition on an object',
      mapOf({ when: [{ pointer: '/t', in: [{}] }] }),
      'map.when.0.in.0',
      'must be a string, a number, true, false or null',
    ],
    ['evidence without a member', mapOf({ evidence: {} }), 'map.evidence', 'must have a member'],
    [
      'a name of 101 characters in evidence',
      mapOf({ evidence: { ['n'.repeat(101)]: '/e' } }),
      'map.evidence',
      'must have names of at most 100 characters',
    ],
    [
      'a parameter of 101 characters',
      pullOf({ query: { ['n'.repeat(101)]: '1' } }),
      `pull.query.${'n'.repeat(101)}`,
      'must have at most 100 characters',
    ],
    [
      'a value of 1,001 characters in a query',
      pullOf({ query: { q: 'v'.repeat(1_001) } }),
      'pull.query.q',
      'must have at most 1000 characters',
    ],
    [
      'a value of 1,001 characters in a header',
      pullOf({ headers: { 'X-A': 'v'.repeat(1_001) } }),
      'pull.headers.X-A',
      'must have at most 1000 characters',
    ],
    [
      'evidence within evidence',
      mapOf({ evidence: { a: { b: '/c' } } }),
      'map.evidence.a.const',
      'must be a string, a number, true, false or null',
    ],
    ['no URL', { version: 1, pull: {} }, 'pull.url', 'is missing'],
    [
      'a URL without TLS',
      pullOf({ url: 'http://game.example' }),
      'pull.url',
      'must be a URL that begins with https://',
    ],
    [
      'a hop-by-hop header',
      pullOf({ headers: { 'Transfer-Encoding': 'chunked' } }),
      'pull.headers.Transfer-Encoding',
      'must not be a header that the connection needs',
    ],
    [
      'the header Host',
      pullOf({ headers: { host: 'a' } }),
      'pull.headers.host',
      'must not be a header that the connection needs',
    ],
    [
      'a secret in a header that is shown',
      pullOf({ headers: { Authorization: 'Bearer s' } }),
      'pull.headers',
      'must not have a secret: use `auth`',
    ],
    ['a header twice', pullOf({ headers: { 'X-A': '1', 'x-a': '2' } }), 'pull.headers', 'must not have a header twice'],
    [
      'a second header in a value',
      pullOf({ headers: { 'X-A': '1\r\nX-B: 2' } }),
      'pull.headers.X-A',
      'must be printable ASCII',
    ],
    [
      'a second header in a secret',
      pullOf({ auth: { type: 'bearer', token: 'a\nb' } }),
      'pull.auth.token',
      'must be printable ASCII',
    ],
    [
      'the header Host for a secret',
      pullOf({ auth: { type: 'header', name: 'Host', value: 's' } }),
      'pull.auth.name',
      'must not be a header that the connection needs',
    ],
    [
      'a user name with a colon',
      pullOf({ auth: { type: 'basic', username: 'a:b', password: 'p' } }),
      'pull.auth.username',
      'must not have a colon',
    ],
    [
      'unknown authentication',
      pullOf({ auth: { type: 'oauth' } }),
      'pull.auth.type',
      'must be one of `none`, `header`, `bearer`, `basic`',
    ],
    [
      'unknown paging',
      pullOf({ paging: { type: 'page' } }),
      'pull.paging.type',
      'must be one of `none`, `cursor`, `next_url`, `since`',
    ],
    [
      'a parameter that paging by URL does not have',
      pullOf({ paging: { type: 'next_url', pointer: '/n', param: 'c' } }),
      'pull.paging',
      'must not have `param`',
    ],
    ['six pages', pullOf({ max_pages: 6 }), 'pull.max_pages', 'must be at most 5'],
    ['no page', pullOf({ max_pages: 0 }), 'pull.max_pages', 'must be at least 1'],
  ])('%s', (_what, descriptor, field, message) => {
    const expected = `The descriptor is not valid: \`${field}\` ${message}.`;
    expect(parseDescriptor(descriptor, 'pull_poll')).toMatchObject({ kind: 'refused', message: expected });
  });

  test.each(['push_webhook', 'sdk_direct'] as const)('a poll of the transport %s', (transport) => {
    expect(parseDescriptor(pullOf({}), transport)).toMatchObject({ kind: 'refused', code: 'invalid_request' });
  });

  test.each([[null], [[]], ['text'], [5]])('%j, which is not an object', (sent) => {
    expect(parseDescriptor(sent, 'push_webhook')).toMatchObject({ kind: 'refused', code: 'invalid_request' });
  });
});

test('a descriptor has at most 16 KiB, as text and as the database returns it', () => {
  const padded = (bytes: number) => ({ 'x-a': 'x'.repeat(bytes - '{"x-a":""}'.length) });
  for (const [bytes, isAccepted] of [
    [16_384, true],
    [16_385, false],
  ] as const) {
    expect(isRefused(parseDescriptor(padded(bytes), 'push_webhook'))).toBe(!isAccepted);
    expect(isRefused(parseDescriptorText(JSON.stringify(padded(bytes)), 'push_webhook'))).toBe(!isAccepted);
  }
});

const times = (count: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, value]));
const list = (count: number, value: unknown) => Array(count).fill(value);
const condition = (values: number) => ({ pointer: '/t', in: list(values, 1) });
const pointer = (characters: number) => `/${'p'.repeat(characters - 1)}`;

test.each([
  ['members of an evidence', (count: number) => mapOf({ evidence: times(count, '/e') }), 'map.evidence'],
  ['conditions', (count: number) => mapOf({ when: list(count, condition(1)) }), 'map.when'],
  ['values of a condition', (count: number) => mapOf({ when: [condition(count)] }), 'map.when.0.in'],
  ['parameters of a query', (count: number) => pullOf({ query: times(count, 'v') }), 'pull.query'],
  ['headers', (count: number) => pullOf({ headers: times(count, 'v') }), 'pull.headers'],
  ['members of the partner', (count: number) => ({ 'x-notes': list(count, 1) }), 'x-notes'],
])('a saved descriptor may have at most 100 %s', (_what, of, field) => {
  const text = (count: number) => JSON.stringify(of(count));
  expect(isRefused(parseSentDescriptor(text(100), 'pull_poll'))).toBe(false);
  const message = `The descriptor is not valid: \`${field}\` has more than 100 members.`;
  expect(parseSentDescriptor(text(101), 'pull_poll')).toMatchObject({ code: 'invalid_request', message });
  expect(isRefused(parseDescriptorText(text(101), 'pull_poll'))).toBe(false);
});

test('a descriptor that is saved has at most 500 values in total', () => {
  // The values counted are three of the map, `version` and `map`; and for each condition itself,
  // its two members and its values.
  const text = (values: number) => JSON.stringify(mapOf({ when: [...list(4, condition(97)), condition(values)] }));
  expect(isRefused(parseSentDescriptor(text(91), 'push_webhook'))).toBe(false);
  const message = 'The descriptor has more than 500 values.';
  expect(parseSentDescriptor(text(92), 'push_webhook')).toMatchObject({ code: 'invalid_request', message });
});

test.each([
  ['score', (text: string) => mapOf({ score: text }), 'map'],
  ['attempt', (text: string) => mapOf({ attempt: { attempt_id: text } }), 'map.attempt'],
  ['evidence', (text: string) => mapOf({ evidence: { any: text } }), 'map.evidence'],
  ['condition', (text: string) => mapOf({ when: [{ pointer: text, in: [1] }] }), 'map.when.0'],
  ['page', (text: string) => pullOf({ paging: { type: 'next_url', pointer: text } }), 'pull.paging'],
])('a pointer in the %s may have at most 255 characters in a saved descriptor', (_what, of, field) => {
  const parse = (characters: number) => parseSentDescriptor(JSON.stringify(of(pointer(characters))), 'pull_poll');
  expect(isRefused(parse(255))).toBe(false);
  const message = `The descriptor is not valid: \`${field}\` has a pointer of more than 255 characters.`;
  expect(parse(256)).toMatchObject({ code: 'invalid_request', message });
});

test('a text that is not a pointer may be longer than 255 characters', () => {
  const query = { dedupe: `/${'v'.repeat(900)}` };
  expect(isRefused(parseSentDescriptor(JSON.stringify(pullOf({ query })), 'pull_poll'))).toBe(false);
});

test('a descriptor that names a member twice is refused', () => {
  expect(parseDescriptorText('{"version":1,"version":1}', 'push_webhook')).toMatchObject({ kind: 'refused' });
});
