import { canonicalJson as canonicalText } from '@laurel/json';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from './signed-bytes.ts';

describe('the signed bytes', () => {
  it('a document without canonical JSON has no signed bytes', () => {
    expect(() => canonicalJson({ score: Number.POSITIVE_INFINITY })).toThrow();
    expect(() => canonicalJson({ text: '\ud800' })).toThrow();
  });

  it('the signed bytes equal the canonical JSON of libs/json for a value whose numbers are doubles', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (document) => {
        expect(canonicalJson(document)).toBe(canonicalText(document));
      }),
      { numRuns: 1_000 },
    );
  });
});
