import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createSigner, type Signer } from '@laurel/signature';
import { SEAL_SIGNER, sealOf, signedReceiptOf } from '@laurel/signature/round-seal.example';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const CLI = fileURLToPath(new URL('../cli.ts', import.meta.url));
const VALID = 'VALID: this receipt is exactly what the key signed (Ed25519 over RFC 8785 canonical JSON).';
const signer = createSigner(Buffer.alloc(32, 1));
const forger = createSigner(Buffer.alloc(32, 2));
const RECEIPT = {
  receipt_id: 'r',
  score: 12.5,
  met_threshold: true,
  recorded_at: '2026-11-21T12:00:00.000Z',
  evidence: { replay: 'x' },
};

const keyOf = ({ publicKey }: Signer) => publicKey.toString('base64');
function answerOf(receipt: object, by = signer) {
  const { canonical, signature } = by.sign(receipt);
  return { receipt: JSON.parse(canonical), signature: signature.toString('base64'), public_key: keyOf(by) };
}
const answer = answerOf(RECEIPT);
const PINNED = ['--public-key', keyOf(signer)];
const LIST = {
  keys: [
    {
      key_id: signer.keyId,
      algorithm: 'Ed25519',
      public_key: keyOf(signer),
      from: '2026-01-01T00:00:00.000Z',
      until: '2026-11-22T00:00:00.000Z',
    },
  ],
};

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'verify-receipt-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

function save(name: string, content: unknown): string {
  const file = join(directory, name);
  const isRaw = typeof content === 'string' || Buffer.isBuffer(content);
  writeFileSync(file, isRaw ? content : JSON.stringify(content));
  return file;
}

const run = (content: unknown, ...options: string[]) => runFile(save('receipt.json', content), ...options);

async function runFile(file: string, ...options: string[]) {
  const child = spawn(process.execPath, [CLI, 'verify-receipt', file, ...options]);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  const status = await new Promise<number | null>((resolve) => child.once('close', resolve));
  const lines = output.split('\n');
  return { status, firstLine: lines[0], verdicts: lines.filter((line) => line.includes('VALID')), output };
}

