/**
 * What the next request is, and what ends a poll. laws.test.ts states what holds for every page.
 */
import { isRefused } from '@laurel/errors';
import { describe, expect, test } from 'vitest';
import { parseDescriptor } from './descriptor.ts';
import { parseBody } from './json-body.ts';
import { firstRequest, nextPage } from './paging.ts';

function pollOf(pull: object) {
  const sent = { version: 1, map: { records: '/runs' }, pull: { url: 'https://game.example/api/runs?a=1', ...pull } };
  const descriptor = parseDescriptor(sent, 'pull_poll');
  if (isRefused(descriptor) || descriptor.pull === null) throw new Error('the descriptor polls');
  return { descriptor, pull: descriptor.pull };
}

function after(pull: object, page: object, cursor: string | null = null) {
  const poll = pollOf(pull);
  const body = parseBody(JSON.stringify(page));
  if (isRefused(body)) throw new Error(body.message);
  return nextPage(poll.descriptor, poll.pull, firstRequest(poll.pull, cursor), body);
}

const CURSOR = { paging: { type: 'cursor', param: 'after', pointer: '/next' } };
const NEXT_URL = { paging: { type: 'next_url', pointer: '/next' } };
const SINCE = { paging: { type: 'since', param: 'since', pointer: '/at' } };

test('a parameter replaces one of the same name in the URL', () => {
  const { pull } = pollOf({ ...CURSOR, query: { a: '2', b: 'x y' } });
  expect(firstRequest(pull, null).url).toBe('https://game.example/api/runs?a=2&b=x+y');
  expect(firstRequest(pull, 'c1').url).toBe('https://game.example/api/runs?a=2&b=x+y&after=c1');
});

describe('the page after this one', () => {
  test.each([
    ['https://game.example/older?p=2', 'https://game.example/older?p=2'],
    ['/older?p=2', 'https://game.example/older?p=2'],
    ['?p=2', 'https://game.example/api/runs?p=2'],
    ['more', 'https://game.example/api/more'],
  ])('the URL %s leads to the next page', (next, url) => {
    expect(after(NEXT_URL, { runs: [], next })).toMatchObject({ kind: 'next', request: { url } });
  });

  test('a next page that is named by a number is requested with every digit of the number', () => {
    expect(after(CURSOR, { next: 7 })).toMatchObject({ kind: 'next', cursor: '7' });
  });

  test('the next page begins at the value of the last record that has a value', () => {
    const runs = [{ at: 't1' }, { at: 't2' }, {}, { at: null }, { at: '' }];
    expect(after(SINCE, { runs })).toMatchObject({ kind: 'next', cursor: 't2' });
  });
});

describe('a page is the last one of its poll', () => {
  test.each([
    ['nothing there', {}],
    ['null', { next: null }],
    ['an empty text', { next: '' }],
    ['its own cursor', { next: 'c1' }],
  ])('a page is the last one of its poll if it names %s', (_what, page) => {
    expect(after(CURSOR, page, 'c1')).toEqual({ kind: 'end', cursor: 'c1' });
  });

  test('a page is the last one of its poll if no record of the page has the value', () => {
    expect(after(SINCE, { runs: [{}, { at: null }] }, 't1')).toEqual({ kind: 'end', cursor: 't1' });
  });
});

test('if the URL asks for a page size, only a page of that size is full', () => {
  const run = (id: number) => ({ id, at: 't5' });
  const kindOf = (query: object) => {
    const { descriptor, pull } = pollOf({ ...SINCE, query });
    const first = { runs: [{ id: 0, at: 't1' }, run(1), run(2)] };
    const next = after({ ...SINCE, query }, first);
    if (next.kind !== 'next') throw new Error('the first page is followed by another');
    const body = parseBody(JSON.stringify({ runs: [run(1), run(2), run(3)] }));
    if (isRefused(body)) throw new Error(body.message);
    return nextPage(descriptor, pull, next.request, body).kind;
  };
  expect([kindOf({}), kindOf({ limit: '3' }), kindOf({ limit: '50' })]).toEqual(['stuck', 'stuck', 'end']);
});
