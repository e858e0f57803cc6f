import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { keepAuthority } from './kept-authority.ts';
import { writePrivate } from './secrets.ts';
import { StartFailure } from './start-failure.ts';

/** Paths of PEM files, and the address where the services reach a server on this machine. */
export interface WebhookCa {
  readonly certificate: string;
  readonly key: string;
  /** The certificate is for an HTTPS server on this machine: `localhost`, `127.0.0.1` and `::1`. */
  readonly receiver_certificate: string;
  readonly receiver_key: string;
  /** An address of this machine that the services may send to. */
  readonly receiver_host: string;
  /**
   * The authorities that the stack trusts besides the system's: this one and those that the
   * environment names.
   */
  readonly trusted: string;
}

/**
 * Webhooks are sent over HTTPS only, so a receiver on this machine needs a certificate that the
 * stack trusts. The data directory has its own authority, created at the first start, which only
 * this stack trusts.
 * Each start issues a new certificate for receivers.
 * `alsoTrusted` is a PEM file of further authorities (EGRESS_CA_FILE).
 */
export async function keepWebhookCa(dataDir: string, alsoTrusted?: string): Promise<WebhookCa> {
  const folder = join(dataDir, 'webhook-ca');
  const files: WebhookCa = {
    certificate: join(folder, 'certificate.pem'),
    key: join(folder, 'key.pem'),
    receiver_certificate: join(folder, 'receiver-certificate.pem'),
    receiver_key: join(folder, 'receiver-key.pem'),
    receiver_host: '127.0.0.1',
    trusted: join(folder, 'trusted.pem'),
  };
  mkdirSync(folder, { recursive: true });
  const authority = await keepAuthority({ name: 'Laurel on this machine', ...files });
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
