import { parseJson } from '@laurel/json';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evidenceFields } from './evidence.ts';
import { canonicalJson } from './signature.ts';

describe('evidence', () => {
  it('is kept as it was sent, and null when none was', () => {
    expect(evidenceFields('{"replay":[1,2]}')).toEqual({ evidence: { replay: [1, 2] } });
    expect(evidenceFields('')).toEqual({ evidence: null });
  });

  it('without a canonical form is kept as its exact text', () => {
    for (const text of ['{"half":"\\ud800"}', '{"\\udfff":1}', '{"big":1e999}', '{"deep":[[{"big":-1e999}]]}']) {
      expect(evidenceFields(text)).toEqual({ evidence: null, evidence_text: text });
    }
  });

  it('keeps its names, also where the native parser would take them from evidence before', () => {
    evidenceFields('{"h":[],"\\\\":0,"x":1}');
    const signed = canonicalJson(evidenceFields('{"h":1,"\\"":2,"\\\\":3}'));
    expect(signed).toBe('{"evidence":{"\\"":2,"\\\\":3,"h":1}}');
  });

  it('can be signed whatever JSON object it is, and read again as it was', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ stringUnit: 'binary' })), (evidence) => {
        const text = JSON.stringify(evidence);
        const signed = parseJson(canonicalJson(evidenceFields(text))) as { evidence: unknown; evidence_text: string };
        expect(signed.evidence ?? parseJson(signed.evidence_text)).toEqual(parseJson(text));
      }),
    );
  });
});
