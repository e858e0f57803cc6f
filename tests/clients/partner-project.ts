/**
 * A partner's empty project, into which libraries are installed as a partner installs them: from
 * their tarballs, with nothing else.
 */
import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CHECKOUT, NODE } from '@laurel/testing';

const run = promisify(execFile);

export interface PartnerProject extends AsyncDisposable {
  readonly folder: string;
  /** Copies a file of `tests/clients/consumer` into the project, and returns its path there. */
  add(file: string): string;
}

/** `libraries` are folders of the repository, such as `libs/sdk`. */
export async function createPartnerProject(libraries: readonly string[] = ['libs/sdk']): Promise<PartnerProject> {
  const folder = mkdtempSync(join(tmpdir(), 'laurel-partner-'));
  const packages = join(folder, 'packages');
  const tarballs: string[] = [];
  for (const library of libraries) {
    const { stdout } = await run(NODE, [join(CHECKOUT, 'deploy/local/pack-library.ts'), library, packages]);
    tarballs.push(stdout.trim());
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  // Offline: anything outside the tarballs is missing.
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', ...tarballs], { cwd: folder });
  return {
    folder,
    add(file) {
      const path = join(folder, file);
      copyFileSync(join(import.meta.dirname, 'consumer', file), path);
      return path;
    },
    async [Symbol.asyncDispose]() {
      rmSync(folder, { recursive: true });
    },
  };
}
