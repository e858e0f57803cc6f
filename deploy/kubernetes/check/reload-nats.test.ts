/**
 * The container beside each NATS server (../components/nats-reload), run as a process beside a real
 * server.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { connect as openSocket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as secure } from 'node:tls';
import { fileURLToPath } from 'node:url';
import {
  type CertificateAuthority,
  createCertificateAuthority,
} from '@laurel/local-infrastructure/certificate-authority';
import { type NatsProcess, startNatsProcess } from '@laurel/local-infrastructure/nats-process';
import { obtainNats } from '@laurel/local-infrastructure/nats-server';
import { afterEach, beforeEach, expect, test } from 'vitest';

const SCRIPT = fileURLToPath(new URL('../components/nats-reload/reload-nats.sh', import.meta.url));
const KEPT_BELOW = fileURLToPath(new URL('../../../node_modules/.cache/laurel', import.meta.url));
const SECONDS_BETWEEN_LOOKS = '0.05';

let opened: AsyncDisposableStack;
let folder: string;
let authority: CertificateAuthority;
let server: NatsProcess;
let versions = 0;

beforeEach(async () => {
  opened = new AsyncDisposableStack();
  folder = await mkdtemp(join(tmpdir(), 'laurel-reload-nats-'));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  authority = await createCertificateAuthority();
  const mounted = { certificate: join(folder, 'volume', 'tls.crt'), key: join(folder, 'volume', 'tls.key') };
  await mkdir(join(folder, 'volume'));
  for (const name of ['tls.crt', 'tls.key', 'users.conf'])
    await symlink(join('..data', name), join(folder, 'volume', name));
  await mount({ password: 'old' });
  const configurationFile = join(folder, 'nats.conf');
  await writeFile(
    configurationFile,
    `tls { cert_file: "${mounted.certificate}", key_file: "${mounted.key}" }\ninclude "volume/users.conf"\n`,
  );
  const file = await obtainNats(KEPT_BELOW, () => {}, AbortSignal.timeout(60_000));
  server = opened.use(await startNatsProcess({ file, directory: folder, configurationFile }));
});
afterEach(() => opened.disposeAsync());

/**
 * Puts a new certificate and the user's password where the server reads them, all at once, as
 * kubelet changes a volume. Returns the certificate.
 */
async function mount({ password }: { readonly password: string }): Promise<string> {
  const version = `..${++versions}`;
  const { certificate, key } = await authority.issue({ names: ['127.0.0.1'] });
  await mkdir(join(folder, 'volume', version));
  const files = {
    'tls.crt': certificate,
    'tls.key': key,
    'users.conf': `authorization { users: [{ user: "webhook", password: "${password}" }] }`,
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, 'volume', version, name), content);
  await symlink(version, join(folder, 'volume', '..data_tmp'));
  await rename(join(folder, 'volume', '..data_tmp'), join(folder, 'volume', '..data'));
  return certificate;
}

function startReloading(): void {
  const watched = ['tls.crt', 'tls.key', 'users.conf'].map((name) => join(folder, 'volume', name));
  const child = spawn('sh', [SCRIPT, join(folder, 'pid'), SECONDS_BETWEEN_LOOKS, ...watched], {
    stdio: 'ignore',
    detached: true,
  });
  opened.defer(async () => {
    const ended = once(child, 'exit');
    // The signal also ends the `sleep` that the process waits for.
    process.kill(-(child.pid ?? 0), 'SIGTERM');
    await ended;
  });
}

/**
 * What the server responds to a new client with this password (`PONG`, or why it was refused), and
 * the certificate that it showed.
 */
async function ask(password: string): Promise<{ readonly answer: string; readonly certificate: string }> {
  await using connection = new AsyncDisposableStack();
  const { hostname, port } = new URL(server.url);
  const plain = openSocket({ host: hostname, port: Number(port) });
  connection.defer(() => void plain.destroy());
  // A NATS server introduces itself before TLS begins.
  await once(plain, 'data');
  const socket = secure({ socket: plain, ca: authority.certificate, host: hostname });
  await once(socket, 'secureConnect');
  const certificate = socket.getPeerX509Certificate()?.toString() ?? '';
  socket.write(`CONNECT ${JSON.stringify({ verbose: false, user: 'webhook', pass: password })}\r\nPING\r\n`);
  const [answer] = await once(socket, 'data');
  return { answer: String(answer).trim(), certificate };
}

test('a NATS server presents a renewed certificate to its next client', async () => {
  startReloading();
  const renewed = await mount({ password: 'old' });
  await expect.poll(() => ask('old')).toEqual({ answer: 'PONG', certificate: renewed });
});

test('a NATS server accepts only the new password after a change', async () => {
  startReloading();
  const certificate = await mount({ password: 'new' });
  await expect.poll(() => ask('new')).toEqual({ answer: 'PONG', certificate });
  expect((await ask('old')).answer).toBe("-ERR 'Authorization Violation'");
});

test('a NATS server that was down during a renewal presents the renewed certificate', async () => {
  startReloading();
  await server.stop();
  const missed = await mount({ password: 'old' });
  await server.start();
  // The first signal after the server's start makes it read the same files again. Meanwhile the
  // server can refuse a client once.
  await expect.poll(() => ask('old')).toEqual({ answer: 'PONG', certificate: missed });
  const next = await mount({ password: 'old' });
  await expect.poll(() => ask('old')).toEqual({ answer: 'PONG', certificate: next });
});
