import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { WebhookEventType } from '@laurel/sdk';
import {
  type Answer,
  createHttpClient,
  createPartner,
  createPortal,
  type EndpointBody,
  EVENT_TYPES,
  type HttpClient,
  SERVICES,
  type SendOptions,
  signIn,
} from '@laurel/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Developer, expectError, expectStatus, startWorld, type World } from '../world.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const SECRET = /^whsec_[0-9a-f]{64}$/;
const MAX_ENDPOINTS = 20;
/** A port without a listener. */
const UNUSED_URL = 'https://127.0.0.1:9443/hooks?from=laurel';

/** Written into raw JSON in place of a field, for cases that no JavaScript value can express. */
class Raw {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}
const raw = (text: string): Raw => new Raw(text);
const ABSENT = Symbol('absent');
type Fields = Record<string, unknown>;
type Case = readonly [what: string, fields: Fields];

function toJson(fields: Fields): string {
  const parts = Object.entries(fields).flatMap(([name, value]) =>
    value === ABSENT ? [] : [`${JSON.stringify(name)}:${value instanceof Raw ? value.text : JSON.stringify(value)}`],
  );
  return `{${parts.join(',')}}`;
}

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
/** URLs that are not public HTTPS. The tests' own network, 127.0.0.0/8, is open in this stack. */
const BAD_URLS = [
  '',
  ' ',
  'nonsense',
  '/hooks',
  '//example.com/hooks',
  'example.com',
  'https://',
  'https:///',
  'https://:443/',
  'http://127.0.0.1:9443/',
  'HTTPS://127.0.0.1:9443/',
  'https:127.0.0.1:9443/',
  'ftp://127.0.0.1/',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'wss://127.0.0.1:9443/',
  'https://127.0.0.1:9443/#fragment',
  'https://127.0.0.1:9443/#',
  'https://user@127.0.0.1:9443/',
  'https://user:password@127.0.0.1:9443/',
  'https://:@127.0.0.1:9443/#',
  'https://127.0.0.1:80/',
  'https://127.0.0.1:22/',
  'https://127.0.0.1:1023/',
  'https://127.0.0.1:0/',
  'https://127.0.0.1:65536/',
  'https://127.0.0.1:-1/',
  'https://127.0.0.1:port/',
  ' https://127.0.0.1:9443/',
  'https://127.0.0.1:9443/ ',
  'https://127.0.0.1:9443/a b',
  'https://127.0.0.1:9443/\r\nHost: evil.example',
  'https://127.0.0.1:9443/a\tb',
  'https://127.0.0.1:9443\\@evil.example/',
  'https://localhost.:9443/',
  'https://0.0.0.0/',
  'https://10.0.0.1/',
  'https://172.16.0.1/',
  'https://192.168.0.1/',
  'https://100.64.0.1/',
  'https://169.254.169.254/latest/meta-data/',
  'https://168.63.129.16/',
  'https://224.0.0.1/',
  'https://255.255.255.255/',
  'https://2852039166/',
  'https://0xa9fea9fe/',
  'https://0251.0376.0251.0376/',
  'https://%31%36%39.254.169.254/',
  'https://１６９.254.169.254/',
  'https://10.1/',
  'https://[::1]/',
  'https://[::]/',
  'https://[::ffff:10.0.0.1]/',
  'https://[::7f00:1]/',
  'https://[64:ff9b::a00:1]/',
  'https://[2002:a00:1::]/',
  'https://[fd00::1]/',
  'https://[fe80::1]/',
  'https://[fe80::1%25eth0]/',
  'https://[::1/',
  'https://example.com./',
  'https://-example.com/',
  'https://exa mple.com/',
  `https://${'a'.repeat(64)}.example/`,
  `https://127.0.0.1:9443/${'a'.repeat(2_048)}`,
  `https://127.0.0.1:9443/${'選'.repeat(700)}`,
];
const GOOD_URLS = [
  'https://127.0.0.1:9443',
  'https://127.0.0.1:9443/',
  'https://127.0.0.1/',
  'https://127.0.0.1:443/',
  'https://127.0.0.1:1024/',
  'https://127.0.0.1:65535/a/../b?c=%2F&d=é',
  'https://8.8.8.8/hooks',
  'https://[2606:4700:4700::1111]:8443/',
  `https://127.0.0.1:9443/${'a'.repeat(2_048 - 'https://127.0.0.1:9443/'.length)}`,
];

