/** JSON from outside: numbers and names are read exactly as spelled, and compared by meaning. */
export { canonicalJson } from './canonical-json.ts';
export { ExactNumber, readNumber } from './exact-number.ts';
export { excerptOf } from './excerpt.ts';
export { isJsonObject } from './json-object.ts';
export { parseExactJson, parseJson } from './parse-json.ts';
export { MAX_DEPTH, parseStrictJson, type StrictJson } from './strict-json.ts';
export { foldAscii, hasNul, isAtMost, isStorable, spellsNul } from './text.ts';
export { itemTexts, type PathTree, pathTreeOf, spansAt, textAt } from './text-at.ts';
