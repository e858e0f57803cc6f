import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { EgressResult } from './exchange.ts';
import {
  addressRecords,
  blackHole,
  egressOf,
  hello,
  post,
  SHORT_MS,
  serve,
  serveDns,
  serveRaw,
  summaryOf,
  TIMEOUT_AFTER_SEND_MS,
} from './receiver.fixture.ts';

const OK_HEAD = 'HTTP/1.1 200 OK\r\n';

/**
 * The result of a request whose response is exactly these bytes, followed by the connection's end.
 */
async function answeredWith(bytes: string | Buffer, limits: { maxBodyBytes?: number } = {}): Promise<EgressResult> {
  await using receiver = await serveRaw((socket) => socket.end(bytes));
  await using egress = egressOf();
  return await post(egress, `https://127.0.0.1:${receiver.port}/`, limits);
}

describe('an egress request', () => {
  it('an egress request arrives unchanged', async () => {
    let [received, head]: [Buffer, IncomingMessage | null] = [Buffer.alloc(0), null];
    await using receiver = await serve(async (request, response) => {
      head = request;
      received = Buffer.concat(await request.toArray());
      response.end();
    });
    await using egress = egressOf();
    const body = Buffer.from('{"a":"\0ü"}');
    const headers = { 'Content-Type': 'application/json', 'X-Webhook-Signature': 'sha256=00' };
    await post(egress, `https://127.0.0.1:${receiver.port}/hooks?a=1`, { headers, body });
    expect(received).toEqual(body);
    expect(head).toMatchObject({
      method: 'POST',
      url: '/hooks?a=1',
      headers: {
        host: `127.0.0.1:${receiver.port}`,
        connection: 'keep-alive',
        'accept-encoding': 'identity',
        'content-type': 'application/json',
        'x-webhook-signature': 'sha256=00',
        'content-length': String(body.length),
      },
    });
    await post(egress, `https://127.0.0.1:${receiver.port}/`, { method: 'GET', body: undefined });
    expect([head, received]).toMatchObject([{ method: 'GET' }, Buffer.alloc(0)]);
  });

  it.each([
    ...[
      'Host',
      'connection',
      'Keep-Alive',
      'Proxy-Connection',
      'proxy-authorization',
      'TE',
      'trailer',
      'Upgrade',
      'expect',
    ],
    ...['Transfer-Encoding', 'content-length', 'Accept-Encoding', 'with space', 'colon:', ''],
  ])('an egress request with the header %j throws TypeError', async (name) => {
    await using receiver = await serve(hello);
    await using egress = egressOf();
    const sent = post(egress, `https://127.0.0.1:${receiver.port}/`, { headers: { [name]: '1' } });
    await expect(sent).rejects.toThrow(TypeError);
    expect(receiver.connections).toHaveLength(0);
  });

  it('an egress request with a line break in a header throws TypeError', async () => {
    await using egress = egressOf();
    const sent = post(egress, 'https://127.0.0.1:1024/', { headers: { a: '1\r\nhost: b' } });
    await expect(sent).rejects.toThrow(TypeError);
  });
});

