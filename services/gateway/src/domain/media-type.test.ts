import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isJsonMediaType } from './media-type.ts';

describe('Content-Type', () => {
  test.each([
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json; charset="utf-8"',
    'application/json; charset="u\\tf-8"',
    'application/json; charset=utf8',
    'application/json; Charset=Utf8',
    'application/json; charset=utf-8; charset="UTF8"',
    'application/json\t;\tcharset=utf-8 ',
    'application/json; charset = utf-8',
    'application/json;',
    'application/json; ; version=1;',
    'application/json; version=1',
    'application/json; profile="a; charset=latin1"; charset=utf-8',
    'application/json; x="\\""; y=\'z\'',
  ])('the Content-Type %j is JSON', (contentType) => {
    expect(isJsonMediaType(contentType)).toBe(true);
  });

  test.each([
    '',
    'text/plain',
    'application/jsonp',
    'application/json+x',
    'application/problem+json',
    'application /json',
    'application/json charset=utf-8',
    'application/json, application/json',
    'application/json; charset=latin1',
    'application/json; charset="iso-8859-1"',
    'application/json; charset=utf-16',
    'application/json; charset=',
    'application/json; charset=""',
    'application/json; charset="utf-8',
    'application/json; charset=utf-8; charset=latin1',
    'application/json; charset=latin1; charset=utf-8',
    'application/json; version=1; CHARSET=ascii',
    'application/json; charset',
    'application/json; =utf-8',
    'application/json; charset="\\utf-16"',
  ])('the Content-Type %j is not JSON', (contentType) => {
    expect(isJsonMediaType(contentType)).toBe(false);
  });

  const token = fc.stringMatching(/^[a-zA-Z0-9!#$%&'*+.^_`|~-]{1,12}$/);
  const quoted = fc
    .stringMatching(/^[\t\x20-\x7e]{0,20}$/)
    .map((text) => `"${text.replace(/["\\]/g, (character) => `\\${character}`)}"`);
  const parameter = fc.tuple(token, fc.oneof(token, quoted)).filter(([name]) => name.toLowerCase() !== 'charset');

  test('a JSON Content-Type may have any parameters except another charset', () => {
    fc.assert(
      fc.property(fc.array(parameter), fc.constantFrom('', ' ', '\t '), (parameters, space) => {
        const said = parameters.map(([name, value]) => `${space};${space}${name}=${value}`).join('');
        expect(isJsonMediaType(`application/json${said}`)).toBe(true);
        expect(isJsonMediaType(`application/json${said};charset="UTF-8"`)).toBe(true);
        expect(isJsonMediaType(`application/json;charset=latin1${said}`)).toBe(false);
        expect(isJsonMediaType(`application/json${said};charset=latin1`)).toBe(false);
      }),
    );
  });

  test('a Content-Type of any length is read in one pass', () => {
    const startedAt = performance.now();
    for (const part of ['; ', ';a=b', ';a="\\"', ' ', ';a', '"'])
      isJsonMediaType(`application/json${part.repeat(20_000)}x`);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });
});
