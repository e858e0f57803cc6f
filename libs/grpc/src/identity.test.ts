/**
 * Which caller may call which rpc, with real certificates over real connections, and with
 * certificates that change while connections are open.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { type ConnectionOptions, connect, TLSSocket } from 'node:tls';
import { credentials, makeGenericClientConstructor, status } from '@grpc/grpc-js';
import { refused } from '@laurel/errors';
import {
  type CertificateAuthority,
  createCertificateAuthority,
  type KeyPair,
  openCertificateAuthority,
} from '@laurel/local-infrastructure/certificate-authority';
import { WalletServiceService } from '@laurel/proto/wallet';
import { metrics } from '@laurel/telemetry';
import { service as healthService } from 'grpc-health-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { AcceptedCallers, Caller } from './caller.ts';
import { openChannelIdentity } from './channel-identity.ts';
import { createTestCertificates } from './identity.fixture.ts';
import { ALL_RPCS, createWalletFixture, failureOf, type WalletHandlers, type WalletRpc } from './wallet.fixture.ts';

type Accepted = AcceptedCallers<WalletServiceService>;

let stack: AsyncDisposableStack;
let fixture: ReturnType<typeof createWalletFixture>;
let certificates: Awaited<ReturnType<typeof createTestCertificates>>;

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  fixture = createWalletFixture(stack);
  certificates = await createTestCertificates(stack);
});
afterEach(() => stack.disposeAsync());

const deny = { awardId: 'a' };
const forAll = (callers: readonly Exclude<Caller, 'unknown' | undefined>[]) =>
  Object.fromEntries(ALL_RPCS.map((rpc) => [rpc, callers])) as unknown as Accepted;

/** A wallet that records its callers; only the gateway may call Audit. */
async function serveWallet() {
  const seen: Caller[] = [];
  const identity = await certificates.identityOf('wallet');
  const callers = { ...forAll(['gateway', 'challenge']), audit: ['gateway'] } as Accepted;
  const server = await fixture.serve(
    {
      denyPayout: async (_, { caller }) => {
        seen.push(caller);
        return refused('not_found');
      },
      audit: async (_, { caller }) => {
        seen.push(caller);
        return { checks: [] };
      },
    },
    0,
    5_000,
    { identity, callers },
  );
  return { port: server.port, seen, identity };
}

type Forge = (ca: CertificateAuthority, service: string, wrongUsage: 'serverAuth' | 'clientAuth') => Promise<KeyPair>;

const BOTH_USAGES = ['serverAuth', 'clientAuth'] as const;

/**
 * Certificates of the test's authority that are valid for no service. A call by an `unknown` caller
 * is refused only after the handshake.
 */
const FORGERIES: readonly { of: string; caller?: 'unknown'; forge: Forge }[] = [
  {
    of: 'that has expired',
    forge: (ca, service) => ca.issue({ names: [], service, notAfter: new Date(Date.now() - 60_000) }),
  },
  {
    of: 'that is not valid yet',
    forge: (ca, service) => ca.issue({ names: [], service, notBefore: new Date(Date.now() + 60_000) }),
  },
  {
    of: 'that is for the other end',
    forge: (ca, service, wrongUsage) => ca.issue({ names: [], service, usages: [wrongUsage] }),
  },
  {
    of: 'of two services',
    caller: 'unknown',
    forge: (ca, service) => ca.issue({ names: [], service, uris: ['spiffe://laurel/challenge'] }),
  },
  {
    of: 'of a service and of somewhere else',
    caller: 'unknown',
    forge: (ca, service) => ca.issue({ names: [], service, uris: ['https://example.com'] }),
  },
  {
    of: 'whose common name and host name are the service',
    caller: 'unknown',
    forge: (ca, service) => ca.issue({ names: [service], commonName: service, usages: BOTH_USAGES }),
  },
  {
    of: 'whose host name looks like several names',
    caller: 'unknown',
    forge: (ca, service) =>
      ca.issue({ names: [`a, URI:spiffe://laurel/${service}, DNS:b`], usages: BOTH_USAGES, commonName: service }),
  },
  {
    of: 'that a service signed with its own',
    forge: async (ca, service) => {
      const signer = await ca.issue({ names: [], service: 'webhook' });
      const { certificate, key } = await (await openCertificateAuthority(signer)).issue({ names: [], service });
      return { certificate: certificate + signer.certificate, key };
    },
  },
];

