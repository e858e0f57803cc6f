import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fchmodSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { StartFailure } from './start-failure.ts';

/**
 * The secrets that two stacks must not share. They are generated at the first start and then kept.
 */
export interface Secrets {
  readonly operatorToken: string;
  /**
   * Base64 of 32 bytes: the key under which API keys are hashed. If it is lost, no API key of this
   * data directory is recognised.
   */
  readonly keyPepper: string;
  /** Base64 of 32 bytes: the seed of the Ed25519 key that signs receipts. */
  readonly receiptSigningSeed: string;
  /**
   * Base64 of 32 bytes: the key that encrypts the signing secrets of webhook endpoints. If it is
   * lost, no webhook to the endpoints of this data directory can be signed.
   */
  readonly webhookSecretKey: string;
  /**
   * Base64 of 32 bytes: the key that encrypts the secrets of integrations. If it is lost, no push
   * to an integration of this data directory can be verified.
   */
  readonly integrationSecretKey: string;
  /**
   * Base64 of 32 bytes, from which the passwords of the database roles are derived. The environment
   * cannot override it.
   */
  readonly databasePasswordSeed: string;
}

type Generated = Omit<Secrets, 'operatorToken'>;

/**
 * The environment takes precedence over kept secrets. Only secrets that are generated here are
 * written, readable by their owner alone.
 */
export function keepSecrets(dataDir: string, environment: NodeJS.ProcessEnv): Secrets {
  const file = join(dataDir, 'secrets.json');
  const kept: Partial<Generated> = readSecrets(file);
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

/**
 * Does not replace damaged secrets: new ones would invalidate every API key and webhook in the
 * databases beside them.
 */
function readSecrets(file: string): Partial<Generated> {
  if (!existsSync(file)) return {};
  try {
    const kept: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof kept === 'object' && kept !== null && !Array.isArray(kept)) return kept;
  } catch {
    // The failure below reports a file that is no JSON.
  }
  throw new StartFailure(
    `${file} cannot be read, and the API keys and webhooks of the databases beside it need its secrets: restore it from a backup, or start again with another LAUREL_DATA_DIR.`,
  );
}

function keepOperatorToken(file: string): string {
  const kept = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  if (kept !== '') return kept;
  const token = randomBytes(32).toString('base64url');
  writePrivate(file, `${token}\n`);
  return token;
}

/**
 * Mode 0600 and atomic: a reader sees the old content or the new one, also after a crash of the
 * machine.
 */
export function writePrivate(file: string, content: string): void {
  const draft = `${file}.${process.pid}.draft`;
  const opened = openSync(draft, 'w', 0o600);
  try {
    fchmodSync(opened, 0o600);
    writeFileSync(opened, content);
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
  renameSync(draft, file);
  const folder = openSync(dirname(file), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