describe('/api/portal/webhook-endpoints', () => {
  let world: World;
  let developer: Developer;
  /** One client per gateway. */
  let gateways: HttpClient[];
  beforeAll(async () => {
    const chatty = { LOG_LEVEL: 'debug' };
    world = await startWorld({
      replicas: { gateway: 2, webhook: 2 },
      // Secrets must not be logged at the debug level either.
      environment: { wallet: chatty, challenge: chatty, tournament: chatty, webhook: chatty, gateway: chatty },
    });
    gateways = world.stack.baseUrls.map((baseUrl) => createHttpClient({ baseUrl, onAnswer: world.contract.check }));
    developer = await world.newDeveloper();
  });
  afterAll(async () => {
    await Promise.all((gateways ?? []).map((gateway) => gateway[Symbol.asyncDispose]()));
    await world?.[Symbol.asyncDispose]();
  });

  const idsOf = async ({ portal }: Pick<Developer, 'portal'>) =>
    expectStatus(200, await portal.listEndpoints()).body.data.map(({ id }) => id);
  const newEndpoint = async (owner: Pick<Developer, 'portal'> = developer): Promise<EndpointBody> => {
    const { signing_secret: _secret, ...endpoint } = expectStatus(
      201,
      await owner.portal.createEndpoint({ url: UNUSED_URL }),
    ).body;
    return endpoint;
  };

  describe('one webhook endpoint', () => {
    test('a webhook endpoint is made as requested, with a secret that is shown only in this response', async () => {
      const owner = await world.newDeveloper();
      const answer = await owner.portal.createEndpoint({
        url: UNUSED_URL,
        events: ['attempt.settled', 'round.settled'],
        program_id: owner.program.id.toUpperCase(),
        environment: 'test',
        description: 'Höhle der 選手 🏆\n"<b>',
      });
      const { signing_secret, ...endpoint } = expectStatus(201, answer).body;
      expect(signing_secret).toMatch(SECRET);
      expect(answer.headers['cache-control']).toBe('no-store');
      expect(endpoint).toEqual({
        id: expect.stringMatching(UUID),
        url: UNUSED_URL,
        events: ['attempt.settled', 'round.settled'],
        program_id: owner.program.id,
        environment: 'test',
        description: 'Höhle der 選手 🏆\n"<b>',
        active: true,
        created_at: expect.stringMatching(TIMESTAMP),
      });
      const { id } = endpoint;
      const shown = [
        expectStatus(200, await owner.portal.getEndpoint(id)),
        expectStatus(200, await owner.portal.updateEndpoint(id, { active: true })),
      ];
      for (const { body } of shown) expect(body).toEqual(endpoint);
      const listed = expectStatus(200, await owner.portal.listEndpoints());
      expect(listed.body).toEqual({ data: [endpoint] });
      for (const { text } of [...shown, listed]) expect(text).not.toContain('whsec_');
    });

    test('a webhook endpoint needs only a URL, and accepts null for optional fields', async () => {
      const owner = await world.newDeveloper();
      for (const body of [
        { url: UNUSED_URL },
        { url: UNUSED_URL, events: [], program_id: null, environment: null, description: null },
        { url: UNUSED_URL, description: '' },
      ]) {
        const answer = await owner.portal.send<EndpointBody>('POST', '/webhook-endpoints', { body });
        expect(expectStatus(201, answer).body).toMatchObject({
          events: [],
          program_id: null,
          environment: null,
          description: '',
        });
      }
    });

    test.each(GOOD_URLS)('a webhook endpoint may be at %s', async (url) => {
      const owner = { portal: developer.portal };
      const made = expectStatus(201, await owner.portal.createEndpoint({ url })).body;
      expect(made.url).toBe(url);
      const other = await newEndpoint();
      expect(expectStatus(200, await owner.portal.updateEndpoint(other.id, { url })).body.url).toBe(url);
      for (const { id } of [made, other]) expectStatus(204, await owner.portal.deleteEndpoint(id));
    });

    test('a webhook endpoint may be at a name that does not resolve', async () => {
      const made = await developer.portal.createEndpoint({ url: 'https://nowhere.invalid/hooks' });
      expectStatus(204, await developer.portal.deleteEndpoint(expectStatus(201, made).body.id));
    });

    test('a webhook endpoint keeps a description of 1,000 code points, and stores each event once', async () => {
      const description = '🏆'.repeat(1_000);
      const events: WebhookEventType[] = [...EVENT_TYPES, ...EVENT_TYPES];
      const { id, ...made } = expectStatus(
        201,
        await developer.portal.createEndpoint({ url: UNUSED_URL, description, events }),
      ).body;
      expect(made).toMatchObject({ description, events: [...EVENT_TYPES] });
      const twice: WebhookEventType[] = ['round.settled', 'round.settled'];
      const changed = await developer.portal.updateEndpoint(id, { events: twice });
      expect(expectStatus(200, changed).body.events).toEqual(['round.settled']);
      expectStatus(204, await developer.portal.deleteEndpoint(id));
    });

    test('an update of a webhook endpoint changes only the fields that are sent', async () => {
      const { signing_secret: _secret, ...made } = expectStatus(
        201,
        await developer.portal.createEndpoint({
          url: UNUSED_URL,
          events: ['attempt.settled'],
          program_id: developer.program.id,
          environment: 'live',
          description: 'first',
        }),
      ).body;
      let expected: EndpointBody = made;
      for (const change of [
        { active: false },
        { url: 'https://127.0.0.1:9444/' },
        { events: ['award.released', 'webhook.test'] as WebhookEventType[] },
        { description: 'second' },
        { description: '' },
        { events: [] },
        { active: true, url: UNUSED_URL, events: ['attempt.settled'] as WebhookEventType[], description: 'first' },
      ]) {
        expected = { ...expected, ...change };
        expect(expectStatus(200, await developer.portal.updateEndpoint(made.id, change)).body).toEqual(expected);
        expect(expectStatus(200, await developer.portal.getEndpoint(made.id)).body).toEqual(expected);
      }
      expect(expected).toEqual(made);
      expectStatus(204, await developer.portal.deleteEndpoint(made.id));
    });

    test('a webhook endpoint gets a new secret on request, and is unchanged otherwise', async () => {
      const { signing_secret: first, ...made } = expectStatus(
        201,
        await developer.portal.createEndpoint({ url: UNUSED_URL, description: 'mine' }),
      ).body;
      const secrets = [first];
      for (let count = 0; count < 3; count += 1) {
        const answer = expectStatus(200, await developer.portal.rotateSecret(made.id));
        const { signing_secret, ...rotated } = answer.body;
        expect(rotated).toEqual(made);
        expect(signing_secret).toMatch(SECRET);
        expect(answer.headers['cache-control']).toBe('no-store');
        secrets.push(signing_secret);
      }
      expect(new Set(secrets).size).toBe(4);
      const stored = await world.stack
        .database('webhook')
        .query<{ row: string }>('select e::text as row from endpoints e where id = $1', [made.id]);
      for (const secret of secrets) {
        for (const { row } of stored) {
          expect(row).not.toContain(secret.slice('whsec_'.length));
          expect(row).not.toContain(Buffer.from(secret).toString('hex'));
        }
      }
      expectStatus(204, await developer.portal.deleteEndpoint(made.id));
    });

    test('a deleted webhook endpoint is 404 on every route', async () => {
      const { id } = await newEndpoint();
      const kept = await newEndpoint();
      const deleted = expectStatus(204, await developer.portal.deleteEndpoint(id));
      expect(deleted.text).toBe('');
      for (const gone of [
        await developer.portal.getEndpoint(id),
        await developer.portal.updateEndpoint(id, { active: true }),
        await developer.portal.rotateSecret(id),
        await developer.portal.sendTest(id),
        await developer.portal.listDeliveries(id),
        await developer.portal.deleteEndpoint(id),
      ]) {
        expectError(404, 'not_found', gone);
      }
      expect(await idsOf(developer)).toEqual([kept.id]);
      expectStatus(204, await developer.portal.deleteEndpoint(kept.id));
    });

    test('a webhook endpoint that is off is sent nothing on request either', async () => {
      const { id } = await newEndpoint();
      expectStatus(200, await developer.portal.updateEndpoint(id, { active: false }));
      expectError(409, 'conflict', await developer.portal.sendTest(id));
      expect(expectStatus(200, await developer.portal.listDeliveries(id)).body).toEqual({
        data: [],
        next_cursor: null,
      });
      expectStatus(204, await developer.portal.deleteEndpoint(id));
    });
  });

  describe('the webhook endpoints of a developer', () => {
    test('a developer has at most 20 webhook endpoints, also in parallel, and may add one after a deletion', async () => {
      const owner = await world.newDeveloper();
      const other = await world.newDeveloper();
      const at = (index: number) => createPortal(gateways[index % 2] as HttpClient, owner.portal.token);
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, index) => at(index).createEndpoint({ url: UNUSED_URL })),
      );
      const made = answers.filter(({ status }) => status === 201);
      const refused = answers.filter(({ status }) => status !== 201);
      expect(made).toHaveLength(MAX_ENDPOINTS);
      for (const answer of refused) expectError(409, 'conflict', answer);
      expect(new Set(made.map(({ body }) => body.signing_secret)).size).toBe(MAX_ENDPOINTS);
      const ids = await idsOf(owner);
      expect(new Set(ids)).toEqual(new Set(made.map(({ body }) => body.id)));

      // One that is off counts; another developer's does not.
      const [first = '', second = ''] = ids;
      expectStatus(200, await owner.portal.updateEndpoint(first, { active: false }));
      expectError(409, 'conflict', await owner.portal.createEndpoint({ url: UNUSED_URL }));
      await newEndpoint(other);
      expectStatus(204, await owner.portal.deleteEndpoint(first));
      expectStatus(204, await owner.portal.deleteEndpoint(second));
      const again = await Promise.all(
        Array.from({ length: 6 }, (_, index) => at(index).createEndpoint({ url: UNUSED_URL })),
      );
      expect(again.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409, 409, 409]);
      const times = expectStatus(200, await owner.portal.listEndpoints()).body.data.map((one) => one.created_at);
      expect(times).toEqual([...times].sort());
    });

    test('parallel changes and a deletion of one webhook endpoint each answer its state', async () => {
      const owner = await world.newDeveloper();
      const { id } = await newEndpoint(owner);
      const at = (index: number) => createPortal(gateways[index % 2] as HttpClient, owner.portal.token);
      const answers: Promise<Answer<unknown>>[] = [];
      for (let index = 0; index < 10; index += 1) {
        answers.push(
          at(index).updateEndpoint(id, { active: index % 2 === 0 }),
          at(index).rotateSecret(id),
          at(index).getEndpoint(id),
          ...(index % 4 === 2 ? [at(index).deleteEndpoint(id)] : []),
        );
      }
      const statuses = (await Promise.all(answers)).map(({ status }) => status);
      expect(statuses.filter((status) => status === 204)).toHaveLength(1);
      expect(new Set([...statuses, 200, 204, 404])).toEqual(new Set([200, 204, 404]));
      expectError(404, 'not_found', await owner.portal.getEndpoint(id));
    });
  });

  describe('bad input to the webhook endpoints', () => {
    /** A valid body, for each route that takes one. */
    interface Target {
      readonly method: string;
      readonly path: string;
      readonly good: Fields;
    }
    let create: Target;
    let change: Target;
    let session: Target;
    let endpoint: EndpointBody;
    beforeAll(async () => {
      endpoint = await newEndpoint();
      const path = '/webhook-endpoints';
      create = { method: 'POST', path, good: { url: UNUSED_URL } };
      change = { method: 'PATCH', path: `${path}/${endpoint.id}`, good: { description: 'changed' } };
      session = { method: 'POST', path: '/session', good: { email: developer.email, password: developer.password } };
    });

    /** All are refused, and none of them changes a row. */
    async function expectAllRefused(
      { method, path }: Target,
      cases: readonly (readonly [what: string, options: SendOptions])[],
    ): Promise<void> {
      expect(cases.length).toBeGreaterThan(0);
      const before = await world.digest();
      for (const [what, options] of cases) {
        const { status, code, text } = await developer.portal.send(method, path, options);
        expect({ what, status, code }, text.slice(0, 300)).toEqual({ what, status: 400, code: 'invalid_request' });
      }
      expect(await world.digest()).toEqual(before);
    }
    const refuseFields = (target: Target, cases: readonly Case[]) =>
      expectAllRefused(
        target,
        cases.map(([what, fields]) => [what, { raw: toJson({ ...target.good, ...fields }) }]),
      );

    const URL_CASES: Case[] = [
      ...each('url', { ...BAD_TEXT, null: null, empty: '' }),
      ...BAD_URLS.map((url): Case => [`url: ${url.slice(0, 80)}`, { url }]),
    ];
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

    test('no webhook endpoint is made from an invalid field', () =>
      refuseFields(create, [
        ...URL_CASES,
        ['url: absent', { url: ABSENT }],
        ...EVENT_CASES,
        ...each('events', { null: null }),
        ...each('program_id', {
          ...NOT_A_STRING,
          empty: '',
          'a word': 'nonsense',
          'one digit too long': `${developer.program.id}0`,
          'in braces': `{${developer.program.id}}`,
          'without hyphens': developer.program.id.replaceAll('-', ''),
          'with NUL': raw(`"${developer.program.id}\\u0000"`),
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
      await refuseFields(change, [
        ...URL_CASES,
        ...EVENT_CASES,
        ...each('events', { null: null }),
        ...DESCRIPTION_CASES,
        ...each('description', { null: null }),
        ...each('active', { null: null, 'a string': 'true', 'a number': 1, 'an array': [true], 'an object': {} }),
        // The program and the environment of an endpoint cannot change.
        ...each('program_id', { one: developer.program.id, null: null }),
        ...each('environment', { one: 'test', null: null }),
        ...UNKNOWN_FIELDS,
        ['nothing', { description: ABSENT }],
      ]);
      expect(expectStatus(200, await developer.portal.getEndpoint(endpoint.id)).body).toEqual(endpoint);
    });

    test('no portal session starts with an invalid field', () =>
      refuseFields(session, [
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
      for (const target of [create, change, session]) {
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
      const { id } = endpoint;
      const before = await world.digest();
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
        'cursor=nonsense',
        'cursor=%00',
        `cursor=${randomUUID()}`,
        `cursor=${'a'.repeat(256)}`,
        `cursor=${Buffer.from('{"createdAt":"now","id":1}').toString('base64url')}`,
        'cursor=a&cursor=b',
      ]) {
        const answer = await developer.portal.send('GET', `/webhook-endpoints/${id}/deliveries?${query}`);
        expect({ query, status: answer.status, code: answer.code }).toEqual({
          query,
          status: 400,
          code: 'invalid_request',
        });
      }
      expect(await world.digest()).toEqual(before);
    });

    test('a body on a route that takes none has no effect', async () => {
      const { id } = await newEndpoint();
      for (const raw of ['{', 'x'.repeat(300_000), '{"url":"http://evil.example"}']) {
        const rotated = await developer.portal.send('POST', `/webhook-endpoints/${id}/rotate-secret`, { raw });
        expect(expectStatus(200, rotated).body).toMatchObject({ id, url: UNUSED_URL });
      }
      expectStatus(204, await developer.portal.send('DELETE', `/webhook-endpoints/${id}`, { raw: '{' }));
    });
  });

  test('no secret, password, token, e-mail or body is in any log', async () => {
    const owner = await world.newDeveloper();
    const email = `${randomUUID()}@example.com`;
    const password = `password ${randomUUID()}`;
    const wrong = { email: `${randomUUID()}@example.com`, password: `guess ${randomUUID()}` };
    const answered = `answer-${randomUUID()}`;
    const path = `token-${randomUUID()}`;
    const description = `description-${randomUUID()}`;
    expectStatus(201, await world.operator.createDeveloper({ email, password }));
    expectError(409, 'conflict', await world.operator.createDeveloper({ email, password }));
    const { token } = expectStatus(201, await signIn(world.http, { email, password })).body;
    expectStatus(401, await signIn(world.http, wrong));
    expectStatus(401, await signIn(world.http, { email, password: wrong.password }));
    const cookie = { cookie: `laurel_session=${token}`, 'sec-fetch-site': 'same-origin' };
    expectStatus(200, await world.http.send('GET', '/api/portal/programs', { headers: cookie }));
    expectStatus(204, await world.http.send('DELETE', '/api/portal/session', { headers: cookie }));
    const bad = { url: `https://user:${path}@example.com/`, description };
    expectError(400, 'invalid_request', await owner.portal.createEndpoint(bad));

    // An event that is accepted, one that is refused until no send is left, one without a listener, and one that is sent again.
    const hook = await world.newReceiver(owner, { description, answer: { body: answered } });
    const url = `${hook.receiver.url}/${path}?key=${path}`;
    expectStatus(200, await owner.portal.updateEndpoint(hook.endpoint.id, { url }));
    const refusing = await world.newReceiver(owner, { answer: { status: 500, body: answered } });
    const silent = await world.newReceiver(owner, { answer: 'reset' });
    const { signing_secret: rotated } = expectStatus(200, await owner.portal.rotateSecret(hook.endpoint.id)).body;
    const { test_key } = expectStatus(200, await owner.portal.replaceTestKey(owner.program.id)).body;
    const partner = createPartner(world.http, test_key);
    const challenge = await world.newChallenge({}, owner.program);
    const ref = `ref-${randomUUID()}`;
    expectStatus(201, await partner.createPlayer(ref, '10.00'));
    const entry = { challenge_id: challenge.id, player_ref: ref };
    const attempt = expectStatus(201, await partner.createAttempt(entry)).body;
    expectStatus(200, await partner.reportOutcome(attempt.id, { score: 100 }));
    const arrived = await hook.event('attempt.settled', attempt.id);
    await hook.delivery(arrived.deliveryId);
    for (const failing of [refusing, silent]) {
      const { deliveryId } = await failing.event('attempt.settled', attempt.id);
      expect((await failing.delivery(deliveryId)).status).toBe('failed');
    }
    const again = expectStatus(202, await owner.portal.resend(arrived.deliveryId)).body;
    await hook.delivery(again.delivery_id);

    const secrets: Record<string, string> = {
      email,
      password,
      token,
      'a session': owner.portal.token,
      'an unknown e-mail': wrong.email,
      'a wrong password': wrong.password,
      'a secret': hook.secret,
      'a secret without its prefix': hook.secret.slice('whsec_'.length),
      'a rotated secret': rotated.slice('whsec_'.length),
      'a key': test_key,
      'a replaced key': owner.program.test.apiKey,
      'the operator’s token': world.stack.operatorToken,
      'a URL’s secret part': path,
      'a description': description,
      'an answer': answered,
      'a body': arrived.body.toString(),
      'a body in hexadecimal': arrived.body.toString('hex').slice(0, 60),
      'a body in base64': arrived.body.toString('base64').slice(0, 60),
      'a signature': String(arrived.headers['x-webhook-signature']).slice('sha256='.length),
      'a part of a body': '"player_ref"',
      'a player': ref,
    };
    for (const service of SERVICES) {
      const log = world.stack.logs(service).join('\n');
      const found = Object.keys(secrets).filter((what) => log.includes(secrets[what] as string));
      expect(found, `${service} logs a secret`).toEqual([]);
    }
    // The log still has what was done.
    const gateway = world.stack.logs('gateway').join('\n');
    for (const logged of [owner.id, hook.endpoint.id, 'replace_test_key', 'rotate_webhook_secret', 'sign_out']) {
      expect(gateway).toContain(logged);
    }
    await world.expectAuditOk();
  });
});
