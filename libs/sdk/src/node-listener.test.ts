import { once } from 'node:events';
import { createServer, type ServerOptions } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { type NodeRequest, toNodeListener } from './node-listener.ts';
import { createPlayerHandler, type PlayerApi } from './player-handler.ts';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const ARM = 'a'.repeat(32);
const BODY = JSON.stringify({ arm_id: ARM, challenge_id: ID });
const HEAD = 'x-player: ann\r\nsec-fetch-site: same-origin\r\nconnection: close\r\n';

function createApi() {
  return {
    challenges: { list: vi.fn<PlayerApi['challenges']['list']>(async () => ({ data: [] })) },
    rounds: { leaderboard: vi.fn<PlayerApi['rounds']['leaderboard']>() },
    attempts: {
      create: vi.fn<PlayerApi['attempts']['create']>(() => Promise.reject(new Error('charged'))),
      retrieve: vi.fn<PlayerApi['attempts']['retrieve']>(),
    },
  };
}

async function startServer(options: ServerOptions = {}) {
  const api = createApi();
  const onError = vi.fn();
  const handler = createPlayerHandler({
    laurel: api,
    authenticate: ({ headers }) => headers.get('x-player'),
    onError,
  });
  const server = createServer(options, toNodeListener(handler));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  /** Sends bytes, then ends the connection if `isCut`. Returns the response as received. */
  const send = async (bytes: string, { isCut = false } = {}) => {
    const socket = connect(port, '127.0.0.1');
    let answer = '';
    socket.setEncoding('latin1').on('data', (text) => (answer += text));
    socket.on('error', () => {});
    socket.write(bytes, 'latin1');
    if (isCut) socket.end();
    await once(socket, 'close');
    return { status: Number(answer.slice(9, 12)), answer };
  };
  const stop = () => {
    server.closeAllConnections();
    return server[Symbol.asyncDispose]();
  };
  return { api, onError, send, [Symbol.asyncDispose]: stop };
}

describe('a server of node:http', () => {
  test.each<[string, number, string]>([
    ['a Host with a space', 400, `GET /laurel/challenges HTTP/1.1\r\nHost: a b\r\n${HEAD}\r\n`],
    ['a Host with a bracket', 400, `GET /laurel/challenges HTTP/1.1\r\nHost: [::1\r\n${HEAD}\r\n`],
    ['a Host with a port out of range', 400, `GET /laurel/challenges HTTP/1.1\r\nHost: a:99999\r\n${HEAD}\r\n`],
    ['a Host with a percent sign', 400, `GET /laurel/challenges HTTP/1.1\r\nHost: %00\r\n${HEAD}\r\n`],
    ['a Host with a path', 400, `GET /x HTTP/1.1\r\nHost: a/laurel/challenges?\r\n${HEAD}\r\n`],
    ['a Host with a user', 400, `GET /laurel/challenges HTTP/1.1\r\nHost: a@b\r\n${HEAD}\r\n`],
    ['a Host with a backslash', 400, `GET /laurel/challenges HTTP/1.1\r\nHost: a\\b\r\n${HEAD}\r\n`],
    ['a Host of Latin-1', 400, `GET /laurel/challenges HTTP/1.1\r\nHost: \u00ff\u0080\r\n${HEAD}\r\n`],
    ['an empty Host', 400, `GET /laurel/challenges HTTP/1.1\r\nHost:\r\n${HEAD}\r\n`],
    ['a missing Host', 400, `GET /laurel/challenges HTTP/1.1\r\n${HEAD}\r\n`],
    ['HTTP/1.0 without a Host', 200, `GET /laurel/challenges HTTP/1.0\r\n${HEAD}\r\n`],
    ['a Host of IPv6', 200, `GET /laurel/challenges HTTP/1.1\r\nHost: [::1]:80\r\n${HEAD}\r\n`],
    ['TRACE', 400, `TRACE /laurel/challenges HTTP/1.1\r\nHost: a\r\n${HEAD}\r\n`],
    ['OPTIONS of the server', 400, `OPTIONS * HTTP/1.1\r\nHost: a\r\n${HEAD}\r\n`],
    ['an absolute target of this host', 200, `GET http://A/laurel/challenges HTTP/1.1\r\nHost: a\r\n${HEAD}\r\n`],
    ['an absolute target of another', 400, `GET http://b/laurel/challenges HTTP/1.1\r\nHost: a\r\n${HEAD}\r\n`],
    ['an absolute target with a user', 400, `GET http://a@b/laurel/challenges HTTP/1.1\r\nHost: a\r\n${HEAD}\r\n`],
    ['a target of another scheme', 400, `GET ftp://a/laurel/challenges HTTP/1.1\r\nHost: a\r\n${HEAD}\r\n`],
    ['a path of two slashes', 200, `GET //b/challenges HTTP/1.1\r\nHost: a\r\n${HEAD}\r\n`],
    ['a header over two lines', 400, `GET /laurel/challenges HTTP/1.1\r\nHost: a\r\nx-a: b\r\n c\r\n${HEAD}\r\n`],
    ['a header of Latin-1', 200, `GET /laurel/challenges HTTP/1.1\r\nHost: a\r\nx-a: \u00e9\r\n${HEAD}\r\n`],
    ['a body on GET', 200, `GET /laurel/challenges HTTP/1.1\r\nHost: a\r\n${HEAD}content-length: 2\r\n\r\nab`],
    ['HEAD', 404, `HEAD /laurel/challenges HTTP/1.1\r\nHost: a\r\n${HEAD}\r\n`],
    ['DELETE with a body', 404, `DELETE /laurel/attempts HTTP/1.1\r\nHost: a\r\n${HEAD}content-length: 2\r\n\r\nab`],
  ])('%s is answered %i, and nothing is charged', async (_, status, bytes) => {
    await using server = await startServer();
    const { status: seen, answer } = await server.send(bytes);
    expect([seen, answer]).toEqual([status, expect.any(String)]);
    expect(server.api.attempts.create).not.toHaveBeenCalled();
    expect(server.onError).not.toHaveBeenCalled();
    // Node itself refuses what it cannot parse, without a body.
    if (answer.includes('content-type')) expect(answer.toLowerCase()).toContain('cache-control: no-store');
  });

  test('a CONNECT request ends the connection', async () => {
    await using server = await startServer();
    expect(await server.send('CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n')).toEqual({ status: 0, answer: '' });
  });

  test('a request that a lenient parser accepts and Fetch does not is a 400', async () => {
    await using server = await startServer({ insecureHTTPParser: true });
    for (const header of ['x-a: \0', 'x-a: a\rb']) {
      const { status } = await server.send(`GET /laurel/challenges HTTP/1.1\r\nHost: a\r\n${header}\r\n${HEAD}\r\n`);
      expect([header, status === 400 || status === 200]).toEqual([header, true]);
    }
  });

  test('a body that ends early charges nothing', async () => {
    await using server = await startServer();
    const post = `POST /laurel/attempts HTTP/1.1\r\nHost: a\r\n${HEAD}content-type: application/json\r\n`;
    const long = 'x'.repeat(200_000);
    expect((await server.send(`${post}content-length: ${long.length}\r\n\r\n${long}`)).status).toBe(400);
    await server.send(`${post}content-length: ${BODY.length + 1}\r\n\r\n${BODY}`, { isCut: true });
    await server.send(`${post}transfer-encoding: chunked\r\n\r\n${BODY.length.toString(16)}\r\n${BODY}\r\n`, {
      isCut: true,
    });
    await server.send(`${post}transfer-encoding: chunked\r\n\r\nzz\r\n`);
    // By now Node has seen the ends of the earlier connections; the next response comes after their
    // effects.
    expect((await server.send(`GET /laurel/challenges HTTP/1.1\r\nHost: a\r\n${HEAD}\r\n`)).status).toBe(200);
    expect(server.api.attempts.create).not.toHaveBeenCalled();
    expect(server.onError).not.toHaveBeenCalled();
  });
});

