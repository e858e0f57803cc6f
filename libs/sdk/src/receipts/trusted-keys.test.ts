import { createPrivateKey, sign } from 'node:crypto';
import { canonicalJson, createSigner, keyIdOf, type Signer } from '@laurel/signature';
import { SEAL_SIGNER, sealOf } from '@laurel/signature/round-seal.example';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listedKeys, pinnedKey, type TrustedKey } from './trusted-keys.ts';
import { verifyReceipt } from './verify-receipt.ts';

const OLD = createSigner(Buffer.alloc(32, 1));
const NEW = createSigner(Buffer.alloc(32, 2));
const FORGER = createSigner(Buffer.alloc(32, 5));
const CHANGE = '2026-11-21T12:00:00.000Z';
const AFTER_CHANGE = '2026-11-21T12:01:00.000Z';

const entryOf = (signer: Signer, from: string, until: string | null) => ({
  key_id: signer.keyId,
  algorithm: 'Ed25519',
  public_key: signer.publicKey.toString('base64'),
  from,
  until,
});
const LIST = {
  keys: [entryOf(OLD, '2026-01-01T00:00:00.000Z', AFTER_CHANGE), entryOf(NEW, CHANGE, null)],
};
const KEYS = (await listedKeys(LIST)) as readonly TrustedKey[];

/** The signer's key, pinned: without a period. */
const pinned = async ({ publicKey }: Signer) => (await pinnedKey(publicKey.toString('base64'))) as TrustedKey;

/** A receipt that was recorded at that instant, in the form in which the service returns it. */
function answerOf(signer: Signer, recordedAt: string) {
  const signed = signer.sign({ receipt_id: 'r', score: 12.5, recorded_at: recordedAt });
  return {
    receipt: JSON.parse(signed.canonical) as Record<string, unknown>,
    signature: signed.signature.toString('base64'),
    public_key: signer.publicKey.toString('base64'),
  };
}

/** A receipt in the form that receipts had before keys had ids. */
function unnamedAnswerOf(signer: Signer, seed: number, recordedAt: string) {
  const receipt = { receipt_id: 'r', score: 12.5, recorded_at: recordedAt };
  return {
    receipt,
    signature: signUnnamed(seed, canonicalJson(receipt)),
    public_key: signer.publicKey.toString('base64'),
  };
}

function signUnnamed(seed: number, text: string): string {
  const prefix = Buffer.from('302e020100300506032b657004220420', 'hex');
  const key = createPrivateKey({ key: Buffer.concat([prefix, Buffer.alloc(32, seed)]), format: 'der', type: 'pkcs8' });
  return sign(null, Buffer.from(text), key).toString('base64');
}

async function verdictOf(answer: unknown, keys: readonly TrustedKey[] = KEYS): Promise<string> {
  const verdict = await verifyReceipt(answer, keys);
  return verdict.kind === 'valid' ? verdict.key.keyId : verdict.reason;
}

