/** The SDK has no dependency, so it has its own verification of receipts. These laws hold it and the server's together. */
import { canonicalJson as exactJson, parseJson as serverParseJson } from '@laurel/json';
import * as server from '@laurel/signature';
import { SEAL_SIGNER, sealOf, signedReceiptOf } from '@laurel/signature/round-seal.example';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from './canonical-json.ts';
import { parseJson } from './parse-json.ts';
import { listedKeys, pinnedKey } from './trusted-keys.ts';
import { verifyReceipt } from './verify-receipt.ts';

const signer = server.createSigner(Buffer.alloc(32, 1));
const forger = server.createSigner(Buffer.alloc(32, 2));
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
const json = fc.jsonValue({ stringUnit: 'binary' });

/** The list of keys as it is published, of both libraries; only the first key is in it. */
const LIST = {
  keys: [signer, SEAL_SIGNER].map(({ keyId, publicKey }) => ({
    key_id: keyId,
    algorithm: 'Ed25519',
    public_key: base64(publicKey),
    from: '2026-01-01T00:00:00.000Z',
    until: '2026-12-01T00:00:00.000Z',
  })),
};

async function verdictsOf(answer: unknown): Promise<readonly [unknown, unknown]> {
  const ours = await verifyReceipt(answer, (await listedKeys(LIST)) ?? []);
  const theirs = server.verifyReceipt(answer, server.listedKeys(LIST) ?? []);
  return [comparable(ours), comparable(theirs)];
}

/** Keys of both libraries are compared by their ids, bytes and periods. */
function comparable(verdict: unknown): unknown {
  return JSON.parse(
    JSON.stringify(verdict, (_, value) => (value instanceof Uint8Array ? base64(value) : bufferOf(value))),
  );
}

/** Buffer's own JSON form. */
function bufferOf(value: unknown): unknown {
  const { type, data } = (value ?? {}) as { type?: unknown; data?: unknown };
  return type === 'Buffer' ? base64(Uint8Array.from(data as number[])) : value;
}

/** Replaces one member somewhere inside of a JSON value. */
function changed(value: unknown, path: readonly number[], by: unknown): unknown {
  if (typeof value !== 'object' || value === null || path.length === 0) return by;
  const names = Object.keys(value);
  const [step = 0, ...rest] = path;
  const name = names[step % Math.max(1, names.length)];
  if (name === undefined) return by;
  const copy: Record<string, unknown> = structuredClone(value) as Record<string, unknown>;
  copy[name] = changed(copy[name], rest, by);
  return copy;
}

describe('verifyReceipt', () => {
  it('verifyReceipt and the server give the same verdict on any receipt, by any signer and with any change in it', async () => {
    const dates = fc.constantFrom('2026-11-21T12:00:00.000Z', '2025-11-21T12:00:00.000Z', 'never');
    const change = fc.option(fc.tuple(fc.array(fc.nat(20), { maxLength: 3 }), json));
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.string(), json),
        dates,
        fc.boolean(),
        change,
        async (members, date, isForged, by) => {
          let signed: server.SignedDocument;
          try {
            signed = (isForged ? forger : signer).sign({ ...members, recorded_at: date });
          } catch {
            return fc.pre(false);
          }
          const answer = { receipt: serverParseJson(signed.canonical), signature: base64(signed.signature) };
          const [ours, theirs] = await verdictsOf(by === null ? answer : changed(answer, by[0], by[1]));
          expect(ours).toEqual(theirs);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('verifyReceipt and the server give the same verdict on any seal, and on any change in it', async () => {
    const change = fc.option(fc.tuple(fc.array(fc.nat(20), { maxLength: 3 }), json));
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 40 }), fc.nat(), fc.nat(), change, async (leaves, seed, other, by) => {
        const seal = sealOf(leaves, seed % leaves);
        const answer = { ...signedReceiptOf((by === null ? seed : other) % leaves), seal };
        const [ours, theirs] = await verdictsOf(by === null ? answer : changed(answer, by[0], by[1]));
        expect(ours).toEqual(theirs);
        if (by === null)
          expect(ours).toMatchObject({ kind: 'valid', counted: { seal: { leaf_index: seed % leaves } } });
      }),
      { numRuns: 150 },
    );
  });

  it('verifyReceipt accepts a genuine receipt, and refuses a changed and a forged one', async () => {
    const { canonical, signature } = signer.sign({ score: 12.5, recorded_at: '2026-11-21T12:00:00.000Z' });
    const answer = { receipt: JSON.parse(canonical), signature: base64(signature) };
    const pinned = await pinnedKey(base64(signer.publicKey));
    const keys = pinned === null ? [] : [pinned];
    expect(await verifyReceipt(answer, keys)).toMatchObject({ kind: 'valid', counted: null });
    expect(await verifyReceipt({ ...answer, receipt: { ...answer.receipt, score: 12.6 } }, keys)).toMatchObject({
      reason: 'the receipt is not what the key that it names has signed',
    });
    const forged = forger.sign({ score: 99, recorded_at: '2026-11-21T12:00:00.000Z' });
    expect(
      await verifyReceipt({ receipt: JSON.parse(forged.canonical), signature: base64(forged.signature) }, keys),
    ).toMatchObject({ kind: 'not_valid' });
  });
});

