/**
 * Finds kustomize: the machine's own, kubectl's, one fetched before, or Debian's package, fetched
 * without root.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  canUnpackDebian,
  errorLineOf,
  fetchDebianProgram,
  findProgram,
  isExecutable,
  keepProgram,
  type SearchedMachine,
} from './debian-program.ts';

const run = promisify(execFile);

/** Reports that there is no kustomize; the message says what to do. */
export class KustomizeUnavailableError extends Error {
  override readonly name = 'KustomizeUnavailableError';
}

/** A command that renders the folder in its last argument. */
export type RenderCommand = readonly [string, ...string[]];

/** The first suite of Debian with a kustomize of version 5. */
const SUITE = 'trixie';
const DOWNLOAD_LIMIT_MS = 60_000;
const MAX_RENDERED_BYTES = 16 * 1024 * 1024;

/** An installed or kept kustomize; undefined if it must be fetched. */
export function installedRenderCommand(machine: SearchedMachine, keptFile: string): RenderCommand | undefined {
  const kustomize = findProgram('kustomize', machine);
  if (kustomize !== undefined) return [kustomize, 'build'];
  const kubectl = findProgram('kubectl', machine);
  if (kubectl !== undefined) return [kubectl, 'kustomize'];
  return machine.isExecutable(keptFile) ? [keptFile, 'build'] : undefined;
}

/** Finds or fetches kustomize. A fetched one is kept in `bin` below the directory. */
export async function obtainRenderCommand(directory: string, print: (line: string) => void): Promise<RenderCommand> {
  const keptFile = join(directory, 'bin', 'kustomize');
  const machine = { searchPath: process.env.PATH ?? '', isExecutable };
  const installed = installedRenderCommand(machine, keptFile);
  if (installed !== undefined) return installed;
  if (!canUnpackDebian(machine)) throw unavailable('there is none to fetch for this machine');
  print(`Fetching kustomize (Debian's package of ${SUITE}) ...`);
  const limit = AbortSignal.timeout(DOWNLOAD_LIMIT_MS);
  const wanted = { package: 'kustomize', suite: SUITE };
  try {
    return [await keepProgram(keptFile, (folder) => fetchDebianProgram(wanted, folder, limit)), 'build'];
  } catch (error) {
    throw unavailable(`apt-get: ${errorLineOf(error)}`);
  }
}

/** The YAML of a kustomization. Rejects with what kustomize printed. */
export async function renderKustomization([program, ...options]: RenderCommand, folder: string): Promise<string> {
  const { stdout } = await run(program, [...options, folder], { maxBuffer: MAX_RENDERED_BYTES });
  return stdout;
}

function unavailable(why: string): KustomizeUnavailableError {
  return new KustomizeUnavailableError(
    `No kustomize could be found or fetched (${why}): install kustomize or kubectl, whichever your system has.`,
  );
}
