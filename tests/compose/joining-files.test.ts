import { globSync, readFileSync } from 'node:fs';
import { CHECKOUT } from '@laurel/testing';
import { expect, test } from 'vitest';
import { JOINING_IN_CONTAINERS } from './joining-files.ts';

const listed = Object.keys(JOINING_IN_CONTAINERS);
/** `clients` and `portal` need more than a stack: runtimes, or a browser. */
const joining = globSync('tests/*/*.test.ts', { cwd: CHECKOUT }).filter(
  (file) =>
    !/^tests\/(compose|clients|portal|operator)\//.test(file) &&
    /\bjoinWorld\(/.test(readFileSync(`${CHECKOUT}${file}`, 'utf8')),
);
const foldersOf = (files: readonly string[]) => new Set(files.map((file) => file.split('/')[1]));

test('every black-box file that runs against the containers joins a stack', () => {
  expect(listed.filter((file) => !joining.includes(file))).toEqual([]);
});

test('one file of each folder of tests/ that joins a stack runs against the containers', () => {
  expect(foldersOf(listed)).toEqual(foldersOf(joining));
});
