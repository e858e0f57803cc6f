import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { keepSecrets } from './secrets.ts';
import { StartFailure } from './start-failure.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'laurel-secrets-'));
});

afterEach(() => rmSync(directory, { recursive: true }));

test('the secrets of a stack are generated once', () => {
  const first = keepSecrets(directory, {});
  expect(Buffer.from(first.keyPepper, 'base64')).toHaveLength(32);
  expect(Buffer.from(first.receiptSigningSeed, 'base64')).toHaveLength(32);
  expect(Buffer.from(first.webhookSecretKey, 'base64')).toHaveLength(32);
  expect(Buffer.from(first.integrationSecretKey, 'base64')).toHaveLength(32);
  expect(Buffer.from(first.databasePasswordSeed, 'base64')).toHaveLength(32);
  expect(keepSecrets(directory, {})).toEqual(first);
  for (const file of ['secrets.json', 'operator-token'])
    expect(statSync(join(directory, file)).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(directory, 'operator-token'), 'utf8')).toBe(`${first.operatorToken}\n`);
});

test('a data directory of an older release gets only the secret that it lacks', () => {
  const first = keepSecrets(directory, {});
  const file = join(directory, 'secrets.json');
  const { webhookSecretKey, ...before } = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify(before));
  const later = keepSecrets(directory, {});
  expect(Buffer.from(later.webhookSecretKey, 'base64')).toHaveLength(32);
  expect(later.webhookSecretKey).not.toBe(webhookSecretKey);
  expect({ ...later, webhookSecretKey }).toEqual(first);
  expect(keepSecrets(directory, {})).toEqual(later);
});

test.each(['', '{', 'null', '[]', '"x"'])(
  'a file of secrets that contains %j is refused and stays unchanged',
  (content) => {
    const file = join(directory, 'secrets.json');
    writeFileSync(file, content);
    expect(() => keepSecrets(directory, {})).toThrow(StartFailure);
    expect(() => keepSecrets(directory, {})).toThrow(`${file} cannot be read`);
    expect(readFileSync(file, 'utf8')).toBe(content);
  },
);

test('secrets from the environment are never written to the disk', () => {
  const kept = keepSecrets(directory, {});
  const given = {
    OPERATOR_TOKEN: 'given-token',
    KEY_PEPPER: 'given-pepper',
    RECEIPT_SIGNING_SEED: 'given-seed',
    WEBHOOK_SECRET_KEY: 'given-key',
    INTEGRATION_SECRET_KEY: 'given-other-key',
  };
  expect(keepSecrets(directory, given)).toEqual({
    operatorToken: 'given-token',
    keyPepper: 'given-pepper',
    receiptSigningSeed: 'given-seed',
    webhookSecretKey: 'given-key',
    integrationSecretKey: 'given-other-key',
    databasePasswordSeed: kept.databasePasswordSeed,
  });
  expect(keepSecrets(directory, {})).toEqual(kept);
});
