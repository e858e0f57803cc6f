/** Certificates of a test authority, as files that a channel identity reads. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type CertificateAuthority,
  createCertificateAuthority,
  type KeyPair,
} from '@laurel/local-infrastructure/certificate-authority';
import { type IdentityFiles, openChannelIdentity } from './channel-identity.ts';

/** Disposing the stack removes them. */
export async function createTestCertificates(stack: AsyncDisposableStack) {
  const directory = mkdtempSync(join(tmpdir(), 'laurel-grpc-test-'));
  stack.defer(() => rmSync(directory, { recursive: true }));
  const authority = await createCertificateAuthority();
  let count = 0;

  const filesOf = (name: string): IdentityFiles => ({
    certificate: join(directory, `${name}-certificate.pem`),
    key: join(directory, `${name}-key.pem`),
    ca: join(directory, `${name}-ca.pem`),
  });

  return {
    authority,
    filesOf,
    /**
     * Writes a new certificate of the service, and the test's authority, to the files of this name.
     */
    async write(
      name: string,
      { service = name, ca = authority }: { service?: string; ca?: CertificateAuthority } = {},
    ) {
      return this.keep(name, await ca.issue({ names: [], service }));
    },
    keep(name: string, issued: KeyPair) {
      const files = filesOf(name);
      writeFileSync(files.certificate, issued.certificate);
      writeFileSync(files.key, issued.key);
      writeFileSync(files.ca, authority.certificate);
      return files;
    },
    /** An identity that reads its files again only on `reload`. */
    async identityOf(service: string, ca?: CertificateAuthority, logged: { message: string }[] = []) {
      return this.identityWith(await (ca ?? authority).issue({ names: [], service }), service, logged);
    },
    /** As `identityOf`, but with the given certificate, which may be of another authority. */
    async identityWith(issued: KeyPair, service = 'forged', logged: { message: string }[] = []) {
      const name = `${service}-${count++}`;
      const files = this.keep(name, issued);
      const log = (_fields: object, message: string) => void logged.push({ message });
      const logger = { warn: log, error: log };
      const identity = stack.use(await openChannelIdentity({ files, reloadMs: 2_000_000, logger }));
      return { ...identity, name, files };
    },
  };
}
