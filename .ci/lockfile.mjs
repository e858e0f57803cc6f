// Checks that package-lock.json installs exactly the reviewed packages on Linux (x64, arm64): every
// package has a checksum, manifests request exact versions, and the lockfile records no download
// address.
import { globSync, readFileSync } from 'node:fs';

/**
 * Packages that had no checksum available when the lockfile was written.
 * `deploy/local/bootstrap.mjs` removes them.
 */
const UNPINNED = new Set(['node_modules/@squawk-cli/linux-arm64']);

const json = (file) => JSON.parse(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8'));
const root = new URL('..', import.meta.url);
const problems = [];

const fits = (allowed, value) => allowed === undefined || [allowed].flat().includes(value);
for (const [name, entry] of Object.entries(json('package-lock.json').packages)) {
  if (!name.includes('node_modules/') || entry.link) continue;
  if (entry.resolved !== undefined) problems.push(`${name} records a download address`);
  const isInstalled =
    fits(entry.os, 'linux') && fits(entry.libc, 'glibc') && ['x64', 'arm64'].some((cpu) => fits(entry.cpu, cpu));
  if (isInstalled && entry.integrity === undefined && !UNPINNED.has(name)) problems.push(`${name} has no checksum`);
  if (entry.integrity !== undefined && !entry.integrity.startsWith('sha512-'))
    problems.push(`${name} has a weak checksum`);
}

const manifests = globSync(
  [
    'package.json',
    '{libs,services,apps,examples}/*/package.json',
    'deploy/local/package.json',
    'tests/package.json',
    'bench/package.json',
  ],
  { cwd: root },
);
for (const file of manifests) {
  const manifest = json(file);
  for (const kind of ['dependencies', 'devDependencies', 'optionalDependencies']) {
    for (const [name, version] of Object.entries(manifest[kind] ?? {})) {
      if (!/^(\d+\.\d+\.\d+(-[\w.]+)?|\*)$/.test(version))
        problems.push(`${file}: ${name} asks for ${version}, not for one version`);
      if (version === '*' && !name.startsWith('@laurel/')) problems.push(`${file}: ${name} asks for any version`);
    }
  }
}

for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
