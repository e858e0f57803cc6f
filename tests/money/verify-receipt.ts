import { execFile } from 'node:child_process';
import { createPrivateKey, createPublicKey, randomUUID, sign } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SigningKeyList } from '@laurel/sdk';
import type { Answer, HttpClient } from '@laurel/testing';
import { expectStatus } from '../world.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const NODE = join(ROOT, 'node_modules/.bin/node');
const MODULE = join(ROOT, 'libs/sdk/src/cli.ts');
const KEYS_PATH = '/.well-known/laurel-keys.json';

export interface ReceiptVerifier extends Disposable {
  /**
   * Runs the program of `npm run verify-receipt` on a response that a partner has saved: as JSON,
   * or as the exact text.
   */
  verify(receipt: object | string, ...args: string[]): Promise<{ code: number; output: string }>;
  /** Saves the service's current list of keys, and returns the arguments for `verify`. */
  saveKeys(http: HttpClient): Promise<['--keys', string]>;
}

export function createReceiptVerifier(): ReceiptVerifier {
  const directory = mkdtempSync(join(tmpdir(), 'laurel-receipts-'));
  const save = (content: object | string): string => {
    const file = join(directory, `${randomUUID()}.json`);
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    return file;
  };
  return {
    verify(receipt, ...args) {
      const env = { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'laurel-compile-cache') };
      return new Promise((resolve) => {
        execFile(NODE, [MODULE, 'verify-receipt', save(receipt), ...args], { env }, (error, stdout, stderr) =>
          resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr }),
        );
      });
    },
    saveKeys: async (http) => ['--keys', save((await readKeys(http)).text)],
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

export async function readKeys(http: HttpClient): Promise<Answer<SigningKeyList>> {
  return expectStatus(200, await http.send<SigningKeyList>('GET', KEYS_PATH));
}

/**
 * Forges receipts like somebody who knows how receipts are signed but has another key. The forger
 * shares no code with the service.
 */
export function createForger() {
  const seed = Buffer.alloc(32, 0x66);
  const pkcs8 = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]);
  const privateKey = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).toString('base64');
  return {
    publicKey,
    /** Signs the document unchanged; its members are in canonical order. */
    sign(document: Record<string, unknown>): { signature: string; public_key: string } {
      const sorted = Object.fromEntries(Object.entries(document).sort(([one], [other]) => (one < other ? -1 : 1)));
      const signature = sign(null, Buffer.from(JSON.stringify(sorted)), privateKey).toString('base64');
      return { signature, public_key: publicKey };
    },
  };
}
