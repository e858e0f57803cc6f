import { once } from 'node:events';
import http from 'node:http';
import { networkInterfaces } from 'node:os';
import { createCertificateAuthority } from '@laurel/local-infrastructure/certificate-authority';
import { NO_CIDRS } from '@laurel/untrusted-url';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  AUTHORITY,
  addressRecords,
  blackHole,
  type DnsReply,
  egressOf,
  hello,
  post,
  SHORT_MS,
  serve,
  serveDns,
  servePlain,
  summaryOf,
  UNUSED_ADDRESS,
} from './receiver.fixture.ts';

const HAS_IPV6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === '::1'),
);

afterEach(() => {
  vi.unstubAllEnvs();
});

/** The result of a request to https://receiver.test if the name resolves to these addresses. */
async function requestTo(addresses: readonly string[], port: number): Promise<string> {
  await using dns = await serveDns((type, name) => addressRecords(type, name, addresses));
  await using egress = egressOf({ dnsServers: [dns.address] });
  return summaryOf(await post(egress, `https://receiver.test:${port}/`));
}

describe('a connection by name', () => {
  it('a connection by name verifies the certificate for that name', async () => {
    let [host, servername]: [unknown, unknown] = [null, null];
    await using receiver = await serve((request, response) => {
      [host, servername] = [request.headers.host, (request.socket as unknown as { servername: string }).servername];
      hello(request, response);
    });
    await using dns = await serveDns((type, name) => addressRecords(type, name, ['127.0.0.1']));
    await using egress = egressOf({ dnsServers: [dns.address] });
    expect(summaryOf(await post(egress, `https://Receiver.TEST:${receiver.port}/`))).toBe('200 hello');
    expect({ host, servername }).toEqual({ host: `receiver.test:${receiver.port}`, servername: 'receiver.test' });
    expect(dns.questions.toSorted()).toEqual(['A receiver.test', 'AAAA receiver.test']);
  });

  it('a connection by name is refused if any address of the name is private', async () => {
    let addresses: readonly string[] = [];
    await using receiver = await serve(hello);
    await using dns = await serveDns((type, name) => addressRecords(type, name, addresses));
    await using egress = egressOf({ dnsServers: [dns.address] });
    const v4 = ['10.0.0.1', '169.254.169.254', '192.168.1.1', '127.0.0.3', '0.0.0.0'];
    const v6 = ['::', '::ffff:10.0.0.1', 'fd00::1', 'fe80::1', '64:ff9b::7f00:1', '2002:7f00:1::', '::7f00:1'];
    for (const address of [...v4, ...v6]) {
      for (addresses of [[address], ['127.0.0.1', address], [address, '127.0.0.1']]) {
        expect(summaryOf(await post(egress, `https://receiver.test:${receiver.port}/`))).toBe('blocked');
      }
    }
    expect(receiver.connections).toHaveLength(0);
  });

  it('a connection by name is refused if the name is an alias of a private name', async () => {
    await using receiver = await serve(hello);
    await using dns = await serveDns((type) => [
      { type: 'CNAME', name: 'receiver.test', ttl: 60, data: 'internal.test' },
      ...addressRecords(type, 'internal.test', ['10.0.0.1']),
    ]);
    await using egress = egressOf({ dnsServers: [dns.address] });
    expect(await post(egress, `https://receiver.test:${receiver.port}/`)).toMatchObject({
      kind: 'failure',
      error: 'blocked',
      message: 'The host is not a public address.',
    });
  });

  it('a connection by name uses only the addresses that were checked', async () => {
    let answers = 0;
    await using receiver = await serve((request, response) => {
      response.setHeader('connection', 'close');
      hello(request, response);
    });
    // A name server that gives the check one address, and another address to every later query.
    await using dns = await serveDns((type, name) => {
      if (type === 'A') answers += 1;
      return addressRecords(type, name, answers <= 1 ? ['127.0.0.1'] : ['10.0.0.1']);
    });
    await using egress = egressOf({ dnsServers: [dns.address] });
    const url = `https://receiver.test:${receiver.port}/`;
    expect(summaryOf(await post(egress, url))).toBe('200 hello');
    expect(summaryOf(await post(egress, url))).toBe('blocked');
    expect(receiver.connections).toHaveLength(1);
    expect(dns.questions.filter((question) => question.startsWith('A '))).toHaveLength(2);
  });

  it('a connection by name tries the next address when one address does not respond', async () => {
    await using receiver = await serve(hello);
    expect(await requestTo([UNUSED_ADDRESS, '127.0.0.1'], receiver.port)).toBe('200 hello');
    expect(await requestTo(['::1', '127.0.0.1'], receiver.port)).toBe('200 hello');
    await using hole = await blackHole(UNUSED_ADDRESS, receiver.port);
    await using dns = await serveDns((type, name) => addressRecords(type, name, [UNUSED_ADDRESS, '127.0.0.1']));
    await using egress = egressOf({ dnsServers: [dns.address] });
    const result = await post(egress, `https://receiver.test:${hole.port}/`, { timeoutMs: 2_000 });
    expect(summaryOf(result)).toBe('200 hello');
  });

  it.each([
    ['does not exist', () => 'NXDOMAIN'],
    ['has a server that fails', () => 'SERVFAIL'],
    ['has no address', () => []],
    ['leads to nowhere', () => [{ type: 'CNAME', name: 'receiver.test', ttl: 60, data: 'nowhere.test' }]],
  ] as [string, () => DnsReply][])('a connection by name fails as unresolved when the name %s', async (_, reply) => {
    await using dns = await serveDns(reply);
    await using egress = egressOf({ dnsServers: [dns.address] });
    expect(await post(egress, 'https://receiver.test/')).toEqual({
      kind: 'failure',
      error: 'dns',
      message: 'The host name could not be resolved.',
      timings: { dnsMs: expect.any(Number), connectMs: null, waitMs: null, readMs: null },
    });
  });

  it('a connection by name needs addresses of only one family', async () => {
    await using receiver = await serve(hello);
    await using dns = await serveDns((type, name) =>
      type === 'A' ? addressRecords(type, name, ['127.0.0.1']) : 'SERVFAIL',
    );
    await using egress = egressOf({ dnsServers: [dns.address] });
    expect(summaryOf(await post(egress, `https://receiver.test:${receiver.port}/`))).toBe('200 hello');
  });

  it('a connection by name times out when no name server answers', async () => {
    await using dns = await serveDns(() => 'silence');
    await using egress = egressOf({ dnsServers: [dns.address] });
    expect(await post(egress, 'https://receiver.test/', { timeoutMs: SHORT_MS })).toEqual({
      kind: 'failure',
      error: 'timeout',
      message: 'No answer came in time.',
      timings: { dnsMs: expect.any(Number), connectMs: null, waitMs: null, readMs: null },
    });
  });
});

