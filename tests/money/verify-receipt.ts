import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const NODE = join(ROOT, 'node_modules/.bin/node');
const MODULE = join(ROOT, 'libs/signature/src/verify-receipt.ts');

export interface ReceiptVerifier extends Disposable {
  /** Runs what `npm run verify-receipt` runs, on the answer as a partner would have saved it. */
  verify(receipt: object, ...args: string[]): Promise<{ code: number; output: string }>;
}

export function createReceiptVerifier(): ReceiptVerifier {
  const directory = mkdtempSync(join(tmpdir(), 'laurel-receipts-'));
  return {
    verify(receipt, ...args) {
      const file = join(directory, `${randomUUID()}.json`);
      writeFileSync(file, JSON.stringify(receipt));
      const env = { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'laurel-compile-cache') };
      return new Promise((resolve) => {
        execFile(NODE, [MODULE, file, ...args], { env }, (error, stdout, stderr) =>
          resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr }),
        );
      });
    },
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}
