import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the services of one stack must not share with another's: generated at the first start, then kept. */
export interface Secrets {
  readonly operatorToken: string;
  /** Base64 of 32 bytes; without it no API key of this data directory can be recognised any more. */
  readonly keyPepper: string;
  /** Base64 of 32 bytes; the seed of the Ed25519 key that signs receipts. */
  readonly receiptSigningSeed: string;
  /** Base64 of 32 bytes; without it no webhook of this data directory can be signed any more. */
  readonly webhookSecretKey: string;
}

type Generated = Omit<Secrets, 'operatorToken'>;

/** The environment wins over what is kept; only what was generated here is written, readable by its owner alone. */
export function keepSecrets(dataDir: string, environment: NodeJS.ProcessEnv): Secrets {
  const file = join(dataDir, 'secrets.json');
  const kept: Partial<Generated> = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const generated: Generated = {
    keyPepper: kept.keyPepper ?? randomBytes(32).toString('base64'),
    receiptSigningSeed: kept.receiptSigningSeed ?? randomBytes(32).toString('base64'),
    webhookSecretKey: kept.webhookSecretKey ?? randomBytes(32).toString('base64'),
  };
  writePrivate(file, `${JSON.stringify(generated, null, 2)}\n`);
  return {
    ...generated,
    ...(environment.KEY_PEPPER ? { keyPepper: environment.KEY_PEPPER } : {}),
    ...(environment.RECEIPT_SIGNING_SEED ? { receiptSigningSeed: environment.RECEIPT_SIGNING_SEED } : {}),
    ...(environment.WEBHOOK_SECRET_KEY ? { webhookSecretKey: environment.WEBHOOK_SECRET_KEY } : {}),
    operatorToken: environment.OPERATOR_TOKEN || keepOperatorToken(join(dataDir, 'operator-token')),
  };
}

function keepOperatorToken(file: string): string {
  const kept = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  if (kept !== '') return kept;
  const token = randomBytes(32).toString('base64url');
  writePrivate(file, `${token}\n`);
  return token;
}

/** Mode 0600, and never half written: a reader sees the old content or the new one. */
export function writePrivate(file: string, content: string): void {
  const draft = `${file}.${process.pid}.draft`;
  writeFileSync(draft, content, { mode: 0o600 });
  chmodSync(draft, 0o600);
  renameSync(draft, file);
}
