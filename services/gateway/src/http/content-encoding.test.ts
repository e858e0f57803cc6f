import { expect, test } from 'vitest';
import { isSentUnencoded } from './content-encoding.ts';

const TAKEN = [undefined, '', 'identity', 'Identity', 'IDENTITY', ' identity\t', 'identity, Identity', ', identity,'];
const REFUSED = ['gzip', 'GZIP', 'identity, gzip', 'br', 'identity;q=1', '"identity"', '\u0130dentity'];

test.each(TAKEN)('a body with Content-Encoding %j is accepted', (header) => {
  expect(isSentUnencoded(header)).toBe(true);
});

test.each(REFUSED)('a body with Content-Encoding %j is refused', (header) => {
  expect(isSentUnencoded(header)).toBe(false);
});
