import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { excerptOf } from './excerpt.ts';

describe('the excerpt of a body', () => {
  it.each([
    ['empty', Buffer.alloc(0), ''],
    ['with NULs', Buffer.from('\0a\0\0b\0'), 'ab'],
    ['that is binary', Buffer.from([0xff, 0x00, 0xc3, 0x28]), '\ufffd\ufffd('],
    ['of 1,000 characters', Buffer.from('x'.repeat(1_000)), 'x'.repeat(1_000)],
    ['of 1,001 characters', Buffer.from(`${'x'.repeat(1_000)}y`), 'x'.repeat(1_000)],
    ['of characters beyond 16 bits', Buffer.from('🂡'.repeat(1_001)), '🂡'.repeat(1_000)],
    ['with such a one at the end', Buffer.from(`${'x'.repeat(999)}🂡🂡`), `${'x'.repeat(999)}🂡`],
    ['with 2,000 NULs before its text', Buffer.from(`${'\0'.repeat(2_000)}hello`), 'hello'],
    ['with 5,000 NULs before its text', Buffer.from(`${'\0'.repeat(5_000)}hello`), 'hello'],
  ])('the excerpt of a body: %s', (_, body, excerpt) => {
    expect(excerptOf(body)).toBe(excerpt);
  });

  it('the excerpt of a body is its first 1,000 characters without NUL, as PostgreSQL counts them', () => {
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

  it('the excerpt of a text is its first 1,000 characters without NUL', () => {
    const texts = fc.string({ unit: 'binary', minLength: 900, maxLength: 1_100 });
    fc.assert(
      fc.property(texts, (text) => {
        const expected = [...text.toWellFormed().replaceAll('\0', '')].slice(0, 1_000).join('');
        expect(excerptOf(Buffer.from(text))).toBe(expected);
      }),
    );
  });
});
