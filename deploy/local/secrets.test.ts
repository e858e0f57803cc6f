import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { keepSecrets } from './secrets.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'laurel-secrets-'));
});

afterEach(() => rmSync(directory, { recursive: true }));

test('secrets are generated once and kept, readable by their owner alone', () => {
  const first = keepSecrets(directory, {});
  expect(Buffer.from(first.keyPepper, 'base64')).toHaveLength(32);
  expect(Buffer.from(first.receiptSigningSeed, 'base64')).toHaveLength(32);
  expect(keepSecrets(directory, {})).toEqual(first);
  for (const file of ['secrets.json', 'operator-token'])
    expect(statSync(join(directory, file)).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(directory, 'operator-token'), 'utf8')).toBe(`${first.operatorToken}\n`);
});

test('the environment wins, and is not written to the disk', () => {
  const kept = keepSecrets(directory, {});
  const given = { OPERATOR_TOKEN: 'given-token', KEY_PEPPER: 'given-pepper', RECEIPT_SIGNING_SEED: 'given-seed' };
  expect(keepSecrets(directory, given)).toEqual({
    operatorToken: 'given-token',
    keyPepper: 'given-pepper',
    receiptSigningSeed: 'given-seed',
  });
  expect(keepSecrets(directory, {})).toEqual(kept);
});
