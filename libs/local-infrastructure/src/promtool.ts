/**
 * Finds the promtool that checks the alert rules: the machine's, one fetched before, or Debian's.
 */
import { join } from 'node:path';
import { fetchDebianProgram, findProgram, isExecutable, keepProgram } from './debian-program.ts';

const FETCH_LIMIT_MS = 120_000;

/**
 * The path of promtool; a fetched one is kept in `bin` below the directory. Rejects if none can be
 * found or fetched.
 */
export async function obtainPromtool(directory: string, searchPath = process.env.PATH ?? ''): Promise<string> {
  const keptFile = join(directory, 'bin', 'promtool');
  const installed = findProgram('promtool', { searchPath, isExecutable });
  if (installed !== undefined) return installed;
  if (isExecutable(keptFile)) return keptFile;

  const wanted = { package: 'prometheus', program: 'promtool' };
  const limit = AbortSignal.timeout(FETCH_LIMIT_MS);
  return keepProgram(keptFile, (folder) => fetchDebianProgram(wanted, folder, limit));
}