describe('a response to an egress request', () => {
  it('a response has its status, headers, body and phases', async () => {
    await using receiver = await serve((request, response) => {
      response.writeHead(202, { 'X-Note': 'a\u00e9', 'Set-Cookie': ['a=1', 'b=2'] });
      hello(request, response);
    });
    await using dns = await serveDns((type, name) => addressRecords(type, name, ['127.0.0.1']));
    await using egress = egressOf({ dnsServers: [dns.address] });
    const number = expect.any(Number);
    const url = `https://receiver.test:${receiver.port}/`;
    expect(await post(egress, url)).toEqual({
      kind: 'answer',
      status: 202,
      headers: expect.objectContaining({ 'x-note': 'a\u00e9', 'set-cookie': ['a=1', 'b=2'] }),
      body: Buffer.from('hello'),
      isTruncated: false,
      timings: { dnsMs: number, connectMs: number, waitMs: number, readMs: number },
    });
    // The second request neither resolves nor connects.
    const timings = { dnsMs: null, connectMs: null, waitMs: number, readMs: number };
    expect(await post(egress, url)).toMatchObject({ status: 202, timings });
    const literal = await post(egress, `https://127.0.0.1:${receiver.port}/`);
    expect(literal.timings).toEqual({ dnsMs: null, connectMs: number, waitMs: number, readMs: number });
  });

  it('localhost resolves to this machine without a DNS query', async () => {
    await using receiver = await serve(hello);
    await using dns = await serveDns(() => {
      throw new Error('the name server was asked');
    });
    await using egress = egressOf({ dnsServers: [dns.address] });
    expect(summaryOf(await post(egress, `https://localhost:${receiver.port}/`))).toBe('200 hello');
  });

  it.each([200, 204, 299, 301, 304, 307, 400, 410, 429, 500, 503, 599, 999])(
    'egress returns a response with status %d and does not act on it',
    async (status) => {
      let requests = 0;
      await using receiver = await serve((request, response) => {
        requests += 1;
        response.writeHead(status, { location: '/elsewhere', 'retry-after': '0', 'content-length': 0 });
        request.resume().on('end', () => response.end());
      });
      await using egress = egressOf();
      const result = await post(egress, `https://127.0.0.1:${receiver.port}/`);
      expect(result).toMatchObject({ kind: 'answer', status, isTruncated: false, body: Buffer.alloc(0) });
      expect(requests).toBe(1);
    },
  );

  it('the returned response is the final one after informational responses', async () => {
    const early = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n';
    expect(summaryOf(await answeredWith(`${early}${OK_HEAD}content-length: 2\r\n\r\nok`))).toBe('200 ok');
  });

  it('a compressed response is not decompressed', async () => {
    const bomb = gzipSync(Buffer.alloc(10_000_000));
    const head = Buffer.from(`${OK_HEAD}content-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`);
    const result = await answeredWith(Buffer.concat([head, bomb]), { maxBodyBytes: 100_000 });
    expect(result).toMatchObject({ kind: 'answer', status: 200, isTruncated: false, body: bomb });
  });

  it('a response keeps every byte', async () => {
    const body = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const head = Buffer.from(`${OK_HEAD}content-length: 256\r\n\r\n`);
    expect(await answeredWith(Buffer.concat([head, body]))).toMatchObject({ body });
  });

  it('a response that exactly reaches the size limit is complete', async () => {
    const whole = `${OK_HEAD}content-length: 10\r\n\r\n0123456789`;
    expect(summaryOf(await answeredWith(whole, { maxBodyBytes: 10 }))).toBe('200 0123456789');
    expect(summaryOf(await answeredWith(whole, { maxBodyBytes: 9 }))).toBe('200 012345678...');
    expect(summaryOf(await answeredWith(whole, { maxBodyBytes: 0 }))).toBe('200 ...');
    const chunked = `${OK_HEAD}transfer-encoding: chunked\r\n\r\n5\r\n01234\r\n5\r\n56789\r\n0\r\n\r\n`;
    expect(summaryOf(await answeredWith(chunked, { maxBodyBytes: 7 }))).toBe('200 0123456...');
    expect(summaryOf(await answeredWith(chunked))).toBe('200 0123456789');
    expect(summaryOf(await answeredWith(`${OK_HEAD}\r\nuntil the end`))).toBe('200 until the end');
  });

  it('a response that never ends is cut off', async () => {
    const closed = Promise.withResolvers<void>();
    await using receiver = await serve((_, response) => {
      const more = () => {
        while (response.write(Buffer.alloc(65_536, 'x')));
      };
      response.on('drain', more).on('close', closed.resolve);
      more();
    });
    await using egress = egressOf();
    const result = await post(egress, `https://127.0.0.1:${receiver.port}/`, { maxBodyBytes: 1_000 });
    expect(summaryOf(result)).toBe(`200 ${'x'.repeat(1_000)}...`);
    await closed.promise;
  });

  it('a response whose body stalls, breaks off or is malformed is judged by its status', async () => {
    const closed = Promise.withResolvers<void>();
    await using stalling = await serveRaw((socket) => {
      socket.on('close', closed.resolve);
      socket.write(`${OK_HEAD}content-length: 100\r\n\r\npart`);
    });
    await using egress = egressOf();
    const stalled = await post(egress, `https://127.0.0.1:${stalling.port}/`, { timeoutMs: TIMEOUT_AFTER_SEND_MS });
    expect(summaryOf(stalled)).toBe('200 part...');
    await closed.promise;
    await using resetting = await serveRaw((socket) =>
      socket.write(`${OK_HEAD}content-length: 100\r\n\r\npart`, () => socket.destroy()),
    );
    expect(summaryOf(await post(egress, `https://127.0.0.1:${resetting.port}/`))).toBe('200 part...');
    expect(summaryOf(await answeredWith(`${OK_HEAD}content-length: 100\r\n\r\npart`))).toBe('200 part...');
    expect(summaryOf(await answeredWith(`${OK_HEAD}transfer-encoding: chunked\r\n\r\n4\r\npart\r\nzz\r\n`))).toBe(
      '200 part...',
    );
  });
});

