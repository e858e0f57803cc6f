import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type CertificateAuthority,
  createCertificateAuthority,
  openCertificateAuthority,
} from './certificate-authority.ts';

let authority: CertificateAuthority;
const servers: https.Server[] = [];

beforeAll(async () => {
  authority = await createCertificateAuthority();
});
afterAll(() => {
  for (const server of servers) server.close();
});

async function serve(names: readonly string[], dates: { notBefore?: Date; notAfter?: Date } = {}): Promise<number> {
  const { certificate, key } = await authority.issue({ names, ...dates });
  const server = https.createServer({ cert: certificate, key }, (_, response) => response.end('hello'));
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** `ok`, or why a client that trusts this authority rejected the certificate. */
async function dial(port: number, servername: string, ca?: string): Promise<string> {
  // An address is not sent as a server name, but the certificate must contain it.
  const socket = connect({ port, host: '127.0.0.1', servername, ...(ca !== undefined && { ca }) });
  try {
    await once(socket, 'secureConnect');
    return 'ok';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  } finally {
    socket.destroy();
  }
}

describe('an issued certificate', () => {
  it('an issued certificate is accepted by clients that trust the authority, for each of its names', async () => {
    const port = await serve(['receiver.test', '*.hooks.test', '127.0.0.1']);
    expect(await dial(port, 'receiver.test', authority.certificate)).toBe('ok');
    expect(await dial(port, 'a.hooks.test', authority.certificate)).toBe('ok');
    const answer = await new Promise<string>((resolve, reject) => {
      https
        .get({ host: '127.0.0.1', port, ca: authority.certificate, agent: false }, (response) =>
          response.setEncoding('utf8').on('data', resolve),
        )
        .on('error', reject);
    });
    expect(answer).toBe('hello');
  });

  it('clients that do not trust the authority refuse an issued certificate', async () => {
    const port = await serve(['receiver.test']);
    expect(await dial(port, 'receiver.test')).toBe('UNABLE_TO_VERIFY_LEAF_SIGNATURE');
    const other = await createCertificateAuthority();
    expect(await dial(port, 'receiver.test', other.certificate)).not.toBe('ok');
    expect(await dial(port, 'other.test', authority.certificate)).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
  });

  it('an issued certificate is refused before and after its validity period', async () => {
    const [past, future] = [new Date(Date.now() - 60_000), new Date(Date.now() + 60_000)];
    const expired = await serve(['receiver.test'], { notAfter: past });
    expect(await dial(expired, 'receiver.test', authority.certificate)).toBe('CERT_HAS_EXPIRED');
    const early = await serve(['receiver.test'], { notBefore: future });
    expect(await dial(early, 'receiver.test', authority.certificate)).toBe('CERT_NOT_YET_VALID');
  });

  it('an issued certificate is for servers only', async () => {
    const { certificate } = await authority.issue({ names: ['127.0.0.1', '::1', 'localhost'] });
    const parsed = new X509Certificate(certificate);
    expect(parsed.subjectAltName).toBe('IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, DNS:localhost');
    expect(parsed.ca).toBe(false);
    expect(parsed.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
    expect(parsed.verify(new X509Certificate(authority.certificate).publicKey)).toBe(true);
  });
});

describe('a saved authority', () => {
  it('a saved authority issues certificates that clients of the original trust', async () => {
    const { certificate, key } = authority;
    const opened = await openCertificateAuthority({ certificate, key });
    expect({ certificate: opened.certificate, key: opened.key }).toEqual({ certificate, key });
    const issued = new X509Certificate((await opened.issue({ names: ['receiver.test'] })).certificate);
    expect(issued.checkIssued(new X509Certificate(certificate))).toBe(true);
    expect(issued.verify(new X509Certificate(certificate).publicKey)).toBe(true);
  });

  it('a saved authority refuses to issue a certificate without a name', async () => {
    await expect(authority.issue({ names: [] })).rejects.toThrow(TypeError);
  });
});
