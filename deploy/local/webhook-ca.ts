import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CertificateAuthority, createCertificateAuthority, openCertificateAuthority } from '@laurel/private-ca';
import { writePrivate } from './secrets.ts';
import { StartFailure } from './start-failure.ts';

/** Paths of PEM files. */
export interface WebhookCa {
  readonly certificate: string;
  readonly key: string;
  /** For an HTTPS server on this machine: `localhost`, `127.0.0.1` and `::1`. */
  readonly receiver_certificate: string;
  readonly receiver_key: string;
  /** What the stack trusts besides the system's authorities: this one, and those that the environment names. */
  readonly trusted: string;
}

/**
 * Webhooks go to HTTPS alone, so who receives on this machine needs a certificate that the stack trusts: the data directory has an
 * authority of its own, made at the first start, which only this stack trusts. Each start issues a fresh certificate for receivers.
 * `alsoTrusted` is a PEM file of further authorities (EGRESS_CA_FILE).
 */
export async function keepWebhookCa(dataDir: string, alsoTrusted?: string): Promise<WebhookCa> {
  const folder = join(dataDir, 'webhook-ca');
  const files: WebhookCa = {
    certificate: join(folder, 'certificate.pem'),
    key: join(folder, 'key.pem'),
    receiver_certificate: join(folder, 'receiver-certificate.pem'),
    receiver_key: join(folder, 'receiver-key.pem'),
    trusted: join(folder, 'trusted.pem'),
  };
  mkdirSync(folder, { recursive: true });
  let authority: CertificateAuthority;
  if (existsSync(files.certificate)) {
    authority = await openKept(files, folder);
  } else {
    authority = await createCertificateAuthority('Laurel on this machine');
    // The certificate last: where it is, its key is.
    writePrivate(files.key, authority.key);
    writePrivate(files.certificate, authority.certificate);
  }
  const receiver = await authority.issue({ names: ['localhost', '127.0.0.1', '::1'] });
  writePrivate(files.receiver_key, receiver.key);
  writePrivate(files.receiver_certificate, receiver.certificate);
  writePrivate(files.trusted, authority.certificate + (alsoTrusted ? `\n${readTrusted(alsoTrusted)}` : ''));
  return files;
}

function readTrusted(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new StartFailure(
      `EGRESS_CA_FILE names ${file}, which cannot be read: give the path of a PEM file, or leave it out.`,
    );
  }
}

async function openKept(files: WebhookCa, folder: string): Promise<CertificateAuthority> {
  try {
    return await openCertificateAuthority({
      certificate: readFileSync(files.certificate, 'utf8'),
      key: readFileSync(files.key, 'utf8'),
    });
  } catch {
    throw new StartFailure(
      `The certificate authority in ${folder} is damaged: delete that folder, and the next start makes another.`,
    );
  }
}
