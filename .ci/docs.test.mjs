import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';

const SOUND = {
  'README.md': '[errors](docs/api.md#error-codes), [the folder](docs/), [decision 1](docs/decisions/0001-first.md)\n',
  'docs/api.md':
    '# API\n\n## Error `codes`\n\n## Rate limit\n\n[up](#api), `src/a.ts`, then `a.ts`, `*/{a,*}.ts`, not `code.ts()`\n',
  'docs/decisions/0001-first.md': '# 1. First\n',
  'src/a.ts': '/**\n * Whatever (docs/api.md, "Error codes" and "Rate\n * limit"; decision 1).\n */\n',
};

const folders = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** Runs the check on the sound repository with these files changed. Returns the result. */
function check(changed) {
  const folder = mkdtempSync(join(tmpdir(), 'laurel-docs-'));
  folders.push(folder);
  execFileSync('git', ['init', '--quiet', folder]);
  for (const [file, text] of Object.entries({ ...SOUND, ...changed })) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  const script = join(import.meta.dirname, 'docs.mjs');
  const { status, stderr } = spawnSync(process.execPath, [script], { cwd: folder, encoding: 'utf8' });
  return { status, problems: stderr.split('\n').slice(0, -1) };
}

describe('the check of citations and links', () => {
  test('the check of citations accepts a repository in which each citation and link has a target', () => {
    expect(check({})).toEqual({ status: 0, problems: [] });
  });

  test.each([
    ['docs/b.md links to gone.md, which is not in the repository', '[x](gone.md)'],
    ['docs/b.md links to ../../beside/api.md, which is not in the repository', '[x](../../beside/api.md)'],
    ['docs/b.md links to /docs/api.md, which is not in the repository', '[x](/docs/api.md)'],
    ['docs/b.md links to api.md#gone, which has no such heading', '[x](api.md#gone)'],
    ['docs/b.md links to #gone, which has no such heading', '[x](#gone)'],
    ['docs/b.md calls decisions/0001-first.md decision 2', '[decision 2](decisions/0001-first.md)'],
    ['docs/b.md names src/gone.ts in backticks, which is not in the repository', 'In `src/gone.ts`.'],
    ['docs/b.md names src/b.ts in backticks, which is not in the repository', 'In `src/{a,b}.ts`.'],
    ['docs/b.md names lib/*.ts in backticks, which is not in the repository', 'In `lib/*.ts`.'],
    ['docs/b.md lists the library gone, which is not in libs/', 'No library imports the libraries (`gone`).'],
    ['b.ts cites docs/gone.md, which is not in the repository', '// As in docs/gone.md, "API".'],
    ['b.sql cites docs/api.md, "Gone", which has no such heading', '-- As in docs/api.md, "Gone".'],
    ['b.ts cites docs/api.md, "Gone", which has no such heading', '// (docs/api.md, "API" and\n// "Gone")'],
    ['b.yaml cites decision 7, which docs/decisions does not have', '# See decisions 1 and 7.'],
    ['b.proto cites "partner API, "Errors"", which names no file', '// (partner API, "Errors")'],
    ['b.ts cites "issue 4", which is not in the repository', '// As issue 4 asks.'],
  ])('the check of citations refuses a repository in which %s', (problem, text) => {
    const [file = ''] = problem.split(' ', 1);
    const { status, problems } = check({ [file]: `${text}\n` });
    expect({ status, hasProblem: problems.includes(problem) }).toEqual({ status: 1, hasProblem: true });
  });

  describe('the list of sentences without a test', () => {
    const contract = { 'docs/contract/api.md': '# API\n\n## Errors\n\nBranch on\n`code`.\n\n## Rate\n\nA minute.\n' };
    const rows = (...lines) => ({ ...contract, 'docs/contract/coverage.md': `# Coverage\n\n${lines.join('\n')}\n` });

    test('the list of sentences may quote a sentence that a line break divides', () => {
      const row = '| api.md, "Errors" | Branch on `code`. | `src/a.test.ts` states it |';
      expect(check({ ...rows(row), 'src/a.test.ts': '' })).toEqual({ status: 0, problems: [] });
    });

    test.each([
      [
        'quotes "Branch on the code", which api.md, "Errors" does not have',
        '| api.md, "Errors" | Branch on the code | Advice |',
      ],
      ['quotes "A minute.", which api.md, "Errors" does not have', '| api.md, "Errors" | A minute. | Advice |'],
      ['names src/a.test.ts, which is not in the repository', '| api.md, "Rate" | A minute. | `src/a.test.ts` |'],
      ['quotes nothing', 'Every sentence has a test.'],
    ])('the check of citations refuses a list of sentences that %s', (problem, row) => {
      expect(check(rows(row))).toEqual({ status: 1, problems: [`docs/contract/coverage.md ${problem}`] });
    });
  });

  test('the check of citations refuses a repository without any citation or link', () => {
    const [file] = Object.keys(SOUND).filter((name) => name.endsWith('.ts'));
    expect(check({ [file]: '', 'README.md': '', 'docs/api.md': '' }).status).toBe(1);
  });
});
