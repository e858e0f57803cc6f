/**
 * The SDK has no dependencies, so its verification shares no code with the server that signs. These
 * property tests compare the two.
 */
import { canonicalJson as exactJson, parseJson as serverParseJson, spellsNul } from '@laurel/json';
import * as server from '@laurel/signature';
import { SEAL_SIGNER, sealOf, signedReceiptOf } from '@laurel/signature/round-seal.example';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseStrictJson as parseJson } from '../strict-json.ts';
import { canonicalJson } from './canonical-json.ts';
import { listedKeys, pinnedKey } from './trusted-keys.ts';
import { verifyReceipt } from './verify-receipt.ts';

const signer = server.createSigner(Buffer.alloc(32, 1));
const forger = server.createSigner(Buffer.alloc(32, 2));
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
const json = fc.jsonValue({ stringUnit: 'binary' });

/** The published list, without the forger's key. */
const LIST = {
  keys: [signer, SEAL_SIGNER].map(({ keyId, publicKey }) => ({
    key_id: keyId,
    algorithm: 'Ed25519',
    public_key: base64(publicKey),
    from: '2026-01-01T00:00:00.000Z',
    until: '2026-12-01T00:00:00.000Z',
  })),
};

const KEYS = (await listedKeys(LIST)) ?? [];

/**
 * Returns equal texts for two values that are the same JSON; null for a value without canonical
 * JSON, which cannot have been signed.
 */
function meaningOf(value: unknown): string | null {
  try {
    return server.canonicalJson({ value });
  } catch {
    return null;
  }
}

/** Replaces one member somewhere inside a JSON value. */
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

/** Any JSON, somewhere inside a response; null leaves the response unchanged. */
const change = fc.option(fc.tuple(fc.array(fc.nat(20), { maxLength: 3 }), json));

