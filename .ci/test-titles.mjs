// Prints the titles of all tests as `<file> > <title>`, sorted. A diff of two runs shows which
// tests a change removed, moved or renamed:
//   node .ci/test-titles.mjs > before.txt
// It loads every test file and runs no test. Install the packages and generate proto/ first.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'test-titles-'));
const list = join(folder, 'list.json');
try {
  execFileSync('npx', ['vitest', 'list', '--no-static-parse', `--json=${list}`], {
    // Makes the tables of faults list all of their cases.
    env: { ...process.env, LAUREL_FAULTS: 'all' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const titles = JSON.parse(readFileSync(list, 'utf8')).map(({ file, name }) => {
    // Some titles contain an id that is drawn in each run.
    const title = name.replace(/[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}/g, '<id>');
    return `${relative(process.cwd(), file)} > ${title}\n`;
  });
  process.stdout.write(titles.sort().join(''));
} finally {
  rmSync(folder, { recursive: true });
}
