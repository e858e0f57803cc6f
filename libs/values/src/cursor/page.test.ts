import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutPage } from './page.ts';

describe('the pages of a list', () => {
  it('the pages of a list contain each row once and in order', () => {
    fc.assert(
      fc.property(fc.nat(40), fc.integer({ min: 1, max: 7 }), (count, limit) => {
        const rows = Array.from({ length: count }, (_, row) => row);
        const pages: number[][] = [];
        for (let next: number | null = 0; next !== null; ) {
          const { page, last }: ReturnType<typeof cutPage<number>> = cutPage(rows.slice(next, next + limit + 1), limit);
          pages.push([...page]);
          next = last === null ? null : last + 1;
        }
        expect(pages.flat()).toEqual(rows);
        expect(pages).toHaveLength(Math.max(1, Math.ceil(count / limit)));
      }),
    );
  });
});
