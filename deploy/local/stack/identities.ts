import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { natsConfiguration } from '@laurel/events/nats-configuration';
import type { CertificateAuthority } from '@laurel/local-infrastructure/certificate-authority';
import { NATS_USERS, type NatsUser, SERVICE_NAMES, type ServiceName } from '@laurel/topology';
import { keepAuthority } from './kept-authority.ts';
import { writePrivate } from './secrets.ts';
import { StartFailure } from './start-failure.ts';

/** File names in a folder of certificates, and the keys of its Secret in Kubernetes. */
const CERTIFICATE = 'tls.crt';
const KEY = 'tls.key';
const AUTHORITY = 'ca.crt';

/**
 * A certificate for each service and for NATS, and the users of NATS. An authority that only these
 * services trust issues the certificates.
 * The authority and the passwords are generated once and kept. Each call issues new certificates,
 * valid for 800 days, and rewrites the configuration of NATS.
 */
export interface Identities {
  /** The paths of a service's certificate, key and authority. */
  readonly filesOf: (service: ServiceName) => {
    readonly certificate: string;
    readonly key: string;
    readonly ca: string;
  };
  readonly natsConfigurationFile: string;
  readonly natsPasswords: Readonly<Record<NatsUser, string>>;
}

export async function keepIdentities(options: {
  readonly folder: string;
  readonly nats: {
    /** Names and addresses under which services reach NATS. */
    readonly hosts: readonly string[];
    readonly prefix: string;
    readonly tls: boolean;
    /**
     * For a NATS in a container: the folder of its certificate as the container sees it, the
     * address of its health check, and how much it may store. By default NATS runs on this machine.
     */
    readonly container?: { readonly folder: string; readonly monitoring: string; readonly maxStoreBytes: number };
  };
  /**
   * Only the owner can read keys, unless the folder is mounted into containers that run as another
   * user.
   */
  readonly keyMode?: number;
}): Promise<Identities> {
  const { folder, nats, keyMode = 0o600 } = options;
  // Other users of this machine cannot enter the folder, whatever the modes of its files.
  makeFolder(folder, 0o700);
  const authorityFolder = join(folder, 'authority');
  makeFolder(authorityFolder, 0o700);
  const authority = await keepAuthority({
    name: 'Laurel between services',
    certificate: join(authorityFolder, CERTIFICATE),
    key: join(authorityFolder, KEY),
  });
  const filesOf = (name: string) => {
    const directory = join(folder, name);
    return { certificate: join(directory, CERTIFICATE), key: join(directory, KEY), ca: join(directory, AUTHORITY) };
  };
  const issue = async (name: string, request: Parameters<CertificateAuthority['issue']>[0]) => {
    makeFolder(join(folder, name), 0o755);
    const files = filesOf(name);
    const issued = await authority.issue(request);
    replace(files.key, issued.key, keyMode);
    replace(files.certificate, issued.certificate, 0o644);
    replace(files.ca, authority.certificate, 0o644);
  };
  for (const service of SERVICE_NAMES) await issue(service, { names: [], service });
  await issue('nats', { names: nats.hosts });

  const passwords = keepPasswords(join(folder, 'nats-passwords.json'));
  const ofNats = filesOf('nats');
  const seen = nats.container;
  const tls =
    seen === undefined
      ? { certificate: ofNats.certificate, key: ofNats.key }
      : { certificate: `${seen.folder}/${CERTIFICATE}`, key: `${seen.folder}/${KEY}` };
  const natsConfigurationFile = join(folder, 'nats', 'nats.conf');
  replace(
    natsConfigurationFile,
    natsConfiguration({
      prefix: nats.prefix,
      passwords,
      tls: nats.tls ? tls : undefined,
      ...(seen && { monitoring: seen.monitoring, maxStoreBytes: seen.maxStoreBytes }),
    }),
    keyMode,
  );
  return { filesOf, natsConfigurationFile, natsPasswords: passwords };
}

function keepPasswords(file: string): Record<NatsUser, string> {
  const kept = readPasswords(file);
  const passwordOf = (user: NatsUser) => kept[user] ?? randomBytes(24).toString('hex');
  const passwords = Object.fromEntries(NATS_USERS.map((user) => [user, passwordOf(user)])) as Record<NatsUser, string>;
  writePrivate(file, `${JSON.stringify(passwords, null, 2)}\n`);
  return passwords;
}

/**
 * Does not replace damaged passwords: running services and a running NATS still use the kept ones.
 */
function readPasswords(file: string): Partial<Record<NatsUser, string>> {
  if (!existsSync(file)) return {};
  try {
    const kept: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof kept === 'object' && kept !== null && Object.values(kept).every(isPassword)) return kept;
  } catch {
    // The failure below reports a file that is no JSON.
  }
  throw new StartFailure(
    `${file} cannot be read. It has the passwords of NATS's users: restore it from a backup, or delete it, and the next start makes new ones.`,
  );
}

const isPassword = (kept: unknown) => typeof kept === 'string' && kept !== '';

function makeFolder(folder: string, mode: number): void {
  mkdirSync(folder, { recursive: true, mode });
  chmodSync(folder, mode);
}

/** Atomic: a reader sees the old content or the new one. */
function replace(file: string, content: string, mode: number): void {
  const draft = `${file}.${process.pid}.draft`;
  writeFileSync(draft, content, { mode });
  chmodSync(draft, mode);
  renameSync(draft, file);
}
