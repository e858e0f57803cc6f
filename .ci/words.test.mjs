import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

/** Returns what the check reports about a repository with these files. */
function check(texts) {
  const folder = mkdtempSync(join(tmpdir(), 'laurel-words-'));
  try {
    execFileSync('git', ['init', '--quiet'], { cwd: folder });
    for (const [name, text] of Object.entries(texts)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    const script = join(import.meta.dirname, 'words.mjs');
    const { status, stderr } = spawnSync(process.execPath, [script], { cwd: folder, encoding: 'utf8' });
    return { status, problems: stderr.split('\n').filter((line) => line.startsWith('libs/new/')) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const NAME = 'libs/new/src/rule.ts';
const OF = `${NAME}:1 a sentence begins with "Of": begin with its subject`;
const HAS_IT = '"has it": say what it has, or use a verb';

test.each([
  ['the first sentence of a comment', '/** Of the whole budget. */'],
  ['a later sentence', '// Bytes in use. Of all clients.'],
  ['an item of a list', '/** - Of them, the oldest. */'],
  ['an error message', "throw new Error('Of one client');"],
  ['a template', 'throw new Error(`Of $' + '{name}`);'],
])('the check refuses a sentence that begins with "Of": %s', (_, text) => {
  expect(check({ [NAME]: `${text}\n` })).toEqual({ status: 1, problems: [OF] });
});

test('the check refuses the marker of an unresolved conflict, in a comment too', () => {
  const text = `/*\n${'<'.repeat(7)} HEAD\n * One.\n${'='.repeat(7)}\n * Other.\n${'>'.repeat(7)} other\n */\n`;
  const problems = [2, 6].map((line) => `${NAME}:${line} the marker of a conflict`);
  expect(check({ [NAME]: text })).toEqual({ status: 1, problems });
});

test.each([
  'The wallet has it.',
  'The row is as it was.',
  'A key of ours.',
  'It is none of the known codes.',
  'None of them is paid.',
  'Whoever pays.',
])('the check refuses a phrase that has to be read twice: %s', (sentence) => {
  expect(check({ [NAME]: `// ${sentence}\n` }).problems).toHaveLength(1);
});

test('the check finds a phrase that a line break divides', () => {
  const source = ['const one = 1;', '/**', ' * The row that the wallet has', ' * it changes.', ' */', ''].join('\n');
  expect(check({ [NAME]: source }).problems).toEqual([`${NAME}:3 ${HAS_IT}`]);
});

test('the check counts the code before a comment when it refuses one that ends after column 100', () => {
  const wide = `// ${'x'.repeat(98)}`;
  const after = `const one = 1; // ${'x'.repeat(90)}`;
  expect(check({ [NAME]: [wide, wide.slice(1, -1), after, ''].join('\n') }).problems).toEqual([
    `${NAME}:1 a comment of 101 columns: at most 100, one thought a line`,
    `${NAME}:3 a comment of 108 columns: at most 100, one thought a line`,
  ]);
});

test('the check ignores text in quotes and regular expressions that look like a comment', () => {
  const wide = 'x'.repeat(120);
  const source = [
    `const address = 'https://${wide}';`,
    `const template = \`$${'{'}{ a: '}' }.a} // ${wide}\`;`,
    `const pattern = /[/]\\/\\/ ${wide}/;`,
    `// biome-ignore lint/suspicious/noExplicitAny: ${wide}`,
    '',
  ].join('\n');
  expect(check({ [NAME]: source })).toEqual({ status: 0, problems: [] });
});

test('the check reads the comments and texts of elements, but not the text between tags as a comment', () => {
  const wide = 'x'.repeat(120);
  const name = 'libs/new/src/page.tsx';
  const source = [
    'const page = (',
    '  <p title="Of one">',
    '    {/* Of two */}',
    `    It isn't a comment: // ${wide}`,
    '    <b>Of three</b> {`Of ${' + '4}`}',
    '    Whoever reads this </p>',
    ');',
    '',
  ].join('\n');
  const problems = [2, 3, 5, 5].map((line) => `${name}:${line} a sentence begins with "Of": begin with its subject`);
  const { problems: found } = check({ [name]: source });
  expect(found.toSorted()).toEqual([...problems, `${name}:6 "whoever": name the actor`]);
});

test('the check reads the comments of proto and SQL files', () => {
  expect(
    check({ 'libs/new/a.proto': '// Of a call.\nmessage A {}\n', 'libs/new/a.sql': "select '--x', 1 -- Of a row.\n" })
      .problems,
  ).toHaveLength(2);
  expect(check({ 'libs/new/readme.txt': 'Of nothing.' })).toEqual({ status: 1, problems: [] });
});
