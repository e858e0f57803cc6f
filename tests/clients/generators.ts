/**
 * Third-party generators of clients, and TypeScript 5, which they and their output need: fetched
 * once from the registry, and kept.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { takeFileLock } from '../file-lock.ts';

const PACKAGES = {
  '@hey-api/openapi-ts': '0.99.0',
  '@oazapfts/runtime': '1.2.0',
  oazapfts: '7.5.0',
  typescript: '5.9.3',
};
const INSTALL_LIMIT_MS = 240_000;
const COMMAND_LIMIT_MS = 120_000;

/** Below the packages' folder, so that generated code finds them. */
const FOLDER = fileURLToPath(new URL('../../node_modules/.cache/laurel/client-generators/', import.meta.url));
/** What is installed in the folder, once the installation is complete. */
const INSTALLED = `${FOLDER}.installed`;
const LOCK = `${FOLDER.slice(0, -1)}.lock`;

const run = promisify(execFile);

/**
 * Whether the generators are available; false if no registry can be reached, which fails if CI is
 * in the environment.
 */
export async function fetchGenerators(): Promise<boolean> {
  const wanted = JSON.stringify({ private: true, type: 'module', dependencies: PACKAGES });
  const isInstalled = () => existsSync(INSTALLED) && readFileSync(INSTALLED, 'utf8') === wanted;
  if (isInstalled()) return true;
  await using _lock = await takeFileLock(LOCK);
  // Another process may have fetched them meanwhile.
  if (isInstalled()) return true;
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(`${FOLDER}package.json`, wanted);
  try {
    await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: FOLDER,
      timeout: INSTALL_LIMIT_MS,
    });
  } catch (error) {
    if (!process.env.CI && /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|network/i.test(String(error))) return false;
    throw error;
  }
  writeFileSync(INSTALLED, wanted);
  return true;
}

/** A separate folder for one generator's output, with the settings of a strict project. */
export function newProject(name: string, files: Readonly<Record<string, string>>): string {
  const folder = `${FOLDER}${name}-${process.pid}/`;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const compilerOptions = {
    strict: true,
    target: 'es2022',
    module: 'nodenext',
    lib: ['es2022', 'dom', 'dom.iterable'],
    types: [],
    skipLibCheck: true,
    outDir: 'built',
    rootDir: '.',
  };
  writeFileSync(`${folder}tsconfig.json`, JSON.stringify({ compilerOptions, include: ['**/*.ts'] }));
  for (const [file, text] of Object.entries(files)) writeFileSync(`${folder}${file}`, text);
  return folder;
}

/** Runs a command of these packages in a project; its output is the message of a failure. */
export async function runIn(folder: string, command: 'openapi-ts' | 'oazapfts' | 'tsc', args: readonly string[]) {
  try {
    await run(`${FOLDER}node_modules/.bin/${command}`, [...args], { cwd: folder, timeout: COMMAND_LIMIT_MS });
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} failed: ${stdout ?? ''}${stderr ?? ''}${String(error)}`);
  }
}
