import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeRelease } from './release-files.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TODAY = new Date('2026-12-24T23:59:59Z');
const { version: current } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** The overlays with the tag of a release. */
const OVERLAYS = ['production', 'single'].map((name) => `deploy/kubernetes/overlays/${name}/kustomization.yaml`);

/** A copy of this repository's files that have a version. */
let root: string;
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const copied = [
  'package.json',
  'package-lock.json',
  'CHANGELOG.md',
  ...globSync('{libs/*,services/*,deploy/local,tests,bench}/package.json', { cwd: ROOT }),
  ...OVERLAYS,
];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'laurel-release-'));
  for (const file of copied) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    cpSync(join(ROOT, file), join(root, file));
  }
});

afterEach(() => rmSync(root, { recursive: true }));

test('a release changes the version in every file that has one', () => {
  expect(writeRelease(root, '99.1.2', TODAY).toSorted()).toEqual(copied.toSorted());
  for (const file of copied.filter((name) => name !== 'CHANGELOG.md')) {
    const before = readFileSync(join(ROOT, file), 'utf8').split('\n');
    const after = read(file).split('\n');
    const changed = before.flatMap((line, index) => (line === after[index] ? [] : [line.replace(current, '99.1.2')]));
    expect(changed.length, file).toBeGreaterThan(0);
    expect(after.filter((line, index) => line !== before[index])).toEqual(changed);
  }
  const changelog = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8');
  const heading = '\n## Unreleased\n';
  expect(read('CHANGELOG.md')).toBe(changelog.replace(heading, `${heading}\n## 99.1.2 (2026-12-24)\n`));
  for (const overlay of OVERLAYS) expect(read(overlay)).not.toContain(current);
  expect(read('package-lock.json').match(/"version": "99\.1\.2"/g)?.length).toBe(copied.length - 1 - OVERLAYS.length);
});

test('an invalid release is refused before any file is written', () => {
  for (const version of [undefined, 'v1.2.0', '1.2', '1.2.0-rc.1']) {
    expect(() => writeRelease(root, version, TODAY)).toThrow('Usage: npm run release -- <version>');
  }
  expect(() => writeRelease(root, '0.0.9', TODAY)).toThrow('0.0.9 is older than the current version');
  expect(read('package.json')).toContain(`"version": "${current}"`);
  writeRelease(root, '99.1.2', TODAY);
  expect(() => writeRelease(root, '99.1.2', TODAY)).toThrow('CHANGELOG.md already has a section 99.1.2');
  expect(() => writeRelease(root, '99.1.3', TODAY)).toThrow('CHANGELOG.md has nothing under "Unreleased"');
  expect(read('package.json')).toContain('"version": "99.1.2"');
});