describe.each<{ way: string; hot: readonly WalletRpc[] }>([
  { way: 'unary', hot: [] },
  { way: 'over the multiplexer', hot: ALL_RPCS },
])('a call that is made $way', ({ hot }) => {
  const quick = { hot, deadlineMs: 2_000 };

  test('an rpc accepts only the services that its rules name', async () => {
    const { port, seen } = await serveWallet();
    const gateway = fixture.connect(port, { ...quick, identity: await certificates.identityOf('gateway') });
    const challenge = fixture.connect(port, { ...quick, identity: await certificates.identityOf('challenge') });
    expect(await gateway.audit({})).toEqual({ checks: [] });
    expect(await challenge.denyPayout(deny)).toEqual(refused('not_found'));
    expect(seen).toEqual(['gateway', 'challenge']);

    expect(await failureOf(challenge.audit({}))).toMatchObject({ code: status.PERMISSION_DENIED, definite: true });
    expect(seen).toHaveLength(2);
    const rpc = '/laurel.wallet.v1.WalletService/Audit';
    expect(fixture.logged).toContainEqual({
      fields: { rpc, caller: 'challenge', reason: 'the rpc does not accept this caller' },
      message: 'call not permitted',
    });
    expect(await metrics.metrics()).toContain(
      `laurel_grpc_calls_not_permitted_total{rpc="${rpc}",caller="challenge"} `,
    );
  });

  test('a call with a certificate that names no Laurel service is refused', async () => {
    const { port, seen } = await serveWallet();
    const unknown = fixture.connect(port, { ...quick, identity: await certificates.identityOf('nats') });
    expect(await failureOf(unknown.audit({}))).toMatchObject({ code: status.PERMISSION_DENIED });
    expect(seen).toEqual([]);
  });

  test('a call without a certificate of the trusted authority is not accepted', async () => {
    const { port, seen } = await serveWallet();
    const other = await certificates.identityOf('gateway', await createCertificateAuthority());
    for (const identity of [undefined, other]) {
      const caller = fixture.connect(port, { ...quick, identity });
      expect(await failureOf(caller.audit({}))).toMatchObject({ code: status.UNAVAILABLE });
    }
    const { audit } = WalletServiceService;
    const Anonymous = makeGenericClientConstructor({ audit }, 'Wallet');
    const anonymous = new Anonymous(
      `127.0.0.1:${port}`,
      credentials.createSsl(Buffer.from(certificates.authority.certificate), null, null, {
        checkServerIdentity: () => undefined,
      }),
    );
    stack.defer(() => anonymous.close());
    const error = await new Promise((resolve) =>
      // biome-ignore lint/complexity/useLiteralKeys: the rpc is only known at run time.
      anonymous['audit']?.({}, { deadline: Date.now() + 2_000 }, (failure: unknown) => resolve(failure)),
    );
    expect(error).toMatchObject({ code: status.UNAVAILABLE });
    expect(seen).toEqual([]);
  });

  test.each(FORGERIES)('a server accepts no call with a certificate $of', async ({ forge, caller }) => {
    const { port, seen } = await serveWallet();
    const identity = await certificates.identityWith(await forge(certificates.authority, 'gateway', 'serverAuth'));
    const failure = await failureOf(fixture.connect(port, { ...quick, identity }).audit({}));
    expect(failure).toMatchObject({ code: caller === 'unknown' ? status.PERMISSION_DENIED : status.UNAVAILABLE });
    expect(seen).toEqual([]);
  });

  test.each(FORGERIES)('a client calls no server with a certificate $of', async ({ forge }) => {
    const seen: unknown[] = [];
    const audit = async (request: unknown) => ({ checks: [], seen: seen.push(request) });
    const forged = await certificates.identityWith(await forge(certificates.authority, 'wallet', 'clientAuth'));
    const { port } = await fixture.serve({ audit }, 0, 5_000, { identity: forged });
    const identity = await certificates.identityOf('gateway');
    const failure = await failureOf(fixture.connect(port, { ...quick, identity }).audit({}));
    expect(failure).toMatchObject({ code: status.UNAVAILABLE });
    expect(seen).toEqual([]);
  });

  test('a call reaches only the intended service, whatever the address', async () => {
    const handlers: Partial<WalletHandlers> = { audit: async () => ({ checks: [] }) };
    const impostor = await fixture.serve(handlers, 0, 5_000, { identity: await certificates.identityOf('webhook') });
    const foreign = await certificates.identityOf('wallet', await createCertificateAuthority());
    const forged = await fixture.serve(handlers, 0, 5_000, { identity: foreign });
    const right = await fixture.serve(handlers, 0, 5_000, { identity: await certificates.identityOf('wallet') });
    const identity = await certificates.identityOf('gateway');
    for (const { port } of [impostor, forged]) {
      expect(await failureOf(fixture.connect(port, { ...quick, identity }).audit({}))).toMatchObject({
        code: status.UNAVAILABLE,
      });
    }
    for (const target of [`127.0.0.1:${right.port}`, `localhost:${right.port}`, `ipv4:127.0.0.1:${right.port}`]) {
      expect(await fixture.connect(target, { ...quick, identity }).audit({})).toEqual({ checks: [] });
    }
  });

  test('a new call uses the current certificates', async () => {
    const { port, identity: ofServer } = await serveWallet();
    const ofClient = await certificates.identityOf('gateway');
    const open = fixture.connect(port, { ...quick, identity: ofClient });
    expect(await open.audit({})).toEqual({ checks: [] });

    // Another authority replaces the first: both ends get its certificates and trust only it.
    const next = await createCertificateAuthority('the next one');
    for (const { name, files, service } of [
      { ...ofServer, service: 'wallet' },
      { ...ofClient, service: 'gateway' },
    ]) {
      await certificates.write(name, { service, ca: next });
      writeFileSync(files.ca, next.certificate);
    }
    await ofServer.reload();
    expect(await open.audit({})).toEqual({ checks: [] });
    const late = await certificates.identityOf('gateway');
    expect(await failureOf(fixture.connect(port, { ...quick, identity: late }).audit({}))).toMatchObject({
      code: status.UNAVAILABLE,
    });
    await ofClient.reload();
    expect(await fixture.connect(port, { ...quick, identity: ofClient }).audit({})).toEqual({ checks: [] });
    expect(await open.audit({})).toEqual({ checks: [] });
  });
});

