import { canonicalJson, createSigner } from '@laurel/signature';
import { leafOf, receiptOf, SEAL_SIGNER, sealOf } from '@laurel/signature/round-seal.example';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifySeal } from './round-seal.ts';
import { pinnedKey, type TrustedKey } from './trusted-keys.ts';

const SEAL_KEY = (await pinnedKey(SEAL_SIGNER.publicKey.toString('base64'))) as TrustedKey;
const RECEIPT = canonicalJson(receiptOf(2));
const SEAL = sealOf(5, 2);

async function reasonOf(seal: unknown, receipt = RECEIPT): Promise<string> {
  const verdict = await verifySeal(receipt, seal, [SEAL_KEY]);
  return verdict.kind === 'counted' ? 'counted' : verdict.reason;
}

describe('a seal', () => {
  it('a round’s seal proves that each of its receipts was counted', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 1_100 }), fc.nat(), async (leaves, seed) => {
        const index = seed % leaves;
        const seal = sealOf(leaves, index);
        const verdict = await verifySeal(canonicalJson(receiptOf(index)), seal, [SEAL_KEY]);
        expect(verdict).toEqual({ kind: 'counted', seal, key: SEAL_KEY });
      }),
      { numRuns: 15 },
    );
  });

  it('a round’s seal proves nothing about a receipt that the seal does not contain', async () => {
    expect(await reasonOf(SEAL, canonicalJson(receiptOf(3)))).toBe('the leaf belongs to another receipt');
    expect(await reasonOf(SEAL, `${RECEIPT} `)).toBe('the leaf belongs to another receipt');
  });

  it('a round’s seal proves only what was signed', async () => {
    const changed = (statement: object) => ({ ...SEAL, statement: { ...SEAL.statement, ...statement } });
    const reason = 'the seal of its round is not what the key that it names has signed';
    for (const change of [{ leaves: 6 }, { root: '00' }, { round_number: 8 }, { added: 1 }]) {
      expect(await reasonOf(changed(change))).toBe(reason);
    }
    expect(await reasonOf({ ...SEAL, signature: '' })).toBe(reason);
    expect(await reasonOf(changed({ program_id: '\ud800' }))).toBe('the seal has no canonical JSON');
  });

  it('a round’s seal that an untrusted key signed proves nothing', async () => {
    const forger = createSigner(Buffer.alloc(32, 4));
    const forged = sealOf(5, 2, {}, forger);
    const unknown = `the seal of its round names the key "${forger.keyId}", which is not among the trusted ones`;
    expect(await reasonOf(forged)).toBe(unknown);
    expect(await reasonOf({ ...forged, public_key: SEAL.public_key })).toBe(unknown);
    const { key_id: _, ...unnamed } = forged.statement;
    expect(await reasonOf({ ...forged, statement: unnamed })).toBe(
      'the seal of its round was signed by none of the trusted keys',
    );
    expect(await reasonOf({ ...forged, statement: { ...unnamed, key_id: SEAL_KEY.keyId } })).toMatch(
      'not what the key',
    );
    expect(await reasonOf({ ...SEAL, public_key: forged.public_key })).toBe('counted');
  });

  it('a round’s seal is refused if its leaf was changed', async () => {
    const reason = 'the leaf does not lie under the sealed root';
    for (const change of [{ final_rank: 1 }, { payout_amount: '99.00' }, { best: false }, { added: 1 }]) {
      expect(await reasonOf({ ...SEAL, leaf: { ...SEAL.leaf, ...change } })).toBe(reason);
    }
    expect(await reasonOf({ ...SEAL, leaf_index: 3 })).toBe(reason);
    expect(await reasonOf({ ...SEAL, leaf_index: 1.5 })).toBe(reason);
    expect(await reasonOf({ ...SEAL, proof: SEAL.proof.slice(1) })).toBe(reason);
    expect(await reasonOf({ ...SEAL, proof: SEAL.proof.with(0, 'no hash') })).toBe(reason);
  });

  it('a round’s seal is refused if its leaf belongs to another round', async () => {
    expect(await reasonOf(sealOf(5, 2, { round_id: 'another' }))).toBe(
      'the leaf belongs to another round than the seal',
    );
    expect(await reasonOf(sealOf(5, 2, { kind: 'laurel.receipt' as never }))).toBe(
      'what was signed is not the seal of a round',
    );
  });

  it('a round’s seal of another shape is refused and never throws', async () => {
    const reason = 'the seal is not {statement, signature, leaf, leaf_index, proof}';
    const { proof: _, ...withoutProof } = SEAL;
    const odd = [
      null,
      1,
      [],
      {},
      withoutProof,
      { ...SEAL, leaf: [] },
      { ...SEAL, proof: [1] },
      { ...SEAL, leaf: leafOf },
    ];
    for (const seal of odd) expect(await reasonOf(seal)).toBe(reason);
    await fc.assert(
      fc.asyncProperty(fc.anything(), async (seal) => {
        expect(await reasonOf(seal)).not.toBe('counted');
      }),
    );
  });
});
