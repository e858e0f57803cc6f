/** The checkout of the previous release, beside which the sources of this checkout are tested. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { CHECKOUT } from '@laurel/testing';

/**
 * The commit of the previous release, 0.2.0: the one that operators deploy. It moves with each
 * release (docs/operations/release.md, "Cut a release").
 */
const PREVIOUS_RELEASE = 'f2444065cbe15559e7a259ff49da34fe9789e704';

/**
 * Beside the state of the local stack, which git, Biome, knip and turbo ignore. Not in
 * node_modules, where Node does not run TypeScript.
 */
const RELEASES = `${CHECKOUT}.laurel/releases/`;

/**
 * Returns why there is no previous release, or undefined if there is one. A clone without history
 * has none, and neither has a copy without git.
 */
export function whyNoPreviousRelease(): string | undefined {
  if (existsSync(`${RELEASES}${PREVIOUS_RELEASE}/`)) return undefined;
  const ask = spawnSync('git', ['rev-parse', '--is-shallow-repository'], { cwd: CHECKOUT, encoding: 'utf8' });
  if (ask.status !== 0) return 'this checkout is not a git clone';
  if (hasCommit(PREVIOUS_RELEASE) || ask.stdout.trim() === 'false') return undefined;
  return 'this clone is shallow: complete it with "git fetch --unshallow"';
}

function hasCommit(commit: string): boolean {
  return spawnSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: CHECKOUT }).status === 0;
}

/**
 * The folder of the previous release, with its own packages and generated code; it ends with a
 * slash. The first call on a machine takes a minute or two, later ones milliseconds. Throws if this
 * clone's history lacks the commit.
 */
export function checkOutPreviousRelease(): string {
  const folder = `${RELEASES}${PREVIOUS_RELEASE}/`;
  if (!existsSync(folder)) extract(PREVIOUS_RELEASE, folder);
  run(process.execPath, [`${folder}deploy/local/bootstrap.mjs`], folder);
  return folder;
}

/**
 * Extracts a commit's files, as archived by git, into a folder, completely or not at all. Replaces
 * other releases and interrupted drafts.
 */
function extract(commit: string, folder: string): void {
  if (!hasCommit(commit))
    throw new Error(`the previous release, commit ${commit}, is not in the history of this clone`);
  rmSync(RELEASES, { recursive: true, force: true });
  const draft = `${RELEASES}draft-${process.pid}`;
  mkdirSync(draft, { recursive: true });
  try {
    run('git', ['archive', '--format=tar', `--output=${draft}.tar`, commit], CHECKOUT);
    run('tar', ['--extract', `--file=${draft}.tar`, `--directory=${draft}`], CHECKOUT);
    renameSync(draft, folder);
  } finally {
    rmSync(draft, { recursive: true, force: true });
    rmSync(`${draft}.tar`, { force: true });
  }
}

function run(command: string, args: readonly string[], cwd: string): void {
  const { status, error, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}:\n${stderr}`);
}
