import { describe, expect, test } from 'vitest';
import { presentReceipt } from './receipt.ts';

const receipt = {
  receiptJson: '{"score":1e+30,"x":0.1}',
  signature: Buffer.alloc(64, 1),
  publicKey: Buffer.from('key'),
};
const seal = {
  statementJson: '{"leaves":2,"root":"ab"}',
  signature: Buffer.alloc(64, 2),
  publicKey: Buffer.from('seal key'),
  leafJson: '{"score":1e+30}',
  leafIndex: 1n,
  proof: [Buffer.alloc(32, 0xab)],
};

describe('receipts', () => {
  test('a receipt has the signed text unchanged, its signature and the key', () => {
    expect(presentReceipt(receipt)).toBe(
      `{"receipt":{"score":1e+30,"x":0.1},"signature":"${receipt.signature.toString('base64')}","public_key":"a2V5"}`,
    );
  });

  test('a receipt of a round without a seal has the same shape', () => {
    expect(presentReceipt({ ...receipt, seal: undefined })).toBe(presentReceipt(receipt));
  });

  test('a receipt of a sealed round has its leaf, the proof, and the signed statement', () => {
    const text = presentReceipt({ ...receipt, seal });
    expect(JSON.parse(text).seal).toEqual({
      statement: { leaves: 2, root: 'ab' },
      signature: seal.signature.toString('base64'),
      public_key: seal.publicKey.toString('base64'),
      leaf: { score: 1e30 },
      leaf_index: 1,
      proof: ['ab'.repeat(32)],
    });
    expect(text).toContain('"leaf":{"score":1e+30}');
  });
});
