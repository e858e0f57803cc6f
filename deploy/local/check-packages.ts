/**
 * Checks the packages that partners install, `libs/*` with a `tsconfig.build.json`, as their tools will see them: publint reads the manifest and the files that
 * it names, Are The Types Wrong resolves the declarations as each kind of importer does.
 */
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type CheckResult, checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { type LibraryPackage, packLibrary, ROOT } from './library-package.ts';

/** The packages are ES modules: `require` gets them on Node from 20.19 on, which the check does not know, and resolution of Node 10 never had `exports`. */
const UNSUPPORTED = ['node10', 'node16-cjs'];

async function problemsOf(library: string, target: string): Promise<readonly string[]> {
  const built = packLibrary(join(ROOT, library), target);
  const problems = [...(await lintManifest(built)), ...(await resolveTypes(built))];
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
