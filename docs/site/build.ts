/**
 * Builds the site into docs/site/dist: `node docs/site/build.ts`. Concurrent builds do not disturb
 * each other: each works in a folder of its own and moves the finished folder into place, and the
 * last one stays.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vitepress';
import { inputsFingerprint, putInPlace } from './built-folder.ts';
import { siteConfig } from './config.ts';
import { SITE_FOLDER } from './inputs.ts';
import { writePages } from './write-pages.ts';

const HERE = fileURLToPath(new URL('./', import.meta.url));
const CHECKOUT = fileURLToPath(new URL('../../', import.meta.url));
/** Vite reads these characters in a path as parts of a URL, and then finds no file. */
const PARTS_OF_URLS = /[#?%]/;

async function buildSite(): Promise<void> {
  const fingerprint = inputsFingerprint(SITE_FOLDER);
  const work = mkdtempSync(join(HERE, '.work-'));
  try {
    const settings = join(work, '.vitepress');
    mkdirSync(join(settings, 'theme'), { recursive: true });
    // The settings are made in this process, because Vite would resolve the links of what a
    // settings file imports.
    Object.assign(globalThis, { laurelSiteConfig: siteConfig(writePages(work)) });
    writeFileSync(join(settings, 'config.js'), 'export default globalThis.laurelSiteConfig;\n');
    writeFileSync(join(settings, 'theme', 'index.ts'), `export { default } from '../../../theme/index.ts';\n`);
    const built = join(work, 'dist');
    await build(work, { outDir: built });
    putInPlace(SITE_FOLDER, built, work, fingerprint);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * Builds in another process, which reads the checkout through a link. The link's path has none of
 * these characters.
 */
async function buildByLink(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'laurel-docs-site-'));
  try {
    if (PARTS_OF_URLS.test(folder)) throw new Error(`${folder} has one of #, ? and %: set TMPDIR to a folder without.`);
    const link = join(folder, 'checkout');
    symlinkSync(CHECKOUT, link);
    const flags = ['--preserve-symlinks', '--preserve-symlinks-main'];
    const child = spawn(process.execPath, [...flags, join(link, 'docs/site/build.ts')], { stdio: 'inherit' });
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => child.kill(signal));
    const [code] = await once(child, 'close');
    process.exitCode = code ?? 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

await (PARTS_OF_URLS.test(CHECKOUT) ? buildByLink() : buildSite());
