import { expect, test } from 'vitest';
import { readSearch } from '../requests/search.ts';
import { filterOf } from './error-filter.ts';

test('a frequent error links to the requests with its error code or, without a code, with its status class', () => {
  expect(filterOf('insufficient_funds')).toEqual({ error_code: 'insufficient_funds' });
  expect(filterOf('http_429')).toEqual({ status: '4xx' });
  expect(filterOf('http_504')).toEqual({ status: '5xx' });
});

test('the request log reads the filter of each frequent error from its address', () => {
  for (const code of ['not_found', 'http_404']) expect(readSearch(filterOf(code))).toEqual(filterOf(code));
});
