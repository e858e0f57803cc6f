import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openChannelIdentity } from '@laurel/grpc';
import { SERVICE_NAMES } from '@laurel/topology';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { keepIdentities } from './identities.ts';
import { StartFailure } from './start-failure.ts';

let directory: string;
let folder: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'laurel-identities-'));
  folder = join(directory, 'identities');
});
afterEach(() => rmSync(directory, { recursive: true }));

const nats = { hosts: ['localhost', '127.0.0.1'], prefix: 'laurel', tls: true };
const modeOf = (file: string) => statSync(file).mode & 0o777;

test('each service gets its own certificate and a key that only its owner can read', async () => {
  const { filesOf } = await keepIdentities({ folder, nats });
  for (const service of SERVICE_NAMES) {
    const files = filesOf(service);
    const certificate = new X509Certificate(readFileSync(files.certificate));
    expect(certificate.subjectAltName).toBe(`URI:spiffe://laurel/${service}`);
    expect(certificate.verify(new X509Certificate(readFileSync(files.ca)).publicKey)).toBe(true);
    expect(modeOf(files.key)).toBe(0o600);
    const logger = { warn: () => undefined, error: () => undefined };
    using _ = await openChannelIdentity({ files, reloadMs: 600_000, logger });
  }
  expect(modeOf(folder)).toBe(0o700);
  expect(modeOf(join(folder, 'authority', 'tls.key'))).toBe(0o600);
});

test('each start issues new certificates under the same authority', async () => {
  const first = await keepIdentities({ folder, nats });
  const read = ({ certificate, ca }: { certificate: string; ca: string }) => [
    new X509Certificate(readFileSync(certificate)).serialNumber,
    readFileSync(ca, 'utf8'),
  ];
  const [serial, authority] = read(first.filesOf('wallet'));
  const second = await keepIdentities({ folder, nats });
  const again = read(second.filesOf('wallet'));
  expect(again[0]).not.toBe(serial);
  expect(again[1]).toBe(authority);
  expect(second.natsPasswords).toEqual(first.natsPasswords);
  expect(new Set(Object.values(first.natsPasswords)).size).toBe(3);
});

test.each(['', '{"wallet":', 'null', '[1]', '{"challenge":""}'])(
  'a file of NATS passwords that contains %j is refused and stays unchanged',
  async (content) => {
    await keepIdentities({ folder, nats });
    const file = join(folder, 'nats-passwords.json');
    writeFileSync(file, content);
    const failure = await keepIdentities({ folder, nats }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StartFailure);
    expect(String(failure)).toContain(`${file} cannot be read`);
    expect(readFileSync(file, 'utf8')).toBe(content);
  },
);

test('the configuration of NATS names its users and the path of its certificate', async () => {
  const { natsConfigurationFile, natsPasswords } = await keepIdentities({ folder, nats });
  const read = () => JSON.parse(readFileSync(natsConfigurationFile, 'utf8'));
  expect(modeOf(natsConfigurationFile)).toBe(0o600);
  expect(read().authorization.users.map(({ user }: { user: string }) => user)).toEqual(Object.keys(natsPasswords));
  expect(read().tls.cert_file).toBe(join(dirname(natsConfigurationFile), 'tls.crt'));
  expect(read().jetstream).toBeUndefined();
  const container = { folder: '/run/identity', monitoring: '127.0.0.1:8222', maxStoreBytes: 1_000_000_000 };
  await keepIdentities({ folder, nats: { ...nats, container }, keyMode: 0o644 });
  expect([read().tls.key_file, read().http]).toEqual(['/run/identity/tls.key', '127.0.0.1:8222']);
  expect(read().jetstream).toEqual({ max_file_store: 1_000_000_000 });
  expect(modeOf(natsConfigurationFile)).toBe(0o644);
  await keepIdentities({ folder, nats: { ...nats, tls: false } });
  expect(read().tls).toBeUndefined();
});

test('a damaged authority of the services is reported in one sentence', async () => {
  await keepIdentities({ folder, nats });
  writeFileSync(join(folder, 'authority', 'tls.crt'), 'nonsense');
  await expect(keepIdentities({ folder, nats })).rejects.toThrow(
    `The certificate authority in ${join(folder, 'authority')} is damaged: delete that folder, and the next start makes a new one.`,
  );
});
