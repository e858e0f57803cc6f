import { expect, test } from 'vitest';
import { readSubject } from './subject.ts';

test('a subject of the log consists of a kind and an id', () => {
  expect(readSubject('program:0198-4711')).toEqual({ kind: 'program', id: '0198-4711' });
});

test.each([null, '', 'program', ':0198'])('the text %s is not a subject of the log', (text) => {
  expect(readSubject(text)).toBeUndefined();
});
