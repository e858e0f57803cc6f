/** Builds the site again if its sources have changed since the last build. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { isBuilt } from './inputs.ts';

const BUILD = fileURLToPath(new URL('./build.ts', import.meta.url));

/**
 * Resolves to the output of the build if the build failed. `signal` ends the build, then without a
 * result.
 */
export async function keepSiteBuilt(print: (line: string) => void, signal: AbortSignal): Promise<string | undefined> {
  if (isBuilt()) return undefined;
  print('Building the documentation site (some seconds, once) ...');
  const child = spawn(process.execPath, [BUILD], { stdio: ['ignore', 'pipe', 'pipe'], signal });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  const code = await new Promise<number | null>((done) => {
    child.once('error', (error) => (output += error.message));
    child.once('close', done);
  });
  return code === 0 || signal.aborted ? undefined : output.trimEnd();
}
