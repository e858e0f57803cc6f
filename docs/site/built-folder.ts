/**
 * A folder that is built from files of the checkout, and built again when one of them has changed:
 * this site, and the pages of apps/portal.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFolder } from './replace-folder.ts';

export interface BuiltFolder {
  /** What the reader of the terminal calls it: "the documentation site". */
  readonly name: string;
  /** Where the patterns of the inputs begin. */
  readonly base: string;
  /** Patterns; files of tests do not count. */
  readonly inputs: readonly string[];
  /** The folder itself. */
  readonly dist: string;
  /** The script that builds it. */
  readonly script: string;
}

/** The file in the folder with the fingerprint of its inputs. */
const STAMP = '.built-from';

export function inputsFingerprint({ base, inputs }: BuiltFolder): string {
  const hash = createHash('sha256');
  for (const file of globSync(inputs, { cwd: base }).toSorted()) {
    if (file.endsWith('.test.ts')) continue;
    const bytes = readFileSync(join(base, file));
    hash.update(`${file} ${bytes.length}\n`).update(bytes);
  }
  return hash.digest('hex');
}

/** Whether the folder was built from the present checkout. */
function isBuilt(folder: BuiltFolder): boolean {
  try {
    return readFileSync(join(folder.dist, STAMP), 'utf8') === inputsFingerprint(folder);
  } catch {
    return false;
  }
}

/**
 * Moves the folder `built`, whose inputs have this fingerprint, into place. The old folder is moved
 * into `work`.
 */
export function putInPlace({ dist }: BuiltFolder, built: string, work: string, fingerprint: string): void {
  writeFileSync(join(built, STAMP), fingerprint);
  replaceFolder(dist, built, work);
}

/**
 * Builds the folder again if its inputs have changed since the last build. Resolves to the output
 * of the build if the build failed. If `signal` aborts, the build ends without a result.
 */
export async function keepBuilt(
  folder: BuiltFolder,
  print: (line: string) => void,
  signal?: AbortSignal,
): Promise<string | undefined> {
  if (isBuilt(folder)) return undefined;
  print(`Building ${folder.name} (some seconds, once) ...`);
  const child = spawn(process.execPath, [folder.script], { stdio: ['ignore', 'pipe', 'pipe'], signal });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  const code = await new Promise<number | null>((done) => {
    child.once('error', (error) => (output += error.message));
    child.once('close', done);
  });
  return code === 0 || signal?.aborted ? undefined : output.trimEnd();
}