test('an unusable certificate file is logged once and changes nothing', async () => {
  const logged: { message: string }[] = [];
  const identity = await certificates.identityOf('wallet', undefined, logged);
  await fixture.serve({ audit: async () => ({ checks: [] }) }, 0, 5_000, { identity }).then(async ({ port }) => {
    const works = async () =>
      expect(await fixture.connect(port, { identity: await certificates.identityOf('gateway') }).audit({})).toEqual({
        checks: [],
      });
    const other = await certificates.authority.issue({ names: [], service: 'wallet' });
    for (const break_ of [
      () => writeFileSync(identity.files.certificate, 'nonsense'),
      () => writeFileSync(identity.files.certificate, other.certificate),
      () => writeFileSync(identity.files.ca, ''),
    ]) {
      break_();
      logged.length = 0;
      await identity.reload();
      await identity.reload();
      expect(logged).toEqual([{ message: 'certificates could not be read again; the old ones stay' }]);
      await works();
      await certificates.write(identity.name, { service: 'wallet' });
      await identity.reload();
      expect(logged.at(-1)).toEqual({ message: 'certificates were read again' });
      await works();
    }
  });
});

test('opening a channel identity with unusable files fails', async () => {
  const files = await certificates.write('wallet');
  writeFileSync(files.key, 'nonsense');
  const opening = openChannelIdentity({ files, reloadMs: 2_000_000, logger: fixture.logger });
  await expect(opening).rejects.toThrow();
});

test('a certificate is read once per stream of hot calls, not once per call', async () => {
  const { port } = await serveWallet();
  const gateway = fixture.connect(port, { hot: ['audit'], identity: await certificates.identityOf('gateway') });
  await gateway.audit({});
  const read = vi.spyOn(TLSSocket.prototype, 'getPeerCertificate');
  try {
    for (let call = 0; call < 5; call += 1) await gateway.audit({});
    expect(read).not.toHaveBeenCalled();
  } finally {
    read.mockRestore();
  }
});

/** Returns TLS options with the gateway's certificate; they verify no server. */
async function gatewayTlsOptions(): Promise<ConnectionOptions> {
  const files = await certificates.write('gateway');
  const [cert, key] = [readFileSync(files.certificate), readFileSync(files.key)];
  return { cert, key, ALPNProtocols: ['h2'], rejectUnauthorized: false };
}

