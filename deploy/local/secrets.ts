import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The secrets that one stack must not share with another: generated at the first start, then kept. */
export interface Secrets {
  readonly operatorToken: string;
  /** Base64 of 32 bytes; if it is lost, no API key of this data directory can be recognised. */
  readonly keyPepper: string;
  /** Base64 of 32 bytes; the seed of the Ed25519 key that signs receipts. */
  readonly receiptSigningSeed: string;
  /** Base64 of 32 bytes; if it is lost, no webhook of this data directory can be signed. */
  readonly webhookSecretKey: string;
  /** Base64 of 32 bytes; if it is lost, no push to this data directory can be verified. */
  readonly integrationSecretKey: string;
  /** Base64 of 32 bytes; the passwords of the database's roles are derived from it. The environment cannot override it. */
  readonly databasePasswordSeed: string;
}

type Generated = Omit<Secrets, 'operatorToken'>;

/** The environment takes precedence over kept secrets; only secrets generated here are written, readable by their owner alone. */
export function keepSecrets(dataDir: string, environment: NodeJS.ProcessEnv): Secrets {
  const file = join(dataDir, 'secrets.json');
  const kept: Partial<Generated> = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const generated: Generated = {
    keyPepper: kept.keyPepper ?? randomBytes(32).toString('base64'),
    receiptSigningSeed: kept.receiptSigningSeed ?? randomBytes(32).toString('base64'),
    webhookSecretKey: kept.webhookSecretKey ?? randomBytes(32).toString('base64'),
    integrationSecretKey: kept.integrationSecretKey ?? randomBytes(32).toString('base64'),
    databasePasswordSeed: kept.databasePasswordSeed ?? randomBytes(32).toString('base64'),
  };
  writePrivate(file, `${JSON.stringify(generated, null, 2)}\n`);
  return {
    ...generated,
    ...(environment.KEY_PEPPER ? { keyPepper: environment.KEY_PEPPER } : {}),
    ...(environment.RECEIPT_SIGNING_SEED ? { receiptSigningSeed: environment.RECEIPT_SIGNING_SEED } : {}),
    ...(environment.WEBHOOK_SECRET_KEY ? { webhookSecretKey: environment.WEBHOOK_SECRET_KEY } : {}),
    ...(environment.INTEGRATION_SECRET_KEY ? { integrationSecretKey: environment.INTEGRATION_SECRET_KEY } : {}),
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

/** Mode 0600, and atomically: a reader sees the old content or the new one. */
export function writePrivate(file: string, content: string): void {
  const draft = `${file}.${process.pid}.draft`;
  writeFileSync(draft, content, { mode: 0o600 });
  chmodSync(draft, 0o600);
  renameSync(draft, file);
}
