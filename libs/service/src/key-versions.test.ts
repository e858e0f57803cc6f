import { expect, test } from 'vitest';
import { z } from 'zod';
import { ConfigError, parseConfig, secretKey } from './config.ts';
import { acceptedKeys, checkKeyVersions, keysOf, keyVersion } from './key-versions.ts';

const base64Of = (byte: number, length = 32) => Buffer.alloc(length, byte).toString('base64');
const schema = z
  .object({ ITS_KEY: secretKey, ITS_KEY_VERSION: keyVersion, ITS_KEYS_ACCEPTED: acceptedKeys })
  .superRefine(checkKeyVersions('ITS_KEY'));
const keys = (settings: Record<string, string>) =>
  keysOf(parseConfig(schema, { ITS_KEY: base64Of(1), ...settings }), 'ITS_KEY');

test('a key without further settings has version 1', () => {
  expect(keys({})).toEqual({ current: { version: 1, bytes: Buffer.alloc(32, 1) }, accepted: [] });
  expect(keys({ ITS_KEY_VERSION: '', ITS_KEYS_ACCEPTED: '' })).toEqual(keys({}));
});

test('accepted keys are read with their versions, with spaces or without', () => {
  const settings = { ITS_KEY_VERSION: '3', ITS_KEYS_ACCEPTED: `1:${base64Of(7)}, 2147483647:${base64Of(8)}` };
  expect(keys(settings)).toEqual({
    current: { version: 3, bytes: Buffer.alloc(32, 1) },
    accepted: [
      { version: 1, bytes: Buffer.alloc(32, 7) },
      { version: 2 ** 31 - 1, bytes: Buffer.alloc(32, 8) },
    ],
  });
});

test.each([
  ['a version of 0', { ITS_KEY_VERSION: '0' }, 'ITS_KEY_VERSION: must be a whole number of at least 1'],
  ['a version beyond 31 bits', { ITS_KEY_VERSION: String(2 ** 31) }, 'ITS_KEY_VERSION: must fit into 31 bits'],
  ['no bytes', { ITS_KEYS_ACCEPTED: '2:' }, /^ITS_KEYS_ACCEPTED: must be version:base64/],
  ['31 bytes', { ITS_KEYS_ACCEPTED: `2:${base64Of(2, 31)}` }, /^ITS_KEYS_ACCEPTED: must be version:base64/],
  ['no version', { ITS_KEYS_ACCEPTED: base64Of(2) }, /^ITS_KEYS_ACCEPTED: must be version:base64/],
  ['an accepted version of 0', { ITS_KEYS_ACCEPTED: `0:${base64Of(2)}` }, /^ITS_KEYS_ACCEPTED: must be version:base64/],
  [
    'one version twice',
    { ITS_KEYS_ACCEPTED: `2:${base64Of(2)},2:${base64Of(3)}` },
    /^ITS_KEYS_ACCEPTED: must be version:base64/,
  ],
  [
    'the version of the current key',
    { ITS_KEYS_ACCEPTED: `1:${base64Of(2)}` },
    'ITS_KEYS_ACCEPTED: must not name the version of ITS_KEY',
  ],
])('versioned keys with %s are refused without showing bytes of a key', (_what, settings, message) => {
  let issues: readonly string[] = [];
  try {
    keys(settings);
  } catch (error) {
    if (error instanceof ConfigError) issues = error.issues;
  }
  expect(issues).toEqual([typeof message === 'string' ? message : expect.stringMatching(message)]);
  expect(issues.join()).not.toContain(base64Of(2));
});