/** A request in the form in which a framework passes it. */
async function listen(incoming: Partial<NodeRequest>, handler?: (request: Request) => Promise<Response>) {
  const headers: Record<string, string> = {};
  let seen: Request | undefined;
  const keep = async (request: Request) => {
    seen = request;
    return new Response(await request.text());
  };
  const next = vi.fn();
  const outgoing = {
    statusCode: 0,
    setHeader: (name: string, value: string) => (headers[name] = value),
    end: (body: Uint8Array = new Uint8Array()) => (text = new TextDecoder().decode(body)),
  };
  let text = '';
  const request = Object.assign((async function* () {})(), { url: '/', headers: { host: 'a' }, ...incoming });
  await toNodeListener(handler ?? keep)(request, outgoing, handler === undefined ? next : undefined);
  expect(next).not.toHaveBeenCalled();
  return { status: outgoing.statusCode, headers, text, seen };
}

test('a malformed request is a 400 with a code that is not Laurel’s', async () => {
  for (const incoming of [
    { method: 'TRACE' },
    { method: 'CONNECT', url: 'a:443' },
    { method: 'TRACK' },
    { method: 'G ET' },
    { headers: { host: '' } },
    { headers: { host: ['a', 'b'] } },
    { headers: { host: 'a', 'x y': 'b' } },
    { headers: { host: 'a', x: 'a\nb' } },
    { headers: { host: 'a', x: '\u0100' } },
    { url: '' },
    { url: '*' },
    { url: 'a' },
  ]) {
    const { status, headers, text } = await listen(incoming);
    expect([incoming, status, headers['cache-control']]).toEqual([incoming, 400, 'no-store']);
    expect(JSON.parse(text)).toMatchObject({ error: { code: 'malformed_request' } });
  }
  const failed = await listen({}, () => Promise.reject(new Error('broken')));
  expect([failed.status, failed.headers['cache-control']]).toEqual([500, 'no-store']);
  expect(() => toNodeListener(undefined as never)).toThrow(TypeError);
});

test('the handler gets a request only with its own host and path; any other request is a 400', async () => {
  const host = fc.oneof(fc.constantFrom('a', 'a:80', '[::1]', 'a/b', 'a?b', 'a#b', 'a@b', '', ':', 'ä'), fc.string());
  const url = fc.oneof(fc.constantFrom('/', '//b/c', 'http://b/c', '?x', '*', '/\\b', '/%'), fc.string(), fc.webPath());
  await fc.assert(
    fc.asyncProperty(host, url, fc.constantFrom('GET', 'POST', 'TRACE', 'PUT'), async (name, target, method) => {
      const { status, seen } = await listen({ method, url: target, headers: { host: name }, body: '' });
      expect([200, 400]).toContain(status);
      if (seen === undefined) return;
      expect(new URL(seen.url).host).toBe(new URL(`http://${new Headers({ host: name }).get('host')}`).host);
      expect(seen.url).not.toContain('@a');
    }),
    { numRuns: 1_000 },
  );
});

test('a body that a parser has read reaches the handler with the same content', async () => {
  const headers = { host: 'a', 'content-type': 'application/json' };
  for (const body of [JSON.parse(BODY), BODY, Buffer.from(BODY)])
    expect((await listen({ method: 'POST', headers, body })).text).toBe(BODY);
});

test('the host of an HTTP/2 request is its authority', async () => {
  const { seen } = await listen({ headers: { ':authority': 'game.example.com', ':method': 'GET' } });
  expect(seen?.url).toBe('http://game.example.com/');
});
