/**
 * The certificate that a process presents on channels between services. The other end must present
 * one of the same authority. The process reads the three files again every few seconds. After a
 * change, new connections use the new contents, and open ones go on. Unusable files, such as half
 * replaced ones, change nothing and are logged once.
 */
import { constants, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import {
  createSecureContext,
  createServer,
  type PeerCertificate,
  type SecureContextOptions,
  type Server,
} from 'node:tls';
import { type ChannelCredentials, experimental } from '@grpc/grpc-js';
import { gauge } from '@laurel/telemetry';
import { serviceOfNames } from './caller.ts';
import type { RpcLogger } from './definition.ts';

/** Paths of PEM files. */
export type IdentityFiles = {
  /** The process's own certificate, and the intermediate ones up to the authority. */
  readonly certificate: string;
  readonly key: string;
  /** The authorities whose certificates are accepted; several while one replaces another. */
  readonly ca: string;
};

export type ChannelIdentity = Disposable & {
  /** Accepts only connections with a certificate of the authority. */
  createServer(): Server;
  /** Returns the credentials for a client of this service. */
  channelCredentials(service: string): ChannelCredentials;
  /** Reads the files now; otherwise they are read every `reloadMs`. */
  reload(): Promise<void>;
};

type Pems = { readonly certificate: Buffer; readonly key: Buffer; readonly ca: Buffer };

const MIN_VERSION = 'TLSv1.3';
const HTTP2 = ['h2'];
const HANDSHAKE_TIMEOUT_MS = 10_000;

/** The identity that a service's settings describe; undefined if they describe none. */
export async function identityOf(
  settings: {
    readonly GRPC_TLS_CERT_FILE?: string | undefined;
    readonly GRPC_TLS_KEY_FILE?: string | undefined;
    readonly GRPC_TLS_CA_FILE?: string | undefined;
    readonly GRPC_TLS_RELOAD_MS: number;
  },
  logger: RpcLogger,
): Promise<ChannelIdentity | undefined> {
  const { GRPC_TLS_CERT_FILE: certificate, GRPC_TLS_KEY_FILE: key, GRPC_TLS_CA_FILE: ca } = settings;
  if (certificate === undefined || key === undefined || ca === undefined) {
    logger.warn({}, 'channels between services have no certificates: every caller that reaches them is accepted');
    return undefined;
  }
  return await openChannelIdentity({ files: { certificate, key, ca }, reloadMs: settings.GRPC_TLS_RELOAD_MS, logger });
}

/** Rejects when the files cannot be used. */
export async function openChannelIdentity(options: {
  files: IdentityFiles;
  reloadMs: number;
  logger: RpcLogger;
}): Promise<ChannelIdentity> {
  const { files, reloadMs, logger } = options;
  const expiry = gauge(
    'laurel_grpc_certificate_expires_seconds',
    'When the certificate that this process shows expires, in seconds since 1970.',
  );
  let current = await read(files);
  checkUsable(current);
  expiry.set(expiryOf(current));
  const servers = new Set<Server>();
  const provider = new PemProvider(() => current);
  let loggedError = '';

  async function reload(): Promise<void> {
    try {
      const pems = await read(files);
      if (isSame(pems, current)) return;
      checkUsable(pems);
      current = pems;
    } catch (error) {
      const text = String(error);
      if (text !== loggedError) logger.error({ err: error }, 'certificates could not be read again; the old ones stay');
      loggedError = text;
      return;
    }
    loggedError = '';
    expiry.set(expiryOf(current));
    for (const server of servers) server.setSecureContext(contextOf(current));
    provider.notify();
    logger.warn({ expiresAt: new Date(expiryOf(current) * 1_000) }, 'certificates were read again');
  }

  const timer = setInterval(() => void reload(), reloadMs).unref();

  return {
    createServer() {
      const server = createServer({
        ...contextOf(current),
        requestCert: true,
        rejectUnauthorized: true,
        ALPNProtocols: HTTP2,
        handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      });
      servers.add(server);
      server.once('close', () => servers.delete(server));
      return server;
    },
    channelCredentials: (service) =>
      experimental.createCertificateProviderChannelCredentials(provider, provider, {
        checkServerIdentity: (_host, certificate) => checkService(service, certificate),
      }),
    reload,
    [Symbol.dispose]() {
      clearInterval(timer);
    },
  };
}

/** Returns an error unless the server's certificate names the expected service. */
function checkService(expected: string, { subjectaltname }: PeerCertificate): Error | undefined {
  const found = serviceOfNames(subjectaltname);
  return found === expected ? undefined : new Error(`the server is not ${expected} but ${found}`);
}

async function read(files: IdentityFiles): Promise<Pems> {
  const [certificate, key, ca] = await Promise.all([
    readFile(files.certificate),
    readFile(files.key),
    readFile(files.ca),
  ]);
  return { certificate, key, ca };
}

/** Throws for text that is not PEM, and for a key that does not belong to the certificate. */
function checkUsable(pems: Pems): void {
  createSecureContext(contextOf(pems));
  // A TLS context accepts an authority's file without any certificate, so this line refuses it.
  new X509Certificate(pems.ca);
}

function isSame(one: Pems, other: Pems): boolean {
  return one.certificate.equals(other.certificate) && one.key.equals(other.key) && one.ca.equals(other.ca);
}

/**
 * Creates a context without session tickets. A ticket stands for the certificate that was presented
 * when it was issued: with it a caller could resume its session, and get the next ticket, after the
 * certificate has expired. No Laurel client resumes a session.
 */
function contextOf({ certificate, key, ca }: Pems): SecureContextOptions {
  return { cert: certificate, key, ca, minVersion: MIN_VERSION, secureOptions: constants.SSL_OP_NO_TICKET };
}

function expiryOf({ certificate }: Pems): number {
  return Math.floor(new X509Certificate(certificate).validToDate.getTime() / 1_000);
}

/** Gives the files' contents to grpc-js clients; each connection uses the newest. */
class PemProvider implements experimental.CertificateProvider {
  readonly #current: () => Pems;
  readonly #ofAuthority = new Set<(update: { caCertificate: Buffer } | null) => void>();
  readonly #ofIdentity = new Set<(update: { certificate: Buffer; privateKey: Buffer } | null) => void>();

  constructor(current: () => Pems) {
    this.#current = current;
  }

  notify(): void {
    const { certificate, key, ca } = this.#current();
    for (const listener of this.#ofAuthority) listener({ caCertificate: ca });
    for (const listener of this.#ofIdentity) listener({ certificate, privateKey: key });
  }

  addCaCertificateListener(listener: (update: { caCertificate: Buffer } | null) => void): void {
    this.#ofAuthority.add(listener);
    listener({ caCertificate: this.#current().ca });
  }

  removeCaCertificateListener(listener: (update: { caCertificate: Buffer } | null) => void): void {
    this.#ofAuthority.delete(listener);
  }

  addIdentityCertificateListener(listener: (update: { certificate: Buffer; privateKey: Buffer } | null) => void): void {
    this.#ofIdentity.add(listener);
    const { certificate, key } = this.#current();
    listener({ certificate, privateKey: key });
  }

  removeIdentityCertificateListener(
    listener: (update: { certificate: Buffer; privateKey: Buffer } | null) => void,
  ): void {
    this.#ofIdentity.delete(listener);
  }
}
