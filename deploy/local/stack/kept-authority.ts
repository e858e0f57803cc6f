import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  type CertificateAuthority,
  createCertificateAuthority,
  openCertificateAuthority,
} from '@laurel/local-infrastructure/certificate-authority';
import { writePrivate } from './secrets.ts';
import { StartFailure } from './start-failure.ts';

/**
 * Returns the authority that these files hold, and creates it if there is none. The folder of the
 * files exists.
 */
export async function keepAuthority(kept: {
  readonly name: string;
  readonly certificate: string;
  readonly key: string;
}): Promise<CertificateAuthority> {
  if (!existsSync(kept.certificate)) {
    const authority = await createCertificateAuthority(kept.name);
    // The certificate is written last: if it exists, its key does too.
    writePrivate(kept.key, authority.key);
    writePrivate(kept.certificate, authority.certificate);
    return authority;
  }
  try {
    return await openCertificateAuthority({
      certificate: readFileSync(kept.certificate, 'utf8'),
      key: readFileSync(kept.key, 'utf8'),
    });
  } catch {
    throw new StartFailure(
      `The certificate authority in ${dirname(kept.certificate)} is damaged: delete that folder, and the next start makes a new one.`,
    );
  }
}
