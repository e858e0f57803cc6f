import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { leafOf, receiptOf, sealOf } from './round-seal.example.ts';
import { verifySeal } from './round-seal.ts';
import { canonicalJson, createSigner } from './signature.ts';

const RECEIPT = canonicalJson(receiptOf(2));
const SEAL = sealOf(5, 2);

function reasonOf(seal: unknown, receipt = RECEIPT): string {
  const verdict = verifySeal(receipt, seal);
  return verdict.kind === 'counted' ? 'counted' : verdict.reason;
}

describe('a seal', () => {
  it('shows of every receipt of its round that it was counted', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_100 }), fc.nat(), (leaves, seed) => {
        const index = seed % leaves;
        const seal = sealOf(leaves, index);
        expect(verifySeal(canonicalJson(receiptOf(index)), seal)).toEqual({ kind: 'counted', seal });
      }),
      { numRuns: 15 },
    );
  });

  it('shows nothing about a receipt that it does not hold', () => {
    expect(reasonOf(SEAL, canonicalJson(receiptOf(3)))).toBe('the leaf belongs to another receipt');
    expect(reasonOf(SEAL, `${RECEIPT} `)).toBe('the leaf belongs to another receipt');
  });

  it('says no more than what was signed', () => {
    const changed = (statement: object) => ({ ...SEAL, statement: { ...SEAL.statement, ...statement } });
    const reason = "the seal's signature does not belong to its statement";
    for (const change of [{ leaves: 6 }, { root: '00' }, { round_number: 8 }, { added: 1 }]) {
      expect(reasonOf(changed(change))).toBe(reason);
    }
    const otherKey = createSigner(Buffer.alloc(32, 4)).publicKey.toString('base64');
    expect(reasonOf({ ...SEAL, public_key: otherKey })).toBe(reason);
    expect(reasonOf({ ...SEAL, signature: '' })).toBe(reason);
    expect(reasonOf(changed({ program_id: '\ud800' }))).toBe('the seal has no canonical JSON');
  });

  it('holds no leaf that was changed, nor one at another place or by another proof', () => {
    const reason = 'the leaf does not lie under the sealed root';
    for (const change of [{ final_rank: 1 }, { payout_amount: '99.00' }, { best: false }, { added: 1 }]) {
      expect(reasonOf({ ...SEAL, leaf: { ...SEAL.leaf, ...change } })).toBe(reason);
    }
    expect(reasonOf({ ...SEAL, leaf_index: 3 })).toBe(reason);
    expect(reasonOf({ ...SEAL, leaf_index: 1.5 })).toBe(reason);
    expect(reasonOf({ ...SEAL, proof: SEAL.proof.slice(1) })).toBe(reason);
    expect(reasonOf({ ...SEAL, proof: SEAL.proof.with(0, 'no hash') })).toBe(reason);
  });

  it('is of the round that its leaves name, and no other signed document passes for it', () => {
    expect(reasonOf(sealOf(5, 2, { round_id: 'another' }))).toBe('the leaf belongs to another round than the seal');
    expect(reasonOf(sealOf(5, 2, { kind: 'laurel.receipt' as never }))).toBe(
      'what was signed is not the seal of a round',
    );
  });

  it('of another shape is refused and never throws', () => {
    const reason = 'the seal is not {statement, signature, public_key, leaf, leaf_index, proof}';
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
    for (const seal of odd) expect(reasonOf(seal)).toBe(reason);
    fc.assert(fc.property(fc.anything(), (seal) => verifySeal(RECEIPT, seal).kind === 'not_counted'));
  });
});
