// Compares proto/ with the version that landed last: no change may break what a deployed service
// uses. An rpc may be removed if proto/removed-rpcs.txt lists it. A listed rpc may not be served
// again.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const ROOT = join(import.meta.dirname, '..');
const DELETED_RPC = /^Previously present RPC "(\w+)" on service "(\w+)" was deleted\.$/;

/**
 * Returns the problems, one line each. `findings` is the output of `buf breaking`; `rpcs` are the
 * rpcs that are served.
 */
export function problemsOf({ findings, rpcs, removed }) {
  const list = new Set(removed);
  return [
    ...findings.filter((finding) => !list.has(deletedRpc(finding))).map(describe),
    ...rpcs.filter((rpc) => list.has(rpc)).map((rpc) => `${rpc} was removed before: give the new rpc another name`),
  ];
}

/**
 * Returns the full name of the rpc whose removal the finding reports; undefined for other findings.
 */
function deletedRpc({ path, type, message }) {
  if (type !== 'RPC_NO_DELETE') return undefined;
  const [, rpc, service] = DELETED_RPC.exec(message) ?? [];
  return `${packageOf(path)}.${service}/${rpc}`;
}

/**
 * Returns the package of a file, which is its folder: `buf lint` checks that
 * (PACKAGE_DIRECTORY_MATCH).
 */
function packageOf(path) {
  return path.split('/').slice(1, -1).join('.');
}

function describe({ path, start_line: line, type, message }) {
  const hint =
    type === 'RPC_NO_DELETE' ? '; list it in proto/removed-rpcs.txt if the previous release calls it nowhere' : '';
  return `${path}:${line}: ${message} (${type})${hint}`;
}

function run(command, args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 1e8 });
  if (error !== undefined) throw error;
  return { status, stdout, stderr };
}

function buf(args, accepted) {
  const { status, stdout, stderr } = run('buf', args);
  if (!accepted.includes(status)) throw new Error(`buf ${args[0]} ended with ${status}:\n${stderr}${stdout}`);
  return stdout;
}

function readRpcs() {
  const { file } = JSON.parse(buf(['build', '--exclude-imports', '-o', '-#format=json'], [0]));
  return file.flatMap(({ package: name, service = [] }) =>
    service.flatMap((it) => it.method.map((method) => `${name}.${it.name}/${method.name}`)),
  );
}

function readRemoved() {
  const lines = readFileSync(join(ROOT, 'proto/removed-rpcs.txt'), 'utf8').split('\n');
  return lines.filter((line) => line !== '' && !line.startsWith('#'));
}

function main() {
  const landed = ['origin/main', 'main', 'HEAD'].find(
    (ref) => run('git', ['cat-file', '-e', `${ref}:proto`]).status === 0,
  );
  if (landed === undefined) return console.log('No landed proto/ to compare with.');
  console.log(`Comparing proto/ with ${landed}`);
  const commit = run('git', ['rev-parse', landed]).stdout.trim();
  // buf exits with 100 if it has findings.
  const output = buf(['breaking', '--against', `.git#ref=${commit}`, '--error-format=json'], [0, 100]);
  const findings = output
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  const problems = problemsOf({ findings, rpcs: readRpcs(), removed: readRemoved() });
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main();
