/**
 * A library of this repository as partners install it.
 * In the repository a library is TypeScript, which Node runs directly. A partner's runtime and
 * compiler need JavaScript with declarations. So the package has what `tsconfig.build.json` emits,
 * the README, and a manifest with paths to these files.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license?: string;
  readonly engines?: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BUILT = 'dist';

export interface LibraryPackage {
  /** The folder whose content the tarball has. */
  readonly folder: string;
  readonly tarball: string;
}

/** Builds the library in `source`, `/.../libs/sdk`, into the folder `target`. */
export function packLibrary(source: string, target: string): LibraryPackage {
  const manifest = readManifest(source);
  const folder = join(target, basename(source));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  compile(source, join(folder, BUILT));
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(publishedManifest(manifest), null, 2)}\n`);
  copyFileSync(join(source, 'README.md'), join(folder, 'README.md'));
  const packed = run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', target], folder);
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
  return { folder, tarball: join(target, filename) };
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

function compile(source: string, built: string): void {
  run(join(ROOT, 'node_modules', '.bin', 'tsc'), ['-p', 'tsconfig.build.json', '--outDir', built], source);
  for (const file of globSync('**/*.d.ts', { cwd: built })) {
    const path = join(built, file);
    // The compiler rewrites the extensions of imports only in JavaScript, so this rewrites the
    // declarations.
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(/(['"]\.{1,2}\/[^'"]+)\.ts(?=['"])/g, '$1.js'));
  }
}

/**
 * The manifest for partners' tools, without what only this repository uses: scripts, development
 * dependencies, `private`.
 */
function publishedManifest(manifest: Manifest): object {
  const { name, version, description, engines, exports, bin, dependencies = {} } = manifest;
  const [inRepository] = Object.entries(dependencies).filter(([, wanted]) => wanted === '*');
  if (inRepository !== undefined) throw new Error(`${name} depends on ${inRepository[0]}, which no registry has.`);
  const main = exports['.'];
  return {
    name,
    version,
    description,
    license: readManifest(ROOT).license,
    type: 'module',
    sideEffects: false,
    engines,
    files: [BUILT],
    ...(main !== undefined && { types: builtPath(main, '.d.ts') }),
    exports: {
      ...Object.fromEntries(
        Object.entries(exports).map(([path, file]) => [
          path,
          { types: builtPath(file, '.d.ts'), default: builtPath(file, '.js') },
        ]),
      ),
      './package.json': './package.json',
    },
    ...(bin !== undefined && {
      bin: Object.fromEntries(Object.entries(bin).map(([command, file]) => [command, builtPath(file, '.js')])),
    }),
    ...(Object.keys(dependencies).length > 0 && { dependencies }),
  };
}

/** Returns, for example, `./dist/index.js` for `./src/index.ts`. */
function builtPath(file: string, extension: '.js' | '.d.ts'): string {
  return file.replace(/^(?:\.\/)?src\//, `./${BUILT}/`).replace(/\.ts$/, extension);
}

/** Returns what the command writes. If it fails, throws an error with its output. */
function run(command: string, args: readonly string[], folder: string): string {
  return execFileSync(command, args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}
