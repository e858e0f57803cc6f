/** Builds what browsers open, once for all test files. */
import { type BuiltFolder, keepBuilt } from '@laurel/docs-site/built-folder';
import { CHECKOUT } from '@laurel/testing';
import { expect } from 'vitest';
import { takeFileLock } from '../file-lock.ts';

const LOCK = `${CHECKOUT}node_modules/.cache/laurel/built-folders.lock`;

/** Builds the folder unless it was built from the current files. One process builds at a time. */
export async function buildOnce(folder: BuiltFolder): Promise<void> {
  await using _lock = await takeFileLock(LOCK);
  expect(await keepBuilt(folder, console.log), `the output of a failed build of ${folder.name}`).toBeUndefined();
}
