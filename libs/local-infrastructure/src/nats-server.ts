/**
 * Finds the nats-server: the machine's own, one fetched before, or a newly fetched one whose origin
 * apt or a pinned checksum verifies. Nothing is installed, and nothing needs root.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
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

/** Reports that there is no nats-server; the message says what to do. */
export class NatsUnavailableError extends Error {
  override readonly name = 'NatsUnavailableError';
}

/**
 * The official release, for machines without apt; the checksums are those of the project's own
 * container images.
 */
export const NATS_RELEASE = {
  version: '2.10.29',
  sha256: {
    'linux-amd64': 'e314da74a83a1d3876db8814c27eb990fe729640fd6452025b441bcede8390da',
    'linux-arm64': 'da4b27942ecfb4c5f0c54553d2e7f470ddda9d7581cfe8131b351a0e223ed401',
  } as Readonly<Record<string, string>>,
} as const;

const DOWNLOAD_LIMIT_MS = 60_000;

export type NatsSource =
  | { readonly kind: 'installed'; readonly file: string }
  | { readonly kind: 'debian' }
  | { readonly kind: 'release'; readonly url: string; readonly sha256: string };

export interface Machine extends SearchedMachine {
  readonly platform: NodeJS.Platform;
  readonly architecture: string;
  /** The file where a fetched server is kept. */
  readonly keptFile: string;
}

/**
 * The sources of a nats-server, best first: the machine's, one fetched before, apt, the release.
 */
export function natsSources(machine: Machine): readonly NatsSource[] {
  const installed =
    findProgram('nats-server', machine) ?? (machine.isExecutable(machine.keptFile) ? machine.keptFile : undefined);
  if (installed !== undefined) return [{ kind: 'installed', file: installed }];

  const sources: NatsSource[] = [];
  if (canUnpackDebian(machine)) sources.push({ kind: 'debian' });
  const build = `${machine.platform}-${machine.architecture === 'x64' ? 'amd64' : machine.architecture}`;
  const sha256 = NATS_RELEASE.sha256[build];
  if (sha256 !== undefined) {
    const name = `nats-server-v${NATS_RELEASE.version}-${build}.tar.gz`;
    sources.push({
      kind: 'release',
      url: `https://github.com/nats-io/nats-server/releases/download/v${NATS_RELEASE.version}/${name}`,
      sha256,
    });
  }
  return sources;
}

/** Returns the path of a nats-server; keeps one that it fetches in `bin` below the directory. */
export async function obtainNats(
  directory: string,
  print: (line: string) => void,
  signal: AbortSignal,
): Promise<string> {
  const keptFile = join(directory, 'bin', 'nats-server');
  const sources = natsSources({
    platform: process.platform,
    architecture: process.arch,
    searchPath: process.env.PATH ?? '',
    keptFile,
    isExecutable,
  });
  const failures: string[] = [];
  for (const source of sources) {
    if (source.kind === 'installed') return source.file;
    try {
      print(`Fetching nats-server (${source.kind === 'debian' ? "Debian's package" : source.url}) ...`);
      const limit = AbortSignal.any([signal, AbortSignal.timeout(DOWNLOAD_LIMIT_MS)]);
      return await keepProgram(keptFile, (workDirectory) =>
        source.kind === 'debian'
          ? fetchDebianProgram({ package: 'nats-server' }, workDirectory, limit)
          : fetchRelease(source, workDirectory, limit),
      );
    } catch (error) {
      signal.throwIfAborted();
      failures.push(`${source.kind === 'debian' ? 'apt-get' : 'github.com'}: ${errorLineOf(error)}`);
    }
  }
  const why = failures.length === 0 ? 'there is none to fetch for this machine' : failures.join('; ');
  throw new NatsUnavailableError(
    `No nats-server could be found or fetched (${why}): install one from https://nats.io, or set NATS_URL.`,
  );
}

async function fetchRelease(
  source: { url: string; sha256: string },
  workDirectory: string,
  signal: AbortSignal,
): Promise<string> {
  const response = await fetch(source.url, { signal });
  if (!response.ok) throw new Error(`it answered ${response.status}`);
  const archive = Buffer.from(await response.arrayBuffer());
  if (createHash('sha256').update(archive).digest('hex') !== source.sha256)
    throw new Error('the checksum of the download is wrong');
  const name = join(workDirectory, 'nats-server.tar.gz');
  writeFileSync(name, archive);
  await run('tar', ['-xzf', name, '--strip-components=1', '-C', workDirectory], { signal });
  return join(workDirectory, 'nats-server');
}