describe('verifyReceipt', () => {
  it('verifyReceipt accepts exactly what the server signed with a listed key in its period', async () => {
    const dates = fc.constantFrom('2026-11-21T12:00:00.000Z', '2025-11-21T12:00:00.000Z', 'never');
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.string(), json),
        dates,
        fc.boolean(),
        change,
        async (members, date, isForged, by) => {
          const document = { ...members, recorded_at: date };
          fc.pre(meaningOf(document) !== null);
          const { canonical, signature } = (isForged ? forger : signer).sign(document);
          const signed = { receipt: serverParseJson(canonical), signature: base64(signature) };
          const answer = by === null ? signed : changed(signed, by[0], by[1]);
          const isGenuine = meaningOf(answer) === meaningOf(signed) && !isForged && date.startsWith('2026');
          // A document with a kind is not a receipt.
          const isValid = isGenuine && !Object.hasOwn(members, 'kind');
          expect((await verifyReceipt(answer, KEYS)).kind).toBe(isValid ? 'valid' : 'not_valid');
        },
      ),
      { numRuns: 300 },
    );
  });

  it('verifyReceipt accepts exactly the seal of the round that counts the receipt', async () => {
    const sizes = fc.integer({ min: 1, max: 40 });
    await fc.assert(
      fc.asyncProperty(sizes, fc.nat(), fc.nat(), change, async (leaves, seed, other, by) => {
        const index = seed % leaves;
        const ofReceipt = (by === null ? seed : other) % leaves;
        const sealed = { ...signedReceiptOf(ofReceipt), seal: sealOf(leaves, index) };
        const answer = (by === null ? sealed : changed(sealed, by[0], by[1])) as typeof sealed;
        const verdict = await verifyReceipt(answer, KEYS);

        const ownKey = (answer?.seal as typeof sealed.seal | null)?.public_key;
        const isUnchanged =
          meaningOf(answer) === meaningOf({ ...sealed, seal: { ...sealed.seal, public_key: ownKey } });
        const isUnsealed = meaningOf(answer) === meaningOf({ ...sealed, seal: null });
        expect(verdict.kind).toBe((isUnchanged && ofReceipt === index) || isUnsealed ? 'valid' : 'not_valid');
        if (by === null) expect(verdict).toMatchObject({ counted: { seal: { leaf_index: index } } });
      }),
      { numRuns: 150 },
    );
  });

  it('verifyReceipt refuses ambiguous JSON that JSON.parse would accept', async () => {
    const { canonical, signature } = signer.sign({ score: 12.5, recorded_at: '2026-11-21T12:00:00.000Z' });
    const text = JSON.stringify({ receipt: JSON.parse(canonical), signature: base64(signature) });
    for (const given of [text, Buffer.from(text)]) {
      expect(await verifyReceipt(given, KEYS)).toMatchObject({ kind: 'valid', receipt: { score: 12.5 } });
    }
    expect(await listedKeys(JSON.stringify(LIST))).toEqual(KEYS);
    for (const changed of [
      text.replace('"score":12.5', '"score":999999,"score":12.5'),
      text.replace('"score":12.5', '"score":12.500000000000000001'),
      text.replace('"signature":', '"signature":"","signature":'),
      text.replace('"receipt":', '"receipt":{"score":1},"receipt":'),
      text.slice(1),
      '',
    ]) {
      expect(await verifyReceipt(changed, KEYS)).toMatchObject({
        kind: 'not_valid',
        reason: expect.stringMatching(/^the JSON /),
      });
      expect(await verifyReceipt(Buffer.from(changed), KEYS)).toMatchObject({ kind: 'not_valid' });
      expect(await listedKeys(changed)).toBeNull();
    }
    for (const trusted of [undefined, null, KEYS[0], 'keys']) {
      await expect(verifyReceipt(text, trusted as never)).rejects.toThrow(TypeError);
    }
  });

  it('only one base64 text of a signature is accepted', async () => {
    const { canonical, signature } = signer.sign({ score: 12.5, recorded_at: '2026-11-21T12:00:00.000Z' });
    const receipt = JSON.parse(canonical);
    const spelled = base64(signature);
    const loose = `${spelled.slice(0, -3)}${spelled.at(-3) === 'Q' ? 'R' : 'B'}==`;
    for (const other of [
      ` ${spelled}`,
      `${spelled}\n`,
      spelled.replaceAll('=', ''),
      loose,
      signature.toString('base64url'),
    ]) {
      expect((await verifyReceipt({ receipt, signature: other }, KEYS)).kind).toBe('not_valid');
    }
  });

  it('verifyReceipt refuses a changed and a forged receipt', async () => {
    const { canonical, signature } = signer.sign({ score: 12.5, recorded_at: '2026-11-21T12:00:00.000Z' });
    const answer = { receipt: JSON.parse(canonical), signature: base64(signature) };
    const pinned = await pinnedKey(base64(signer.publicKey));
    const keys = pinned === null ? [] : [pinned];
    expect(await verifyReceipt(answer, keys)).toMatchObject({ kind: 'valid', counted: null });
    expect(await verifyReceipt({ ...answer, receipt: { ...answer.receipt, score: 12.6 } }, keys)).toMatchObject({
      reason: 'the receipt is not what the key that it names has signed',
    });
    for (let at = 0; at < signature.length; at += 1) {
      const altered = Buffer.from(signature);
      altered[at] = (altered[at] ?? 0) ^ 1;
      expect((await verifyReceipt({ ...answer, signature: base64(altered) }, keys)).kind).toBe('not_valid');
    }
    const forged = forger.sign({ score: 99, recorded_at: '2026-11-21T12:00:00.000Z' });
    expect(
      await verifyReceipt({ receipt: JSON.parse(forged.canonical), signature: base64(forged.signature) }, keys),
    ).toMatchObject({ kind: 'not_valid' });
  });
});

describe('canonical JSON', () => {
  it('the SDK and the server produce the same canonical JSON, or both refuse', () => {
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

  it('the SDK reads JSON as the server does, with every member name as spelled', () => {
    parseJson('{"h":[],"\\\\":0,"x":1}');
    expect(parseJson('{"\\"":2,"\\\\":3,"h":1}')).toEqual({ '"': 2, '\\': 3, h: 1 });
    fc.assert(
      fc.property(json, fc.nat(2), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        if (spellsNul(text)) expect(() => parseJson(text)).toThrow('has text with NUL');
        else expect(exactJson(parseJson(text))).toBe(exactJson(serverParseJson(text)));
      }),
    );
    for (const text of ['', '{', '{"a\\u00":1}', '[1,]']) expect(() => parseJson(text)).toThrow(SyntaxError);
  });
});
