import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { pinnedKey } from '@laurel/sdk';
import { expect, test } from 'vitest';
import { checkReceipt } from './check-receipt.ts';

const signer = await newSigner();
const other = await newSigner();
const { subtle } = crypto;
const readKeys = async () => signer.list;

test('a genuine receipt passes each named check', async () => {
  const check = await checkReceipt({ receipt: receiptBy(signer), attemptId: 'attempt', readKeys, subtle });
  expect(check).toMatchObject({ kind: 'checked', isValid: true });
  expect(check.kind === 'checked' && check.checks.map(({ title, hasPassed }) => [title, hasPassed])).toEqual([
    ['Published keys', true],
    ['Signature', true],
    ['Key', true],
    ['Attempt', true],
  ]);
});

test('a genuine receipt of another attempt is not valid for this attempt', async () => {
  const check = await checkReceipt({ receipt: receiptBy(signer), attemptId: 'another', readKeys, subtle });
  expect(check).toMatchObject({ kind: 'checked', isValid: false });
  expect(check.kind === 'checked' && check.checks.filter(({ hasPassed }) => !hasPassed)).toMatchObject([
    { title: 'Attempt', detail: 'The receipt names another attempt' },
  ]);
});

test.each([
  ['its text was changed', receiptBy(signer).replace('"score":7', '"score":8'), 'has signed'],
  ['another key signed it', receiptBy(other), 'is not among the trusted ones'],
  ['a member stands twice', receiptBy(signer).replace('{"receipt":', '{"receipt":{},"receipt":'), 'twice'],
  ['it is of another form', '{}', 'This is not {receipt, signature}'],
])('a receipt is reported as not valid if %s', async (_what, receipt, reason) => {
  const check = await checkReceipt({ receipt, attemptId: 'attempt', readKeys, subtle });
  expect(check).toMatchObject({ kind: 'checked', isValid: false });
  expect(check.kind === 'checked' && check.checks.at(-1)).toMatchObject({
    hasPassed: false,
    detail: expect.stringContaining(reason),
  });
});

test('a message says that a receipt cannot be checked without keys, WebCrypto or Ed25519', async () => {
  const source = { receipt: receiptBy(signer), attemptId: 'attempt', readKeys, subtle };
  const without = { generateKey: () => Promise.reject(new Error('not supported')) } as unknown as SubtleCrypto;
  for (const [changes, reason] of [
    [{ readKeys: async () => null }, 'keys could not be read'],
    [{ readKeys: async () => '{}' }, 'keys could not be read'],
    [{ subtle: undefined }, 'over https'],
    [{ subtle: without }, 'Ed25519'],
  ] as const) {
    const check = await checkReceipt({ ...source, ...changes });
    expect(check).toEqual({ kind: 'not_checked', reason: expect.stringContaining(reason) });
  }
});

interface TestSigner {
  readonly keyId: string;
  readonly privateKey: KeyObject;
  /** The list of keys that Laurel publishes. */
  readonly list: string;
}

async function newSigner(): Promise<TestSigner> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const base64 = publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
  const keyId = (await pinnedKey(base64))?.keyId ?? '';
  const key = { key_id: keyId, algorithm: 'Ed25519', public_key: base64, from: '2026-01-01T00:00:00.000Z' };
  return { keyId, privateKey, list: JSON.stringify({ keys: [{ ...key, until: null }] }) };
}

/** The members are in canonical order. */
function receiptBy({ keyId, privateKey }: TestSigner): string {
  const receipt = { attempt_id: 'attempt', key_id: keyId, recorded_at: '2026-11-26T12:00:00.000Z', score: 7 };
  const signature = sign(null, Buffer.from(JSON.stringify(receipt)), privateKey).toString('base64');
  return JSON.stringify({ receipt, signature });
}
