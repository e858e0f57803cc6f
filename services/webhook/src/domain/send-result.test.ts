import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decideResult, ERROR_SENTENCES, excerptOf } from './send-result.ts';

const ENDED_AT = new Date('2026-03-04T05:06:07.089Z');
const DELAYS = [60_000, 300_000] as const;
const answer = (status: number, body = '') => ({ kind: 'answer', status, body: Buffer.from(body) }) as const;

describe('the result of a send', () => {
  test.each([200, 201, 204, 299])('a send that was answered %i is a success', (status) => {
    expect(decideResult(answer(status, 'thanks'), 1, ENDED_AT, DELAYS)).toEqual({
      httpStatus: status,
      error: null,
      responseExcerpt: 'thanks',
      nextSendAt: null,
    });
  });

  test.each([
    [300, 'http_3xx'],
    [304, 'http_3xx'],
    [399, 'http_3xx'],
    [400, 'http_4xx'],
    [410, 'http_4xx'],
    [429, 'http_4xx'],
    [499, 'http_4xx'],
    [500, 'http_5xx'],
    [599, 'http_5xx'],
  ] as const)('a send that was answered %i is the failure %s, and the next one is due in a minute', (status, kind) => {
    expect(decideResult(answer(status), 1, ENDED_AT, DELAYS)).toEqual({
      httpStatus: status,
      error: { kind, sentence: ERROR_SENTENCES[kind] },
      responseExcerpt: '',
      nextSendAt: new Date('2026-03-04T05:07:07.089Z'),
    });
  });

  test('a send without a response has no status and no excerpt, and after the third there is none', () => {
    const end = { kind: 'failure', error: 'timeout', sentence: 'No answer came in time.' } as const;
    expect(decideResult(end, 3, ENDED_AT, DELAYS)).toEqual({
      httpStatus: null,
      error: { kind: 'timeout', sentence: 'No answer came in time.' },
      responseExcerpt: null,
      nextSendAt: null,
    });
  });
});

describe('the excerpt of a response body', () => {
  test.each([
    ['empty', Buffer.alloc(0), ''],
    ['with NULs', Buffer.from('\0a\0\0b\0'), 'ab'],
    ['that is binary', Buffer.from([0xff, 0x00, 0xc3, 0x28]), '\ufffd\ufffd('],
    ['of 1,000 characters', Buffer.from('x'.repeat(1_000)), 'x'.repeat(1_000)],
    ['of 1,001 characters', Buffer.from(`${'x'.repeat(1_000)}y`), 'x'.repeat(1_000)],
    ['of characters beyond 16 bits', Buffer.from('🂡'.repeat(1_001)), '🂡'.repeat(1_000)],
    ['with such a one at the end', Buffer.from(`${'x'.repeat(999)}🂡🂡`), `${'x'.repeat(999)}🂡`],
    ['with 2,000 NULs before its text', Buffer.from(`${'\0'.repeat(2_000)}hello`), 'hello'],
    ['with 5,000 NULs before its text', Buffer.from(`${'\0'.repeat(5_000)}hello`), 'hello'],
  ])('the excerpt of a response body: %s', (_, body, excerpt) => {
    expect(excerptOf(body)).toBe(excerpt);
  });

  test('the excerpt of a body is the text’s beginning, without NUL, of at most 1,000 characters as PostgreSQL counts them', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 2_000 }),
      fc.string({ unit: 'binary', minLength: 900, maxLength: 1_100 }).map((text) => Buffer.from(text)),
    );
    fc.assert(
      fc.property(bytes, (given) => {
        const body = Buffer.from(given);
        const excerpt = excerptOf(body);
        const characters = [...body.filter((byte) => byte !== 0).toString()];
        expect(excerpt).toBe(characters.slice(0, 1_000).join(''));
        expect(excerpt.isWellFormed() && !excerpt.includes('\0')).toBe(true);
      }),
    );
  });
});