describe('an egress request without a response', () => {
  it.each([
    ['an end', ''],
    ['half a head', `${OK_HEAD}content-le`],
    ['nonsense', 'SSH-2.0-OpenSSH_9.9\r\n\r\n'],
    ['no status', 'HTTP/1.1 OK\r\n\r\n'],
    ['a status below all others', 'HTTP/1.1 099 Low\r\ncontent-length: 0\r\n\r\n'],
    ['a status of four digits', 'HTTP/1.1 2000 High\r\ncontent-length: 0\r\n\r\n'],
    ['a head that is too large', `${OK_HEAD}a: ${'a'.repeat(20_000)}\r\n\r\n`],
    ['a head of too many lines', `${OK_HEAD}${'a: b\r\n'.repeat(20_000)}\r\n`],
    ['two lengths', `${OK_HEAD}content-length: 1\r\ncontent-length: 2\r\n\r\nab`],
    ['a length and chunks', `${OK_HEAD}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['a permission that was not requested', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['another protocol that was not requested', 'HTTP/1.1 101 Switching\r\nupgrade: a\r\nconnection: upgrade\r\n\r\n'],
  ])('a server that sends %s is a protocol failure', async (_, bytes) => {
    expect(await answeredWith(bytes)).toEqual({
      kind: 'failure',
      error: 'protocol',
      message: 'The connection ended without a valid HTTP answer.',
      timings: { dnsMs: null, connectMs: expect.any(Number), waitMs: expect.any(Number), readMs: null },
    });
  });

  it('a response head that arrives slowly times out', async () => {
    await using receiver = await serveRaw((socket) => {
      socket.write(OK_HEAD);
      const drip = setInterval(() => socket.write('a: b\r\n'), 10);
      socket.on('close', () => clearInterval(drip));
    });
    await using egress = egressOf();
    const result = await post(egress, `https://127.0.0.1:${receiver.port}/`, { timeoutMs: TIMEOUT_AFTER_SEND_MS });
    expect(result).toEqual({
      kind: 'failure',
      error: 'timeout',
      message: 'No answer came in time.',
      timings: { dnsMs: null, connectMs: expect.any(Number), waitMs: expect.any(Number), readMs: null },
    });
  });

  it('a request times out if all phases together take too long', async () => {
    const timeoutMs = 400;
    const shareMs = timeoutMs / 2;
    await using receiver = await serve((_, response) => {
      setTimeout(() => response.writeHead(200).flushHeaders(), shareMs);
    });
    await using dns = await serveDns((type, name) => addressRecords(type, name, ['127.0.0.1']), shareMs);
    await using egress = egressOf({ dnsServers: [dns.address] });
    const result = await post(egress, `https://receiver.test:${receiver.port}/`, { timeoutMs });
    expect(summaryOf(result)).toBe('timeout');
    const { dnsMs, connectMs, waitMs } = result.timings;
    expect((dnsMs ?? 0) + (connectMs ?? 0) + (waitMs ?? 0)).toBeGreaterThan(shareMs);
  });

  it('a cancelled request fails as aborted, before and after it was sent', async () => {
    const arrived = Promise.withResolvers<void>();
    await using receiver = await serve(() => arrived.resolve());
    await using egress = egressOf();
    const url = `https://127.0.0.1:${receiver.port}/`;
    const giveUp = new AbortController();
    const sent = post(egress, url, { signal: giveUp.signal });
    await arrived.promise;
    giveUp.abort();
    expect(await sent).toMatchObject({ error: 'aborted', message: 'The request was given up.' });
    expect(await post(egress, url, { signal: giveUp.signal })).toMatchObject({ error: 'aborted' });
    expect(receiver.connections).toHaveLength(1);
  });

  it('stopping the process aborts every request and closes every connection', async () => {
    const [arrived, closed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await using receiver = await serve((request) => {
      request.socket.on('close', closed.resolve);
      arrived.resolve();
    });
    await using hole = await blackHole();
    await using dns = await serveDns(() => 'silence');
    const egress = egressOf({ dnsServers: [dns.address] });
    const urls = [`https://127.0.0.1:${receiver.port}/`, `https://127.0.0.1:${hole.port}/`, 'https://receiver.test/'];
    const sent = urls.map((url) => post(egress, url));
    await arrived.promise;
    await egress[Symbol.asyncDispose]();
    expect((await Promise.all(sent)).map(summaryOf)).toEqual(['aborted', 'aborted', 'aborted']);
    expect(summaryOf(await post(egress, urls[0] ?? ''))).toBe('aborted');
    await closed.promise;
  });
});

describe('connections of egress', () => {
  it('connections are kept and reused', async () => {
    await using receiver = await serve(hello);
    await using egress = egressOf();
    for (let sent = 0; sent < 10; sent++) {
      expect(summaryOf(await post(egress, `https://127.0.0.1:${receiver.port}/${sent}`))).toBe('200 hello');
    }
    expect(receiver.connections).toHaveLength(1);
  });

  it('egress opens as many connections as requests need, up to the limit of the origin', async () => {
    await using receiver = await serve(hello);
    await using egress = egressOf({ connectionsPerOrigin: 3 });
    const url = `https://127.0.0.1:${receiver.port}/`;
    const results = await Promise.all(Array.from({ length: 20 }, () => post(egress, url)));
    expect(new Set(results.map(summaryOf))).toEqual(new Set(['200 hello']));
    expect(receiver.connections).toHaveLength(3);
  });

  it('connections that the other side closed are opened again', async () => {
    await using receiver = await serve(hello);
    await using egress = egressOf();
    const url = `https://127.0.0.1:${receiver.port}/`;
    for (let round = 0; round < 3; round++) {
      expect(summaryOf(await post(egress, url))).toBe('200 hello');
      const socket = receiver.connections.at(-1) as Socket;
      socket.end();
      await once(socket, 'close');
    }
    expect(receiver.connections).toHaveLength(3);
  });

  it('a request on a connection that breaks is never sent twice', async () => {
    let requests = 0;
    await using receiver = await serve((request, response) => {
      requests += 1;
      if (requests === 1) hello(request, response);
      else request.socket.destroy();
    });
    await using egress = egressOf();
    const url = `https://127.0.0.1:${receiver.port}/`;
    expect(summaryOf(await post(egress, url))).toBe('200 hello');
    expect(summaryOf(await post(egress, url))).toBe('protocol');
    expect(summaryOf(await post(egress, url, { method: 'GET', body: undefined }))).toBe('protocol');
    expect(requests).toBe(3);
  });

  it('the connections of the least recently used origin are closed when there are too many', async () => {
    await using first = await serve(hello);
    await using second = await serve(hello);
    await using third = await serve(hello);
    await using egress = egressOf({ maxOrigins: 2 });
    const urlOf = ({ port }: { port: number }) => `https://127.0.0.1:${port}/`;
    await post(egress, urlOf(first));
    await post(egress, urlOf(second));
    await post(egress, urlOf(first));
    const closed = once(second.connections[0] as Socket, 'close');
    await post(egress, urlOf(third));
    await closed;
    await post(egress, urlOf(first));
    expect([first, second, third].map(({ connections }) => connections.length)).toEqual([1, 1, 1]);
    expect(summaryOf(await post(egress, urlOf(second)))).toBe('200 hello');
  });

  it('a connection is opened only for a request that waits for it', async () => {
    await using dns = await serveDns(() => 'silence');
    await using egress = egressOf({ dnsServers: [dns.address], connectionsPerOrigin: 1 });
    const requests = Array.from({ length: 5 }, () => post(egress, 'https://receiver.test/', { timeoutMs: SHORT_MS }));
    expect(new Set((await Promise.all(requests)).map(summaryOf))).toEqual(new Set(['timeout']));
    await egress[Symbol.asyncDispose]();
    expect(dns.questions.toSorted()).toEqual(['A receiver.test', 'AAAA receiver.test']);
  });
});
