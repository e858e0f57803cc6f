/** Builds the site in a checkout whose path has characters with a meaning in URLs. */
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

type Manifest = {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
};

const dependenciesIn = (folder: string) => {
  const manifest: Manifest = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
  return Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies });
};

/** The installed packages that the site needs, directly or through others. */
function packagesOfSite(): ReadonlySet<string> {
  const found = new Set<string>();
  const add = (name: string): void => {
    const folder = join('node_modules', name);
    if (found.has(folder) || !existsSync(join(ROOT, folder))) return;
    found.add(folder);
    for (const dependency of dependenciesIn(folder)) add(dependency);
  };
  for (const name of dependenciesIn('docs/site')) add(name);
  return found;
}

test('the site is built in a folder whose path has #, ?, % and a space, and the build leaves nothing beside it', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'laurel-docs-test-'));
  try {
    const checkout = join(parent, 'C#', '100%? laurel');
    for (const folder of packagesOfSite()) cpSync(join(ROOT, folder), join(checkout, folder), { recursive: true });
    const isSource = (file: string) => !/site\/(dist|\.work-)/.test(file);
    cpSync(join(ROOT, 'docs'), join(checkout, 'docs'), { recursive: true, filter: isSource });
    cpSync(join(ROOT, 'tsconfig.base.json'), join(checkout, 'tsconfig.base.json'));
    const temporary = mkdtempSync(join(parent, 'tmp-'));
    await promisify(execFile)(process.execPath, [join(checkout, 'docs/site/build.ts')], {
      env: { ...process.env, TMPDIR: temporary },
    });
    const dist = join(checkout, 'docs/site/dist');
    expect(readFileSync(join(dist, 'index.html'), 'utf8')).toContain('<title>');
    expect(readdirSync(join(dist, 'assets')).some((name) => name.endsWith('.js'))).toBe(true);
    expect(readdirSync(temporary)).toEqual([]);
    expect(readdirSync(join(checkout, 'docs/site')).filter((name) => name.startsWith('.work-'))).toEqual([]);
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
}, 120_000);
