// Removes packages that these workspaces do not need from a node_modules with the packages of all
// services: `node keep-dependencies.mjs @laurel/wallet`, or `services` for all of them.
// It also removes what a library needs only for its tests. An install of one service would keep
// that: npm installs development dependencies that are workspaces.
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { relative } from 'node:path';

const [workspaces] = process.argv.slice(2);
const list = ['ls', '--all', '--parseable', '--omit=dev', `--workspace=${workspaces}`];
const listed = execFileSync('npm', list, { encoding: 'utf8', maxBuffer: 2 ** 26 });
const needed = new Set(listed.split('\n').map((folder) => relative('.', folder)));
const { packages } = JSON.parse(readFileSync('node_modules/.package-lock.json', 'utf8'));
for (const folder of Object.keys(packages)) {
  if (folder.startsWith('node_modules/') && !needed.has(folder)) rmSync(folder, { recursive: true, force: true });
}
