import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const DECLARATIONS = [
  'declare const one: Date, other: Date, maybe: Date | null;',
  'declare const before: number, millisecondsOf: (instant: Date) => number;',
  'declare const record: { readonly at: Date; readonly Date: number };',
];

/** Returns what the check reports about a library with these expressions, one per line. */
function check(expressions, file = 'libs/rule/src/rule.ts') {
  const folder = mkdtempSync(join(tmpdir(), 'laurel-dates-'));
  const texts = {
    'libs/rule/tsconfig.json': '{"compilerOptions":{"strict":true,"lib":["es2024"],"types":[]},"include":["src"]}',
    [file]: [...DECLARATIONS, ...expressions.map((text, index) => `export const x${index} = ${text};`), ''].join('\n'),
  };
  try {
    for (const [name, text] of Object.entries(texts)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    const script = join(import.meta.dirname, 'dates.mjs');
    const { status, stderr } = spawnSync(process.execPath, [script], { cwd: folder, encoding: 'utf8' });
    // Only these lines count, because the checker's process may also print that its work was
    // cancelled.
    return { status, problems: stderr.split('\n').filter((line) => line.includes(' compares instants ')) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const REFUSED = [
  'one < other',
  'one >= other',
  'maybe !== null && maybe > one',
  'record.at <= one',
  'one.getTime() < before',
  'before < one.valueOf() + 5',
  '(before - one.getTime()) >= 1',
  "Date.parse('soon') <= before",
  '+one > before',
  'one === other',
  'one.getTime() !== other.getTime()',
  'Math.max(0, one.getTime() - before)',
  'Math.min(before, +other)',
];

const TAKEN = [
  'before < 5',
  'record.Date < before',
  'Date.now() - before >= 5',
  'maybe === null',
  'one.toISOString() < other.toISOString()',
  'millisecondsOf(one) < before',
  'Number.isNaN(one.getTime())',
  'Math.max(before, millisecondsOf(one))',
  'Math.abs(one.getTime())',
];

test('the check refuses each direct comparison of instants and names its line', () => {
  const { status, problems } = check([...REFUSED, ...TAKEN]);
  const compared = REFUSED.map((text) => text.replace('maybe !== null && ', ''));
  const lineOf = (index) => DECLARATIONS.length + 1 + index;
  expect(problems).toEqual(
    compared.map(
      (text, index) =>
        `libs/rule/src/rule.ts:${lineOf(index)} compares instants without @laurel/values/instant: ${text}`,
    ),
  );
  expect(status).toBe(1);
});

test('the check passes every other comparison', () => {
  expect(check(TAKEN)).toEqual({ status: 0, problems: [] });
});

test('the check skips tests and fails if no other file is left', () => {
  expect(check(REFUSED, 'libs/rule/src/rule.test.ts')).toEqual({ status: 1, problems: [] });
});
