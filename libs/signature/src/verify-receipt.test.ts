import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { receiptOf, SEAL_SIGNER, sealOf } from './round-seal.example.ts';
import { createSigner } from './signature.ts';

const CLI = fileURLToPath(new URL('./verify-receipt.ts', import.meta.url));
const signer = createSigner(Buffer.alloc(32, 1));
const receipt = { receipt_id: 'r', score: 12.5, met_threshold: true, evidence: { replay: 'x' } };
const answer = {
  receipt,
  signature: signer.sign(receipt).signature.toString('base64'),
  public_key: signer.publicKey.toString('base64'),
};
let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'verify-receipt-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

function run(content: unknown, ...options: string[]) {
  const file = join(directory, 'receipt.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, file, ...options], { encoding: 'utf8' });
  const lines = (stdout || stderr).split('\n');
  return { status, firstLine: lines[0], verdicts: lines.filter((line) => line.includes('VALID')) };
}

describe('verify-receipt', () => {
  it('accepts a receipt as it was signed', () => {
    const valid = 'VALID: this receipt is exactly what the key signed (Ed25519 over RFC 8785 canonical JSON).';
    expect(run(answer)).toEqual({ status: 0, firstLine: valid, verdicts: [valid] });
    expect(run({ ...answer, seal: null }).verdicts).toEqual([valid]);
    expect(run(answer, '--public-key', answer.public_key).status).toBe(0);
  });

  it('refuses a receipt that was changed', () => {
    expect(run({ ...answer, receipt: { ...receipt, score: 12.6 } })).toMatchObject({
      status: 1,
      firstLine: 'NOT VALID: the signature does not belong to this receipt.',
    });
  });

  it('refuses a receipt of another key than the pinned one', () => {
    const other = createSigner(Buffer.alloc(32, 2)).publicKey.toString('base64');
    expect(run(answer, '--public-key', other)).toMatchObject({
      status: 1,
      firstLine: 'NOT VALID: the receipt was signed with another key than the given one.',
    });
  });

  it('refuses a file of another shape, and one that is no JSON', () => {
    expect(run({ receipt }).status).toBe(1);
    expect(run('{').status).toBe(1);
  });
});

describe('verify-receipt of a receipt whose round is sealed', () => {
  const sealed = (index: number) => ({
    receipt: receiptOf(index),
    signature: signer.sign(receiptOf(index)).signature.toString('base64'),
    public_key: answer.public_key,
    seal: sealOf(3, index),
  });
  const sealKey = SEAL_SIGNER.publicKey.toString('base64');

  it('also says where the receipt was counted', () => {
    expect(run(sealed(0))).toMatchObject({
      status: 0,
      verdicts: [
        'VALID: this receipt is exactly what the key signed (Ed25519 over RFC 8785 canonical JSON).',
        'VALID: this receipt is counted in round 7 with rank 1, payout 12.50.',
      ],
    });
    expect(run(sealed(1)).verdicts[1]).toBe(
      'VALID: this receipt is counted in round 7; a better run gave its player rank 2, payout 0.00.',
    );
  });

  it('refuses a seal that does not hold the receipt', () => {
    expect(run({ ...sealed(0), seal: sealOf(3, 1) })).toMatchObject({
      status: 1,
      verdicts: ['NOT VALID: the receipt is genuine, but the leaf belongs to another receipt.'],
    });
    expect(run({ ...sealed(0), seal: 'settled' }).status).toBe(1);
  });

  it('wants the keys of both to be pinned, or none', () => {
    expect(run(sealed(0), '--public-key', answer.public_key, '--public-key', sealKey).status).toBe(0);
    expect(run(sealed(0), '--public-key', answer.public_key)).toMatchObject({
      status: 1,
      verdicts: ['NOT VALID: the seal of the round was signed with another key than the given one.'],
    });
  });
});