/**
 * Resolves with the session ticket and whether a ticket resumed the session, or with the reason why
 * the server rejected the connection.
 */
function dial(
  port: number,
  options: ConnectionOptions,
): Promise<{ ticket: Buffer | undefined; resumed: boolean } | string> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', ...options });
    stack.defer(() => void socket.destroy());
    let ticket: Buffer | undefined;
    socket.on('session', (session) => {
      ticket = session;
    });
    // The server sends its tickets first, then data once it has accepted the caller.
    socket.on('data', () => resolve({ ticket, resumed: socket.isSessionReused() }));
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    // The server sends nothing if it does not accept the certificate.
    socket.on('close', () => resolve('closed'));
  });
}

test('no TLS session is resumed by a ticket', async () => {
  const { port, identity } = await serveWallet();
  const shown = await gatewayTlsOptions();
  const first = await dial(port, shown);
  if (typeof first === 'string' || first.ticket === undefined) throw new Error(`was not let in: ${String(first)}`);
  const { ticket: session } = first;
  expect(await dial(port, { ...shown, session })).toMatchObject({ resumed: false });
  const { cert: _cert, key: _key, ...nothing } = shown;
  expect(await dial(port, { ...nothing, session })).toBe('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED');

  const next = await createCertificateAuthority('the next one');
  await certificates.write(identity.name, { service: 'wallet', ca: next });
  writeFileSync(identity.files.ca, next.certificate);
  await identity.reload();
  expect(await dial(port, { ...shown, session })).toMatch(/^(closed|ECONNRESET)$/);
});

test('a stream that was opened with an earlier certificate closes with its connection', async () => {
  const identity = await certificates.identityOf('wallet');
  const connectionAge = { limitMs: 200, graceMs: 100 };
  const { port } = await fixture.serve({}, 0, 5_000, { identity, connectionAge });
  const session = connectHttp2(`https://127.0.0.1:${port}`, await gatewayTlsOptions());
  stack.defer(() => session.destroy());
  const stream = session.request(
    {
      ':method': 'POST',
      ':path': '/laurel.wire.v1.ExchangeService/Exchange',
      'content-type': 'application/grpc',
      te: 'trailers',
    },
    { endStream: false },
  );
  const answered = Promise.withResolvers<unknown>();
  const gone = Promise.withResolvers<void>();
  stream.on('response', (headers) => answered.resolve(headers[':status']));
  stream.on('error', answered.reject);
  session.on('error', () => {});
  session.on('close', gone.resolve);
  expect(await answered.promise).toBe(200);
  stream.removeAllListeners('error').on('error', () => {});
  await gone.promise;
});

test('a TLS handshake that fails is counted, and logged with its reason', async () => {
  const { port } = await serveWallet();
  const count = async () => {
    const metric = metrics.getSingleMetric('laurel_grpc_handshakes_failed_total');
    return (await metric?.get())?.values[0]?.value ?? 0;
  };
  const before = await count();
  const shown = await gatewayTlsOptions();
  const expired = await certificates.authority.issue({
    names: [],
    service: 'gateway',
    notAfter: new Date(Date.now() - 60_000),
  });
  await dial(port, { ...shown, cert: expired.certificate, key: expired.key });
  await dial(port, { ALPNProtocols: ['h2'], rejectUnauthorized: false });
  await vi.waitFor(async () => expect((await count()) - before).toBe(2), 10_000);
  expect(fixture.logged).toEqual([
    {
      fields: { reason: 'CERT_HAS_EXPIRED', unlogged: 0 },
      message: 'a TLS handshake failed',
    },
  ]);
  await dial(port, shown);
  expect((await count()) - before).toBe(2);
});

test('the health service answers every caller with a certificate', async () => {
  const { port } = await serveWallet();
  const HealthClient = makeGenericClientConstructor(healthService, 'Health');
  const identity = await certificates.identityOf('nats');
  const health = new HealthClient(`127.0.0.1:${port}`, identity.channelCredentials('wallet'), {
    'grpc.ssl_target_name_override': 'wallet',
  });
  stack.defer(() => health.close());
  const answer = await new Promise((resolve, reject) =>
    // biome-ignore lint/complexity/useLiteralKeys: the rpc is only known at run time.
    health['check']?.({ service: '' }, (error: unknown, answer: unknown) => (error ? reject(error) : resolve(answer))),
  );
  expect(answer).toEqual({ status: 'SERVING' });
});
