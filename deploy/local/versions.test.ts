import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SERVICE_NAMES } from '@laurel/topology';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const root: { version: string; workspaces: readonly string[] } = JSON.parse(read('package.json'));

test('every package has the version of the root package', () => {
  const packages = root.workspaces.flatMap((pattern) => globSync(`${pattern}/package.json`, { cwd: ROOT }));
  expect(packages.length).toBeGreaterThan(20);
  const versions = packages.map((file) => [file, JSON.parse(read(file)).version]);
  expect(versions.filter(([, version]) => version !== root.version)).toEqual([]);
});

test('the Kubernetes example runs the images of this version', () => {
  const [file = ''] = globSync('deploy/kubernetes/overlays/production/kustomization.yaml', { cwd: ROOT });
  const tags = [...read(file).matchAll(/newTag: (\S+)/g)].map(([, tag]) => tag);
  expect(tags).toEqual(SERVICE_NAMES.map(() => root.version));
});

test('the newest released section of the changelog is the current version', () => {
  const sections = [...read('CHANGELOG.md').matchAll(/^## (.+)$/gm)].map(([, title]) => title ?? '');
  expect(sections[0]).toBe('Unreleased');
  for (const title of sections.slice(1)) expect(title).toMatch(/^\d+\.\d+\.\d+ \(\d{4}-\d{2}-\d{2}\)$/);
  const released = sections.slice(1).map((title) => title.split(' ')[0]);
  if (released.length > 0) expect(released[0]).toBe(root.version);
});
