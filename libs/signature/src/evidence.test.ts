import { parseJson } from '@laurel/json';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evidenceFields } from './evidence.ts';
import { canonicalJson } from './signed-bytes.ts';

describe('evidence', () => {
  it('evidence has no separate text if it was sent as canonical JSON', () => {
    expect(evidenceFields('')).toEqual({ evidence: null });
    expect(evidenceFields('{"a":{"b":null},"replay":[1,0.1]}')).toEqual({
      evidence: { a: { b: null }, replay: [1, 0.1] },
    });
  });

  it.each(['{"b":1,"a":2}', '{ "a": 1 }', '{"a":1.0}', '{"a":1e3}', '{"\\u0061":"\\/"}', '{"a":-0}'])(
    'evidence that is not canonical JSON is kept with the bytes that were sent: %s',
    (text) => {
      expect(evidenceFields(text)).toEqual({ evidence: parseJson(text), evidence_text: text });
    },
  );

  it.each([
    '{"seed":12345678901234567891}',
    '{"a":[{"b":0.1000000000000000055}]}',
    '{"tiny":1e-400}',
    '{"half":"\\ud800"}',
    '{"\\udfff":1}',
    '{"big":1e999}',
    '{"deep":[[{"big":-1e999}]]}',
  ])('evidence that a JSON parser would change is kept as bytes only: %s', (text) => {
    expect(evidenceFields(text)).toEqual({ evidence: null, evidence_text: text });
  });

  it('evidence keeps its own member names, whatever evidence was parsed before', () => {
    evidenceFields('{"h":[],"\\\\":0,"x":1}');
    const text = '{"\\"":2,"\\\\":3,"h":1}';
    expect(canonicalJson(evidenceFields(text))).toBe(`{"evidence":${text}}`);
  });

  it('any JSON object can be signed as evidence', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ stringUnit: 'binary' })),
        fc.nat(2),
        (evidence, indent) => {
          const text = JSON.stringify(evidence, null, indent);
          const signed = parseJson(canonicalJson(evidenceFields(text))) as { evidence: object; evidence_text?: string };
          expect(signed.evidence_text ?? canonicalJson(signed.evidence)).toBe(text);
        },
      ),
    );
  });
});
