import { expect, test } from 'vitest';
import { readSubject } from './subject.ts';

test('a subject is a kind and an id', () => {
  expect(readSubject('program:0198-4711')).toEqual({ kind: 'program', id: '0198-4711' });
});

test.each([null, '', 'program', ':0198'])('%s names no subject', (text) => {
  expect(readSubject(text)).toBeUndefined();
});
