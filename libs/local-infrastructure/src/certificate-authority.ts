/**
 * A private certificate authority for tests and for the system on one machine. Only clients that
 * have its certificate trust what it issues. Keys are ECDSA P-256, which every TLS client accepts.
 */
// The library below uses decorator metadata and requires this polyfill before it.
import 'reflect-metadata';
import { KeyObject, randomBytes, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';

const KEY_ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256' } as const;
const SIGNATURE_ALGORITHM = { name: 'ECDSA', hash: 'SHA-256' } as const;
const DAY_MS = 86_400_000;
/** A machine whose clock lags a little still accepts a new certificate. */
const BACKDATED_MS = DAY_MS;
const AUTHORITY_LIFE_MS = 3_650 * DAY_MS;
/** Some platforms refuse server certificates that are valid for longer than 825 days. */
const SERVER_LIFE_MS = 800 * DAY_MS;

/** Both members are PEM; the key is PKCS #8. */
export type KeyPair = { readonly certificate: string; readonly key: string };

export type CertificateAuthority = KeyPair & {
  /**
   * Issues a server's certificate for these DNS names and IP addresses. Dates in the past make an
   * expired one.
   */
  issue(request: {
    readonly names: readonly string[];
    /** A Laurel service, whose certificate names it both as a server and as a client. */
    readonly service?: string;
    /** Further names, for tests of rejected certificates. */
    readonly uris?: readonly string[];
    readonly commonName?: string;
    /** The default is both for a service, `serverAuth` for others. */
    readonly usages?: readonly ('serverAuth' | 'clientAuth')[];
    readonly notBefore?: Date;
    readonly notAfter?: Date;
  }): Promise<KeyPair>;
};

/**
 * Creates an authority. Clients trust its `certificate`; keep `key` to open the same authority
 * again.
 */
export async function createCertificateAuthority(name = 'Laurel private CA'): Promise<CertificateAuthority> {
  const keys = await generateKeys();
  const certificate = await X509CertificateGenerator.createSelfSigned(
    {
      name: [{ CN: [name] }],
      serialNumber: newSerialNumber(),
      notBefore: new Date(Date.now() - BACKDATED_MS),
      notAfter: new Date(Date.now() + AUTHORITY_LIFE_MS),
      signingAlgorithm: SIGNATURE_ALGORITHM,
      keys,
      extensions: [
        new BasicConstraintsExtension(true, 0, true),
        new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
        await SubjectKeyIdentifierExtension.create(keys.publicKey, false, webcrypto),
      ],
    },
    webcrypto,
  );
  return authorityOf(certificate, keys.privateKey);
}

/** Opens the authority of these PEMs from `createCertificateAuthority`. */
export async function openCertificateAuthority({ certificate, key }: KeyPair): Promise<CertificateAuthority> {
  const privateKey = await webcrypto.subtle.importKey('pkcs8', PemConverter.decodeFirst(key), KEY_ALGORITHM, true, [
    'sign',
  ]);
  return authorityOf(new X509Certificate(certificate), privateKey);
}

async function authorityOf(authority: X509Certificate, signingKey: webcrypto.CryptoKey): Promise<CertificateAuthority> {
  return {
    ...(await toPem(authority, signingKey)),
    async issue({ names, service, uris = [], commonName, usages, notBefore, notAfter }) {
      if (names.length === 0 && service === undefined)
        throw new TypeError('A certificate names at least one host, or a service.');
      const keys = await generateKeys();
      const extensions: Extension[] = [
        new BasicConstraintsExtension(false, undefined, true),
        new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
        new ExtendedKeyUsageExtension(
          (usages ?? (service === undefined ? ['serverAuth'] : ['serverAuth', 'clientAuth'])).map(
            (usage) => ExtendedKeyUsage[usage],
          ),
        ),
        // Critical, because the subject is empty by default (RFC 5280, 4.2.1.6).
        new SubjectAlternativeNameExtension(
          [
            ...names.map((name) => ({ type: isIP(name) === 0 ? ('dns' as const) : ('ip' as const), value: name })),
            ...(service === undefined ? [] : [{ type: 'url' as const, value: `spiffe://laurel/${service}` }]),
            ...uris.map((value) => ({ type: 'url' as const, value })),
          ],
          true,
        ),
        await SubjectKeyIdentifierExtension.create(keys.publicKey, false, webcrypto),
        await AuthorityKeyIdentifierExtension.create(authority.publicKey, false, webcrypto),
      ];
      const certificate = await X509CertificateGenerator.create(
        {
          serialNumber: newSerialNumber(),
          issuer: authority.subject,
          ...(commonName !== undefined && { subject: [{ CN: [commonName] }] }),
          notBefore: notBefore ?? new Date(Date.now() - BACKDATED_MS),
          notAfter: notAfter ?? new Date(Date.now() + SERVER_LIFE_MS),
          signingAlgorithm: SIGNATURE_ALGORITHM,
          publicKey: keys.publicKey,
          signingKey,
          extensions,
        },
        webcrypto,
      );
      return toPem(certificate, keys.privateKey);
    },
  };
}

function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(KEY_ALGORITHM, true, ['sign', 'verify']);
}

async function toPem(certificate: X509Certificate, privateKey: webcrypto.CryptoKey): Promise<KeyPair> {
  const key = KeyObject.from(privateKey).export({ format: 'pem', type: 'pkcs8' }).toString();
  return { certificate: `${certificate.toString('pem')}\n`, key };
}

/** Returns 127 random bits: a positive number of 16 bytes, whose first is never zero. */
function newSerialNumber(): string {
  const serial = randomBytes(16);
  serial.writeUInt8((serial.readUInt8(0) & 0x7f) | 0x40, 0);
  return serial.toString('hex');
}
