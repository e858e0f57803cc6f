import { describe, expect, it } from 'vitest';
import { pageSize } from './page-size.ts';

describe('pageSize', () => {
  it('pageSize applies the default and the bounds of a page size', () => {
    expect([0, -5, 1, 200, 201].map((requested) => pageSize(requested, 200))).toEqual([50, 1, 1, 200, 200]);
  });
});