describe('a connection by address', () => {
  it('a connection by address is made only to an allowed address', async () => {
    await using receiver = await serve(hello);
    await using egress = egressOf();
    const outcomes = async (host: string) => summaryOf(await post(egress, `https://${host}:${receiver.port}/`));
    expect(await outcomes('127.0.0.1')).toBe('200 hello');
    expect(await outcomes('2130706433')).toBe('200 hello');
    for (const host of ['127.0.0.3', '127.3', '10.0.0.1', '0.0.0.0', '[::]', '[::ffff:127.0.0.3]', '[fd00::1]']) {
      expect(await outcomes(host)).toBe('blocked');
    }
  });

  it('a connection by address requires a public address if no network is allowed', async () => {
    await using receiver = await serve(hello);
    await using egress = egressOf({ allowCidrs: NO_CIDRS });
    expect(summaryOf(await post(egress, `https://127.0.0.1:${receiver.port}/`))).toBe('blocked');
    expect(receiver.connections).toHaveLength(0);
  });

  it.skipIf(!HAS_IPV6)('a connection by address may use IPv6', async () => {
    await using receiver = await serve(hello, { host: '::1' });
    await using egress = egressOf();
    expect(summaryOf(await post(egress, `https://[::1]:${receiver.port}/`))).toBe('200 hello');
    expect(await requestTo(['::1'], receiver.port)).toBe('200 hello');
  });

  it('a connection by address is made only for a URL that passes the check', async () => {
    await using receiver = await serve(hello);
    await using egress = egressOf();
    const { port } = receiver;
    for (const url of [
      `http://127.0.0.1:${port}/`,
      `https://user@127.0.0.1:${port}/`,
      'https://127.0.0.1:22/',
      'nonsense',
    ]) {
      expect(summaryOf(await post(egress, url))).toBe('blocked');
    }
    expect(receiver.connections).toHaveLength(0);
  });

  it('a connection ignores the proxy settings of the environment', async () => {
    await using proxy = await servePlain((socket) => socket.destroy());
    for (const name of ['HTTPS_PROXY', 'https_proxy', 'ALL_PROXY']) vi.stubEnv(name, `http://127.0.0.1:${proxy.port}`);
    await using receiver = await serve(hello);
    await using egress = egressOf();
    expect(summaryOf(await post(egress, `https://127.0.0.1:${receiver.port}/`))).toBe('200 hello');
    expect(proxy.connections).toHaveLength(0);
  });

  it('a connection to a closed port fails with the kind connect', async () => {
    const receiver = await serve(hello);
    await receiver[Symbol.asyncDispose]();
    await using egress = egressOf();
    expect(await post(egress, `https://127.0.0.1:${receiver.port}/`)).toEqual({
      kind: 'failure',
      error: 'connect',
      message: 'No connection could be made.',
      timings: { dnsMs: null, connectMs: expect.any(Number), waitMs: null, readMs: null },
    });
  });

  it('a connection times out when the address does not answer', async () => {
    await using hole = await blackHole();
    await using egress = egressOf();
    expect(await post(egress, `https://127.0.0.1:${hole.port}/`, { timeoutMs: SHORT_MS })).toEqual({
      kind: 'failure',
      error: 'timeout',
      message: 'No answer came in time.',
      timings: { dnsMs: null, connectMs: expect.any(Number), waitMs: null, readMs: null },
    });
  });
});

