/** The promtool that checks our alert rules: the machine's, one that was fetched before, or Debian's. */
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fetchDebianProgram, findProgram, isExecutable } from './debian-program.ts';

const FETCH_LIMIT_MS = 120_000;

/** Its path; a fetched one is kept in `bin` below the directory. Rejects where there is none and none can be fetched. */
export async function obtainPromtool(directory: string, searchPath = process.env.PATH ?? ''): Promise<string> {
  const keptFile = join(directory, 'bin', 'promtool');
  const installed = findProgram('promtool', { searchPath, isExecutable });
  if (installed !== undefined) return installed;
  if (isExecutable(keptFile)) return keptFile;

  mkdirSync(join(directory, 'bin'), { recursive: true });
  const workDirectory = mkdtempSync(join(directory, 'bin', 'fetch-'));
  try {
    const wanted = { package: 'prometheus', program: 'promtool' };
    renameSync(await fetchDebianProgram(wanted, workDirectory, AbortSignal.timeout(FETCH_LIMIT_MS)), keptFile);
    return keptFile;
  } finally {
    rmSync(workDirectory, { recursive: true, force: true });
  }
}
