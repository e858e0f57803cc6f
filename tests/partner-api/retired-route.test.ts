import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { joinWorld, type SharedWorld } from '../world.ts';

const GONE = { error: expect.stringMatching(/\S/), code: 'client_reporting_removed' };

describe('POST /api/attempts/{anything}/outcome (retired)', () => {
  let world: SharedWorld;
  beforeAll(async () => {
    world = await joinWorld();
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  test.each([
    ['without anything', randomUUID(), {}],
    ['with a body', randomUUID(), { body: { score: 1 } }],
    ['with bad JSON', randomUUID(), { raw: '{' }],
    ['with a body that is not a text', randomUUID(), { raw: Buffer.from([0, 0xff, 0xfe]) }],
    ['with a body above every limit', randomUUID(), { raw: Buffer.alloc(1024 * 1024, 'x') }],
    ['with an unknown encoding', randomUUID(), { raw: 'x', headers: { 'content-encoding': 'br' } }],
    ['with a malformed id', 'nonsense', {}],
    ['with a key', randomUUID(), { headers: { 'x-api-key': 'sk_test_nonsense' } }],
    ['with an escape that decodes to nothing', '%', {}],
    ['with an escape that is no UTF-8', '%ff%fe', {}],
    ['with half an escape', '%a', {}],
    ['with a NUL', '%00', {}],
    ['with slashes', 'a/b//c', {}],
    ['with an empty id', '', {}],
    ['with 8,000 characters', 'a'.repeat(8_000), {}],
    ['with dots', '..%2f..', {}],
  ])('the retired route answers 410 %s', async (_what, id, options) => {
    // The HTTP client would normalize the path.
    const answer = await rawPost(world, `/api/attempts/${id}/outcome`, options);
    expect(answer.status).toBe(410);
    expect(JSON.parse(answer.body)).toEqual(GONE);
  });

  test('the retired route is 410 even with a query', async () => {
    expect((await rawPost(world, '/api/attempts/x/outcome?a=%', {})).status).toBe(410);
  });

  test.each([
    '/api/attempts/outcome',
    '/api/attempts/x/outcome/',
    '/api/attempts/x/outcomes',
    '/api/attempts/x/Outcome',
  ])('a path that only resembles the retired route is 404: %s', async (path) => {
    expect((await rawPost(world, path, {})).status).toBe(404);
  });

  test.each(['GET', 'PUT', 'DELETE'])(
    'the retired route is 404 for %s, because only POST is retired',
    async (method) => {
      expect((await world.http.send(method, '/api/attempts/x/outcome')).status).toBe(404);
    },
  );
});

type RawOptions = { readonly body?: object; readonly raw?: string | Buffer; readonly headers?: Record<string, string> };

/** Sends a request as bytes, on a new connection. */
async function rawPost(world: SharedWorld, path: string, { body, raw, headers = {} }: RawOptions) {
  const { hostname, port } = new URL(world.stack.baseUrl);
  const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const bytes = sent === undefined ? Buffer.alloc(0) : Buffer.from(sent);
  const lines = Object.entries({
    Host: `${hostname}:${port}`,
    Connection: 'close',
    ...(sent !== undefined && { 'Content-Type': 'application/json', 'Content-Length': String(bytes.length) }),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  const socket = connect(Number(port), hostname);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  // A server that responds before the end of a large body may reset the connection after the
  // response.
  const closed = new Promise((resolve) => socket.on('error', () => undefined).on('close', resolve));
  await once(socket, 'connect');
  socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
  socket.write(bytes);
  await closed;
  const text = Buffer.concat(chunks).toString('utf8');
  const [head = '', answer = ''] = text.split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), body: answer };
}