describe('verify-receipt', () => {
  it('verify-receipt accepts an unchanged receipt, by a pinned key and by a list of keys', async () => {
    expect(await run(answer, ...PINNED)).toMatchObject({ status: 0, firstLine: VALID, verdicts: [VALID] });
    expect((await run({ ...answer, seal: null }, ...PINNED)).verdicts).toEqual([VALID]);
    const listed = await run(answer, '--keys', save('keys.json', LIST));
    expect(listed).toMatchObject({ status: 0, verdicts: [VALID] });
    expect(listed.output).toContain(
      `signed with the key ${signer.keyId}, listed from 2026-01-01T00:00:00.000Z, until 2026-11-22T00:00:00.000Z`,
    );
  });

  it('verify-receipt gives no verdict on a receipt when no key is trusted', async () => {
    const nothing = await run(answer);
    expect(nothing).toMatchObject({ status: 2, verdicts: [] });
    expect(nothing.firstLine).toMatch(/^Nothing was checked: .* --keys or --public-key\.$/);
  });

  it('verify-receipt refuses a forged receipt that includes the forger’s key', async () => {
    const forged = answerOf({ ...RECEIPT, score: 99 }, forger);
    const refusal = `NOT VALID: the receipt names the key "${forger.keyId}", which is not among the trusted ones.`;
    for (const options of [PINNED, ['--keys', save('keys.json', LIST)]]) {
      expect(await run(forged, ...options)).toMatchObject({ status: 1, verdicts: [refusal] });
    }
    expect(await run(forged)).toMatchObject({ status: 2, verdicts: [] });
  });

  it('verify-receipt refuses a changed receipt', async () => {
    expect(await run({ ...answer, receipt: { ...answer.receipt, score: 12.6 } }, ...PINNED)).toMatchObject({
      status: 1,
      verdicts: ['NOT VALID: the receipt is not what the key that it names has signed.'],
    });
    const late = answerOf({ ...RECEIPT, recorded_at: '2026-11-22T00:00:00.000Z' });
    expect(await run(late, '--keys', save('keys.json', LIST))).toMatchObject({
      status: 1,
      verdicts: [expect.stringMatching('outside of the period of the key that signed it')],
    });
  });

  it('verify-receipt refuses a file of another shape', async () => {
    expect((await run({ receipt: answer.receipt }, ...PINNED)).status).toBe(1);
    expect((await run('{', ...PINNED)).status).toBe(1);
    expect((await run('null', ...PINNED)).status).toBe(1);
  });

  it('verify-receipt refuses an ambiguous file, even if one reading is what was signed', async () => {
    const text = JSON.stringify(answer);
    const receipt = JSON.stringify(answer.receipt);
    for (const [file, reason] of [
      [text.replace('"score":12.5', '"score":999999,"score":12.5'), 'names the member "score" twice'],
      [text.replace('"score":12.5', '"sc\\u006fre":999999,"score":12.5'), 'names the member "score" twice'],
      [text.replace('{"receipt":', `{"receipt":{"score":999999},"receipt":`), 'names the member "receipt" twice'],
      [text.replace(receipt, receipt.replace('12.5', '12.50000000000000001')), 'has a number with more digits'],
      [Buffer.from(text.replace('"x"', '"\u00ff"'), 'latin1'), 'is not UTF-8'],
      [`\ufeff${text}`, 'is not JSON'],
      [text.replace(answer.signature, `${answer.signature} `), 'the receipt is not what the key'],
    ] as const) {
      const refused = await run(file, ...PINNED);
      expect([file, refused]).toMatchObject([file, { status: 1, verdicts: [expect.stringContaining(reason)] }]);
    }
  });

  it('verify-receipt reports that it checked nothing when the file of the receipt cannot be read', async () => {
    for (const file of [join(directory, 'missing.json'), directory]) {
      const unread = await runFile(file, ...PINNED);
      expect(unread).toMatchObject({ status: 2, verdicts: [] });
      expect(unread.firstLine).toContain(`Nothing was checked: ${file} could not be read`);
    }
  });

  it('verify-receipt reports that it checked nothing when keys are unreadable or come over remote http', async () => {
    for (const [keys, reason] of [
      [join(directory, 'missing.json'), 'could not be read'],
      [save('odd.json', { keys: [{ ...LIST.keys[0], key_id: forger.keyId }] }), 'is not {keys:'],
      [
        save('doubled.json', JSON.stringify(LIST).replace('"until":', '"until":null,"until":')),
        'names the member "until" twice',
      ],
      [save('local-time.json', { keys: [{ ...LIST.keys[0], from: '1 Jan 2026' }] }), 'is not {keys:'],
      ['http://keys.example.com/keys.json', 'over http from this machine alone'],
      ['http://127.0.0.1.example.com/keys.json', 'over http from this machine alone'],
      ['http://127.0.0.1:1/keys.json', 'could not be read'],
    ] as const) {
      const refused = await run(answer, '--keys', keys);
      expect(refused).toMatchObject({ status: 2, verdicts: [] });
      expect(refused.firstLine).toMatch(/^Nothing was checked: /);
      expect(refused.firstLine).toContain(reason);
    }
    expect(await run(answer, '--public-key', 'AAAA')).toMatchObject({ status: 2, verdicts: [] });
    expect(await run(answer, '--unknown')).toMatchObject({ status: 2, verdicts: [] });
  });

  it('verify-receipt reads the keys from an address, and follows no redirect', async () => {
    const server = createServer((request, response) => {
      if (request.url === '/moved') response.writeHead(302, { location: '/keys.json' }).end();
      else if (request.url === '/keys.json') response.end(JSON.stringify(LIST));
      else response.writeHead(404).end('{}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      expect(await run(answer, '--keys', `${base}/keys.json`)).toMatchObject({ status: 0, verdicts: [VALID] });
      expect(await run(answer, '--keys', `${base}/moved`)).toMatchObject({ status: 2, verdicts: [] });
      expect(await run(answer, '--keys', `${base}/missing`)).toMatchObject({ status: 2, verdicts: [] });
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });
});

describe('verify-receipt of a receipt whose round is sealed', () => {
  const sealed = (index: number, by = SEAL_SIGNER) => ({ ...signedReceiptOf(index), seal: sealOf(3, index, {}, by) });
  const both = [...PINNED, '--public-key', keyOf(SEAL_SIGNER)];

  it('verify-receipt also reports where a sealed receipt was counted', async () => {
    expect(await run(sealed(0), ...both)).toMatchObject({
      status: 0,
      verdicts: [VALID, 'VALID: this receipt is counted in round 7 with rank 1, payout 12.50.'],
    });
    expect((await run(sealed(1), ...both)).verdicts[1]).toBe(
      'VALID: this receipt is counted in round 7; a better run gave its player rank 2, payout 0.00.',
    );
  });

  it('verify-receipt refuses a seal that does not hold the receipt', async () => {
    expect(await run({ ...sealed(0), seal: sealOf(3, 1) }, ...both)).toMatchObject({
      status: 1,
      verdicts: ['NOT VALID: the receipt is genuine, but the leaf belongs to another receipt.'],
    });
    expect((await run({ ...sealed(0), seal: 'settled' }, ...both)).status).toBe(1);
  });

  it('verify-receipt refuses a genuine receipt whose seal an untrusted key signed', async () => {
    const reason = (by: Signer) =>
      `NOT VALID: the receipt is genuine, but the seal of its round names the key "${by.keyId}", which is not among the trusted ones.`;
    expect(await run(sealed(0), ...PINNED)).toMatchObject({ status: 1, verdicts: [reason(SEAL_SIGNER)] });
    expect(await run(sealed(0, forger), ...both)).toMatchObject({ status: 1, verdicts: [reason(forger)] });
  });
});
