import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { natsConfiguration } from '@laurel/events/nats-configuration';
import { createCertificateAuthority } from '@laurel/local-infrastructure/certificate-authority';
import { killOrphanedNats, type NatsProcess, startNatsProcess } from '@laurel/local-infrastructure/nats-process';
import { obtainNats } from '@laurel/local-infrastructure/nats-server';
import type { NatsUser } from '@laurel/topology';
import { freePorts } from './free-ports.ts';
import { removeLeftovers } from './leftovers.ts';
import { memoryFolder } from './memory-folder.ts';

/**
 * Names the address of this test run's nats-server, as its operator. Every process of the run
 * inherits the variable. Each test uses its own prefix on the server.
 */
export const NATS_URL_VARIABLE = 'LAUREL_TEST_NATS_URL';

/** The folder where a fetched nats-server is kept between runs. */
const KEPT_BELOW = fileURLToPath(new URL('../../../node_modules/.cache/laurel', import.meta.url));
const DIRECTORY_PREFIX = 'laurel-test-nats-';
const OBTAIN_LIMIT_MS = 180_000;

/**
 * A server for tests. Its URL is for the operator, who may do everything; `urlForUser` returns a
 * service's URL.
 */
export type TestNats = NatsProcess & {
  /** The authority of the server's certificate, if the server has one. */
  readonly caFile: string | undefined;
  /** Every server of the cluster. The members of NatsProcess are about the first server. */
  readonly servers: readonly NatsProcess[];
};

/**
 * Starts a server, for the whole run or for a test that kills, stops or wipes it. Disposing ends
 * the server and removes its folder. The server has the users of production, for stacks with any
 * prefix, all with one password. Several servers form a cluster, and the URL names each server.
 */
export async function startNats({
  tls = false,
  servers: count = 1,
}: {
  readonly tls?: boolean;
  readonly servers?: number;
} = {}): Promise<TestNats> {
  const file = await obtainNats(
    KEPT_BELOW,
    (line) => process.stderr.write(`${line}\n`),
    AbortSignal.timeout(OBTAIN_LIMIT_MS),
  );
  const parent = memoryFolder();
  await removeLeftovers(DIRECTORY_PREFIX, killOrphanedNats, parent);
  const directory = await mkdtemp(join(parent, `${DIRECTORY_PREFIX}${process.pid}-`));
  const password = randomBytes(16).toString('hex');
  const certificates = tls ? await writeCertificates(directory) : undefined;
  const configurationFile = join(directory, 'nats.conf');
  await writeFile(
    configurationFile,
    natsConfiguration({
      prefix: '*',
      passwords: { operator: password, challenge: password, tournament: password, webhook: password },
      tls: certificates,
    }),
    { mode: 0o600 },
  );
  const ports = count > 1 ? await freePorts(count) : [];
  const others = await Promise.all(
    ports.slice(1).map(() => mkdtemp(join(parent, `${DIRECTORY_PREFIX}${process.pid}-`))),
  );
  const directories = [directory, ...others];
  const servers = await Promise.all(
    directories.map((own, index) => {
      const port = ports[index];
      const place = port !== undefined && { cluster: { cluster: 'laurel', server: `server-${index}`, port, ports } };
      return startNatsProcess({ file, directory: own, configurationFile, ...place });
    }),
  );
  const [first] = servers;
  if (first === undefined) throw new Error('a NATS of no servers');
  return {
    ...first,
    servers,
    url: servers.map(({ url }) => url.replace('//', `//operator:${password}@`)).join(),
    caFile: certificates?.ca,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
      await Promise.all(directories.map((own) => rm(own, { recursive: true, force: true })));
    },
  };
}

/** Returns the URL for another user of the servers; unchanged if the URL names no user. */
export function urlForUser(user: NatsUser, url: string): string {
  return url.replaceAll('//operator:', `//${user}:`);
}

async function writeCertificates(directory: string) {
  const authority = await createCertificateAuthority();
  const issued = await authority.issue({ names: ['localhost', '127.0.0.1'] });
  const files = {
    certificate: join(directory, 'certificate.pem'),
    key: join(directory, 'key.pem'),
    ca: join(directory, 'ca.pem'),
  };
  await writeFile(files.certificate, issued.certificate);
  await writeFile(files.key, issued.key, { mode: 0o600 });
  await writeFile(files.ca, authority.certificate);
  return files;
}

/** Returns the URL of the test run's server. */
export function natsUrl(): string {
  const url = process.env[NATS_URL_VARIABLE];
  if (url === undefined) throw new Error(`${NATS_URL_VARIABLE} is not set: the test run has no NATS`);
  return url;
}