describe('a receipt', () => {
  it('a receipt is genuine if the key that it names signed it within that key’s period', async () => {
    expect(await verdictOf(answerOf(OLD, '2026-11-21T11:59:59.999Z'))).toBe(OLD.keyId);
    expect(await verdictOf(answerOf(NEW, '2030-01-01T00:00:00.000Z'))).toBe(NEW.keyId);
    // Both sign for a while, because replicas change their key one after the other.
    for (const signer of [OLD, NEW]) expect(await verdictOf(answerOf(signer, CHANGE))).toBe(signer.keyId);
  });

  it.each([
    [NEW, '2026-11-21T11:59:59.999Z'],
    [OLD, AFTER_CHANGE],
    [OLD, '2025-12-31T23:59:59.999Z'],
    [OLD, 'yesterday'],
  ])('a receipt outside of the period of its key is refused', async (signer, recordedAt) => {
    expect(await verdictOf(answerOf(signer, recordedAt))).toBe(
      `the receipt is dated "${recordedAt}", outside of the period of the key that signed it`,
    );
    expect(await verdictOf(answerOf(signer, recordedAt), [await pinned(signer)])).toBe(signer.keyId);
  });

  it('a receipt that brings its own key is refused', async () => {
    const forged = answerOf(FORGER, CHANGE);
    const reason = `the receipt names the key "${FORGER.keyId}", which is not among the trusted ones`;
    expect(await verdictOf(forged)).toBe(reason);
    expect(await verdictOf(forged, [])).toBe(reason);
    expect(await verdictOf({ ...forged, public_key: OLD.publicKey.toString('base64') })).toBe(reason);
    const renamed = { ...forged.receipt, key_id: OLD.keyId };
    expect(await verdictOf({ ...forged, receipt: renamed })).toBe(
      'the receipt is not what the key that it names has signed',
    );
    const { key_id: _, ...unnamed } = forged.receipt;
    expect(await verdictOf({ ...forged, receipt: unnamed })).toBe('the receipt was signed by none of the trusted keys');
  });

  it('a receipt whose key id is removed or changed is refused', async () => {
    const { receipt, ...rest } = answerOf(OLD, CHANGE);
    const { key_id: _, ...unnamed } = receipt;
    expect(await verdictOf({ ...rest, receipt: unnamed })).toBe('the receipt was signed by none of the trusted keys');
    expect(await verdictOf({ ...rest, receipt: { ...receipt, key_id: NEW.keyId } })).toMatch('not what the key');
  });

  it('a receipt without a key id is genuine if any key whose period contains its date signed it', async () => {
    expect(await verdictOf(unnamedAnswerOf(OLD, 1, CHANGE))).toBe(OLD.keyId);
    expect(await verdictOf(unnamedAnswerOf(OLD, 1, AFTER_CHANGE))).toMatch('outside of the period');
    expect(await verdictOf(unnamedAnswerOf(FORGER, 5, CHANGE))).toBe(
      'the receipt was signed by none of the trusted keys',
    );
  });

  it('a seal is not accepted as a receipt', async () => {
    const { statement, signature } = sealOf(1, 0);
    expect(await verdictOf({ receipt: statement, signature }, [await pinned(SEAL_SIGNER)])).toBe(
      'what was signed is not a receipt',
    );
  });
});

describe('a list of keys', () => {
  it('a list of keys may contain keys of future algorithms', async () => {
    expect(await listedKeys({ keys: [...LIST.keys, { key_id: 'x', algorithm: 'ML-DSA-65' }], more: true })).toEqual(
      KEYS,
    );
    expect(await listedKeys({ keys: [] })).toEqual([]);
  });

  it('a list of keys of another shape is refused', async () => {
    const [entry] = LIST.keys;
    const odd = [
      null,
      1,
      [],
      {},
      { keys: {} },
      { keys: [{ ...entry, key_id: NEW.keyId }] },
      { keys: [{ ...entry, public_key: 'no key' }] },
      { keys: [{ ...entry, public_key: undefined }] },
      { keys: [{ ...entry, from: null }] },
      { keys: [{ ...entry, until: undefined }] },
      { keys: [{ ...entry, until: 'never' }] },
    ];
    for (const list of odd) expect(await listedKeys(list)).toBeNull();
    expect(await pinnedKey('')).toBeNull();
  });
});

describe('a key', () => {
  it('the SDK and the server derive the same id from a key', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        fc.nat(50),
        fc.nat(255),
        async (seed, at, byte) => {
          const { publicKey } = createSigner(Buffer.from(seed));
          const altered = Buffer.from(publicKey);
          altered[at] = byte;
          for (const key of [publicKey, altered, publicKey.subarray(1)]) {
            expect((await pinnedKey(key.toString('base64')))?.keyId ?? null).toBe(keyIdOf(key));
          }
        },
      ),
      // Unused bits of the bit string, which OpenSSL reads and DER forbids.
      { examples: [[new Uint8Array(32), 11, 1]] },
    );
    expect(await pinnedKey('not base64!')).toBeNull();
  });
});
