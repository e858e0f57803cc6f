/**
 * Checks the packages that partners install, `libs/*` with a `tsconfig.build.json`, as partners'
 * tools will see them.
 * publint reads the manifest and the files that it names. Are The Types Wrong resolves the
 * declarations as each kind of importer does. An empty project installs the tarball offline and
 * loads it.
 */
import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type CheckResult, checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { rolldown } from 'rolldown';
import { type LibraryPackage, packLibrary, ROOT } from './library-package.ts';

/**
 * The packages are ES modules. `require` loads them on Node from 20.19 on, which the check does not
 * know. The resolution of Node 10 does not read `exports`.
 */
const UNSUPPORTED = ['node10', 'node16-cjs'];

/** The most bytes that a web page may load: the library alone, minified and compressed. */
const PAGE_LIMITS: Readonly<Record<string, number>> = { 'libs/browser': 3 * 1_024 };

async function problemsOf(library: string, target: string): Promise<readonly string[]> {
  const built = packLibrary(join(ROOT, library), target);
  const project = installAlone(built, target);
  const problems = [
    ...(await lintManifest(built)),
    ...(await resolveTypes(built)),
    ...loadInstalled(project),
    ...(await weighInstalled(project, PAGE_LIMITS[library])),
  ];
  return problems.map((problem) => `${library}: ${problem}`);
}

async function lintManifest({ folder }: LibraryPackage): Promise<readonly string[]> {
  const { messages } = await publint({ pkgDir: folder, strict: true });
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return messages.map((message) => formatMessage(message, manifest, { color: false }) ?? message.code);
}

async function resolveTypes({ tarball }: LibraryPackage): Promise<readonly string[]> {
  const result: CheckResult = await checkPackage(createPackageFromTarballData(readFileSync(tarball)));
  if (!result.types) return ['the package has no types'];
  return result.problems
    .filter((problem) => !('resolutionKind' in problem && UNSUPPORTED.includes(problem.resolutionKind)))
    .map((problem) => JSON.stringify(problem));
}

interface Project {
  readonly folder: string;
  /** The package that this project installs. */
  readonly installed: string;
}

function installAlone({ folder: built, tarball }: LibraryPackage, target: string): Project {
  const { name } = JSON.parse(readFileSync(join(built, 'package.json'), 'utf8')) as { readonly name: string };
  const folder = mkdtempSync(join(target, 'project-'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  const quiet = ['--offline', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', ['install', ...quiet, tarball], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  return { folder, installed: name };
}

function loadInstalled({ folder, installed }: Project): readonly string[] {
  const script = `if (Object.keys(await import(${JSON.stringify(installed)})).length === 0) throw new Error('it exports nothing');`;
  try {
    execFileSync(process.execPath, ['--input-type=module', '--eval', script], { cwd: folder, stdio: 'pipe' });
    return [];
  } catch (error) {
    return [`the installed package cannot be loaded: ${(error as Error).message}`];
  }
}

async function weighInstalled({ folder, installed }: Project, limit: number | undefined): Promise<readonly string[]> {
  if (limit === undefined) return [];
  await using build = await rolldown({ input: installed, cwd: folder });
  const { output } = await build.generate({ format: 'esm', minify: true });
  const weight = output.map((part) => gzipSync(part.type === 'chunk' ? part.code : part.source).length);
  const bytes = weight.reduce((sum, one) => sum + one, 0);
  return bytes <= limit ? [] : [`minified and compressed it has ${bytes} bytes, more than ${limit}`];
}

const target = mkdtempSync(join(tmpdir(), 'laurel-packages-'));
try {
  const libraries = globSync('libs/*/tsconfig.build.json', { cwd: ROOT }).map(dirname);
  if (libraries.length === 0) throw new Error('No library has a tsconfig.build.json.');
  for (const library of libraries) {
    for (const problem of await problemsOf(library, target)) {
      console.error(problem);
      process.exitCode = 1;
    }
  }
} finally {
  rmSync(target, { recursive: true });
}
