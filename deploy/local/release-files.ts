/**
 * A release is one version of the whole repository.
 * This writes the version into every file that has one: every package.json, the lockfile, the
 * Kubernetes overlays (image tags, and names of the migration Jobs, which run once for each
 * release), and the heading of the changelog's unreleased section.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartFailure } from './stack/start-failure.ts';

const VERSION = /^(\d{1,5})\.(\d{1,5})\.(\d{1,5})$/;
const UNRELEASED = '## Unreleased\n';

/**
 * Returns the files that it wrote, relative to the root. Throws StartFailure before it writes any.
 */
export function writeRelease(root: string, version: string | undefined, today: Date): readonly string[] {
  const read = (file: string) => readFileSync(join(root, file), 'utf8');
  const { version: current, workspaces }: { version: string; workspaces: readonly string[] } = JSON.parse(
    read('package.json'),
  );
  const changelog = read('CHANGELOG.md');
  checkVersion(version, current, changelog);

  const packages = workspaces.flatMap((pattern) => globSync(`${pattern}/package.json`, { cwd: root })).toSorted();
  const written = new Map<string, string>();
  for (const file of ['package.json', ...packages]) {
    written.set(file, read(file).replace(`"version": "${current}"`, `"version": "${version}"`));
  }
  const lockfile: { version: string; packages: Record<string, { version?: string }> } = JSON.parse(
    read('package-lock.json'),
  );
  lockfile.version = version;
  for (const file of ['package.json', ...packages]) {
    const locked = lockfile.packages[file.replace(/\/?package\.json$/, '')];
    if (locked !== undefined) locked.version = version;
  }
  written.set('package-lock.json', `${JSON.stringify(lockfile, null, 2)}\n`);
  for (const file of globSync('deploy/kubernetes/overlays/*/kustomization.yaml', { cwd: root })) {
    const text = read(file).replaceAll(`newTag: ${current}\n`, `newTag: ${version}\n`);
    written.set(file, text.replaceAll(`-migrate-${current} }`, `-migrate-${version} }`));
  }
  const date = today.toISOString().slice(0, 10);
  written.set('CHANGELOG.md', changelog.replace(UNRELEASED, `${UNRELEASED}\n## ${version} (${date})\n`));

  for (const [file, text] of written) writeFileSync(join(root, file), text);
  return [...written.keys()];
}

function checkVersion(version: string | undefined, current: string, changelog: string): asserts version is string {
  if (version === undefined || !VERSION.test(version)) {
    throw new StartFailure(`Usage: npm run release -- <version>, like 1.2.0; the current version is ${current}.`);
  }
  if (compare(version, current) < 0)
    throw new StartFailure(`${version} is older than the current version, ${current}.`);
  if (changelog.includes(`\n## ${version} (`)) throw new StartFailure(`CHANGELOG.md already has a section ${version}.`);
  const [, unreleased = ''] = changelog.split(UNRELEASED);
  if (/^\s*(?:## |$)/.test(unreleased)) {
    throw new StartFailure('CHANGELOG.md has nothing under "Unreleased": write down what this release changes first.');
  }
}

function compare(one: string, other: string): number {
  const parts = (text: string) => text.split('.').map(Number);
  const [a, b] = [parts(one), parts(other)];
  const index = a.findIndex((part, at) => part !== b[at]);
  return index === -1 ? 0 : (a[index] ?? 0) - (b[index] ?? 0);
}
