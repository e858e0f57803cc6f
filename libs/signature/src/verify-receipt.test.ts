import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
  return { status, firstLine: (stdout || stderr).split('\n')[0] };
}

describe('verify-receipt', () => {
  it('accepts a receipt as it was signed', () => {
    expect(run(answer)).toEqual({
      status: 0,
      firstLine: 'VALID: this receipt is exactly what the key signed (Ed25519 over RFC 8785 canonical JSON).',
    });
    expect(run(answer, '--public-key', answer.public_key).status).toBe(0);
  });

  it('refuses a receipt that was changed', () => {
    expect(run({ ...answer, receipt: { ...receipt, score: 12.6 } })).toEqual({
      status: 1,
      firstLine: 'NOT VALID: the signature does not belong to this receipt.',
    });
  });

  it('refuses a receipt of another key than the pinned one', () => {
    const other = createSigner(Buffer.alloc(32, 2)).publicKey.toString('base64');
    expect(run(answer, '--public-key', other)).toEqual({
      status: 1,
      firstLine: 'NOT VALID: the receipt was signed with another key than the given one.',
    });
  });

  it('refuses a file of another shape, and one that is no JSON', () => {
    expect(run({ receipt }).status).toBe(1);
    expect(run('{').status).toBe(1);
  });
});