describe('trusted keys', () => {
  it('a key has the id that the server gives it, and no other bytes are a key', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        fc.nat(50),
        fc.nat(255),
        async (seed, at, byte) => {
          const { publicKey } = server.createSigner(Buffer.from(seed));
          const altered = Buffer.from(publicKey);
          altered[at] = byte;
          for (const key of [base64(publicKey), base64(altered), base64(publicKey.subarray(1))]) {
            expect((await pinnedKey(key))?.keyId).toBe(server.pinnedKey(key)?.keyId);
          }
        },
      ),
    );
    expect(await pinnedKey('not base64!')).toBeNull();
  });

  it('the SDK and the server read the same lists of keys', async () => {
    const field = fc.constantFrom('key_id', 'algorithm', 'public_key', 'from', 'until');
    await fc.assert(
      fc.asyncProperty(field, fc.oneof(json, fc.constant('2026-01-01T00:00:00.000Z')), async (name, value) => {
        const list = { keys: [...LIST.keys, { ...LIST.keys[0], [name]: value }] };
        const ids = (keys: readonly { readonly keyId: string }[] | null) => keys?.map(({ keyId }) => keyId);
        expect(ids(await listedKeys(list))).toEqual(ids(server.listedKeys(list)));
      }),
    );
    for (const list of [null, 1, {}, { keys: {} }, { keys: [null] }]) {
      expect(await listedKeys(list)).toEqual(server.listedKeys(list));
    }
  });
});

describe('canonical JSON', () => {
  it('the canonical JSON of the SDK is the server’s, also of what has none', () => {
    fc.assert(
      fc.property(json, (value) => {
        let expected: string | null;
        try {
          expected = server.canonicalJson({ value });
        } catch {
          expected = null;
        }
        expect(canonicalJson({ value })).toBe(expected);
      }),
    );
    expect(canonicalJson({ big: Number.POSITIVE_INFINITY })).toBeNull();
  });

  it('JSON is read as the server reads it, with every member name as it was spelled', () => {
    parseJson('{"h":[],"\\\\":0,"x":1}');
    expect(parseJson('{"\\"":2,"\\\\":3,"h":1}')).toEqual({ '"': 2, '\\': 3, h: 1 });
    fc.assert(
      fc.property(json, fc.nat(2), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(exactJson(parseJson(text))).toBe(exactJson(serverParseJson(text)));
      }),
    );
    for (const text of ['', '{', '{"a\\u00":1}', '[1,]']) expect(() => parseJson(text)).toThrow(SyntaxError);
  });
});
