/**
 * Finds programs on the machine, or fetches them from Debian's packages. apt verifies the packages,
 * which are unpacked without root and not installed.
 */
import { execFile } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Where to look for a program on a machine. */
export interface SearchedMachine {
  readonly searchPath: string;
  readonly isExecutable: (file: string) => boolean;
}

export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The path of a program on the search path. */
export function findProgram(name: string, { searchPath, isExecutable }: SearchedMachine): string | undefined {
  return searchPath
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

export function canUnpackDebian(machine: SearchedMachine): boolean {
  return findProgram('apt-get', machine) !== undefined && findProgram('dpkg-deb', machine) !== undefined;
}

/**
 * Moves the program that `fetch` puts into a temporary folder to `keptFile`, removes the rest, and
 * returns `keptFile`.
 */
export async function keepProgram(
  keptFile: string,
  fetch: (workDirectory: string) => Promise<string>,
): Promise<string> {
  mkdirSync(dirname(keptFile), { recursive: true });
  const workDirectory = mkdtempSync(join(dirname(keptFile), 'fetch-'));
  try {
    const fetched = await fetch(workDirectory);
    chmodSync(fetched, 0o755);
    renameSync(fetched, keptFile);
    return keptFile;
  } finally {
    rmSync(workDirectory, { recursive: true, force: true });
  }
}

const FOLDERS_OF_PROGRAMS = ['usr/sbin', 'usr/bin', 'usr/libexec/docker/cli-plugins'];
const DEFAULT_MIRROR = 'http://deb.debian.org/debian';
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

/**
 * Downloads the package and returns the path of the program in the work directory. With a `suite`
 * (`trixie`) the package comes from that suite on the machine's mirror, by separate package lists;
 * otherwise from the machine's suites.
 */
export async function fetchDebianProgram(
  wanted: { readonly package: string; readonly program?: string; readonly suite?: string },
  workDirectory: string,
  signal: AbortSignal,
): Promise<string> {
  // As root, apt would switch to its own user, which cannot write here.
  const asRoot = process.getuid?.() === 0 ? ['-o', 'APT::Sandbox::User=root'] : [];
  const apt = (options: readonly string[]) =>
    run('apt-get', [...asRoot, ...options], { cwd: workDirectory, signal, maxBuffer: 16 * 1024 * 1024 });
  const download = (options: readonly string[]) => apt([...options, '-q', 'download', wanted.package]);
  const downloadByOwnLists = async (sources: readonly string[]) => {
    // Private lists need no root.
    const options = [
      ...sources,
      '-o',
      `Dir::State::lists=${workDirectory}/lists`,
      '-o',
      `Dir::Cache=${workDirectory}/cache`,
    ];
    mkdirSync(join(workDirectory, 'lists', 'partial'), { recursive: true });
    mkdirSync(join(workDirectory, 'cache', 'archives', 'partial'), { recursive: true });
    await apt([...options, '-q', 'update']);
    await download(options);
  };
  if (wanted.suite !== undefined) {
    const { stdout } = await apt(['indextargets', '--format', '$(REPO_URI)', 'Created-By: Packages']);
    const sources = join(workDirectory, `${wanted.suite}.sources`);
    writeFileSync(
      sources,
      `Types: deb\nURIs: ${debianMirror(stdout)}\nSuites: ${wanted.suite}\nComponents: main\nSigned-By: ${KEYRING}\n`,
    );
    await downloadByOwnLists(['-o', `Dir::Etc::sourcelist=${sources}`, '-o', 'Dir::Etc::sourceparts=/dev/null']);
  } else {
    try {
      await download([]);
    } catch {
      signal.throwIfAborted();
      // A new container has no package lists.
      await downloadByOwnLists([]);
    }
  }
  const archive = readdirSync(workDirectory).find((name) => name.endsWith('.deb'));
  if (archive === undefined) throw new Error('it downloaded nothing');
  await run('dpkg-deb', ['-x', archive, 'unpacked'], { cwd: workDirectory, signal });
  const { program = wanted.package } = wanted;
  const file = FOLDERS_OF_PROGRAMS.map((folder) => join(workDirectory, 'unpacked', folder, program)).find(existsSync);
  if (file === undefined) throw new Error(`the package holds no ${program}`);
  // The real file: a link in the package may lead elsewhere in it.
  return realpathSync(file);
}

/**
 * The first Debian archive among apt's addresses, one a line. Skips the security archive, which
 * lacks these packages.
 */
export function debianMirror(uris: string): string {
  return uris.split('\n').find((uri) => /\/debian\/?$/.test(uri)) ?? DEFAULT_MIRROR;
}

/** Returns the line that names the error. An error line of apt begins with E:. */
export function errorLineOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : undefined;
  return cause ?? lines.find((line) => line.startsWith('E:')) ?? lines[0] ?? 'it failed';
}