describe('TLS', () => {
  const untrusted = 'The certificate is not signed by a trusted authority.';

  it('a TLS connection with an invalid certificate is refused', async () => {
    const other = await createCertificateAuthority();
    const past = new Date(Date.now() - 60_000);
    const { certificate, key } = await other.issue({ names: ['127.0.0.1'] });
    const pairs = [
      [{ certificate, key }, untrusted],
      [{ certificate: certificate + other.certificate, key }, untrusted],
      // The certificate is self-signed.
      [other, 'The certificate is not one of a server.'],
      [await AUTHORITY.issue({ names: ['other.test', '127.0.0.2'] }), 'The certificate is for another host name.'],
      [await AUTHORITY.issue({ names: ['127.0.0.1'], notAfter: past }), 'The certificate has expired.'],
    ] as const;
    await using egress = egressOf();
    for (const [pair, message] of pairs) {
      await using receiver = await serve(hello, { pair });
      expect(await post(egress, `https://127.0.0.1:${receiver.port}/`)).toEqual({
        kind: 'failure',
        error: 'tls',
        message,
        timings: { dnsMs: null, connectMs: expect.any(Number), waitMs: null, readMs: null },
      });
    }
  });

  it('the certificate is verified for the name, not for its address', async () => {
    const pair = await AUTHORITY.issue({ names: ['127.0.0.1', 'other.test'] });
    await using receiver = await serve(hello, { pair });
    expect(await requestTo(['127.0.0.1'], receiver.port)).toBe('tls');
  });

  it('only the system’s authorities and the configured one are trusted', async () => {
    await using receiver = await serve(hello);
    await using egress = egressOf({ ca: undefined });
    expect(await post(egress, `https://127.0.0.1:${receiver.port}/`)).toMatchObject({
      error: 'tls',
      message: untrusted,
    });
  });

  it('the certificate is verified whatever the environment sets', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    await using receiver = await serve(hello);
    await using egress = egressOf({ ca: undefined });
    expect(summaryOf(await post(egress, `https://127.0.0.1:${receiver.port}/`))).toBe('tls');
  });

  it('a plain HTTP server and one that hangs up during the handshake are TLS failures', async () => {
    await using egress = egressOf();
    const plain = http.createServer(hello).listen(0, '127.0.0.1');
    await once(plain, 'listening');
    const { port } = plain.address() as { port: number };
    expect(await post(egress, `https://127.0.0.1:${port}/`)).toMatchObject({
      error: 'tls',
      message: 'No TLS connection could be made.',
    });
    plain.close();
    await using hangsUp = await servePlain((socket) => socket.destroy());
    expect(summaryOf(await post(egress, `https://127.0.0.1:${hangsUp.port}/`))).toBe('tls');
  });

  it('a handshake that never completes times out and closes the connection', async () => {
    const closed = Promise.withResolvers<void>();
    await using silent = await servePlain((socket) => socket.resume().on('close', closed.resolve));
    await using egress = egressOf();
    expect(summaryOf(await post(egress, `https://127.0.0.1:${silent.port}/`, { timeoutMs: SHORT_MS }))).toBe('timeout');
    await closed.promise;
  });
});
