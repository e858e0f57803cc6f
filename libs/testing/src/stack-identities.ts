import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { IdentityFiles } from '@laurel/grpc';
import {
  type CertificateAuthority,
  createCertificateAuthority,
} from '@laurel/local-infrastructure/certificate-authority';
import { SERVICES, type Service } from './checkout.ts';

/**
 * Issues a certificate for each service, and returns the settings that name the certificate's
 * files. If the internal calls use no TLS, issues no certificates and returns no settings.
 */
export async function issueIdentities({ internalTls }: { readonly internalTls?: boolean }, directory: string) {
  const hasTls = internalTls ?? process.env.LAUREL_INTERNAL_TLS !== 'off';
  const certificateOf = hasTls ? await createCertificates(directory) : async () => undefined;
  const files = new Map<Service, IdentityFiles>();
  for (const service of SERVICES) {
    const issued = await certificateOf(service);
    if (issued !== undefined) files.set(service, issued);
  }
  const channelOf = (service: Service): Record<string, string> => {
    const issued = files.get(service);
    if (issued === undefined) return {};
    return { GRPC_TLS_CERT_FILE: issued.certificate, GRPC_TLS_KEY_FILE: issued.key, GRPC_TLS_CA_FILE: issued.ca };
  };
  return { certificateOf, files, channelOf };
}

/** Writes certificates of an authority that only this stack trusts. */
async function createCertificates(
  directory: string,
): Promise<(name: string, from?: CertificateAuthority) => Promise<IdentityFiles>> {
  const authority = await createCertificateAuthority('Laurel test stack');
  let count = 0;
  return async (name, from = authority) => {
    const issued = await from.issue({ names: [], service: name });
    count += 1;
    const files = {
      certificate: join(directory, `${name}-${count}-certificate.pem`),
      key: join(directory, `${name}-${count}-key.pem`),
      ca: join(directory, `${name}-${count}-ca.pem`),
    };
    writeFileSync(files.ca, authority.certificate);
    writeFileSync(files.certificate, issued.certificate);
    writeFileSync(files.key, issued.key, { mode: 0o600 });
    return files;
  };
}
