import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { durationLine, mayRunAgain, patternOf, readReport, secondsOfFiles } from './verdict.mjs';

const ROOT = '/laurel';
const aTest = (title, status, failureMessages = [], ancestorTitles = []) => ({
  ancestorTitles,
  title,
  status,
  failureMessages,
});
const aFile = (name, assertionResults, message = '') => ({
  name: `${ROOT}/${name}`,
  status: assertionResults.every((result) => result.status !== 'failed') && message === '' ? 'passed' : 'failed',
  message,
  assertionResults,
});
const aReport = (testResults, changes = {}) => ({
  success: testResults.every((result) => result.status === 'passed'),
  numPassedTests: testResults.flatMap((file) => file.assertionResults).filter((it) => it.status === 'passed').length,
  testResults,
  ...changes,
});
const aFailure = (changes = {}) => ({
  script: 'test',
  file: 'tests/money/payouts.test.ts',
  title: 'a prize is paid',
  message: 'waited 20000 ms in vain until the log shows it',
  isFinding: false,
  ...changes,
});

describe('what a report of Vitest says', () => {
  test('a report is read into passed, failed and skipped tests', () => {
    const report = aReport([
      aFile('tests/a.test.ts', [aTest('a holds', 'passed'), aTest('b holds', 'failed', ['Error: no b'])]),
      aFile('libs/b.test.ts', [aTest('c holds', 'skipped'), aTest('d holds', 'passed')]),
    ]);
    expect(readReport(report, 'test', ROOT)).toEqual({
      passed: 2,
      failures: [
        { script: 'test', file: 'tests/a.test.ts', title: 'b holds', message: 'Error: no b', isFinding: false },
      ],
      skipped: [{ file: 'libs/b.test.ts', count: 1 }],
    });
  });

  test('a file whose set-up failed is a failure without a title', () => {
    const report = aReport([aFile('tests/a.test.ts', [aTest('a holds', 'skipped')], 'the stack did not start')]);
    expect(readReport(report, 'test', ROOT).failures).toEqual([
      { script: 'test', file: 'tests/a.test.ts', title: '', message: 'the stack did not start', isFinding: false },
    ]);
  });

  test('an error outside of every test is a failure', () => {
    const report = aReport([aFile('tests/a.test.ts', [aTest('a holds', 'passed')])], { success: false });
    expect(readReport(report, 'test', ROOT).failures).toHaveLength(1);
  });
});

describe('which failures run again', () => {
  test('a black-box test that timed out runs again', () => {
    const failure = aFailure();
    expect(mayRunAgain([failure])).toEqual([failure]);
  });

  test('a failed long test of a package runs again', () => {
    const failure = aFailure({ file: 'services/challenge/src/handlers/many-samples.long.test.ts', title: '' });
    expect(mayRunAgain([failure])).toEqual([failure]);
  });

  test('a test of a package does not run again', () => {
    expect(mayRunAgain([aFailure({ file: 'services/wallet/src/server.test.ts' })])).toEqual([]);
  });

  test.each([
    ['a counterexample of a property', 'Error: Property failed after 3 tests\n{ seed: 1 }'],
    ['a failed audit', 'AssertionError: FINDING: the audit reports: expected [ … ] to deeply equal []'],
    ['an acknowledged request that is lost', `${'x'.repeat(3_000)}\nAssertionError: FINDING: the attempt of a 201: …`],
  ])('%s does not run again', (_what, message) => {
    const report = aReport([aFile('tests/a.test.ts', [aTest('a holds', 'failed', [message])])]);
    const { failures } = readReport(report, 'test', ROOT);
    expect(failures).toHaveLength(1);
    expect(mayRunAgain(failures)).toEqual([]);
  });

  test('more than ten failures do not run again', () => {
    const failures = Array.from({ length: 11 }, (_, index) => aFailure({ title: `test ${index}` }));
    expect(mayRunAgain(failures)).toEqual([]);
    expect(mayRunAgain(failures.slice(1))).toHaveLength(10);
  });

  test('the pattern matches exactly the titles that failed', () => {
    const [option, pattern] = patternOf([aFailure({ title: 'pays 5.00 (once)' }), aFailure({ title: 'refunds' })]);
    expect(option).toBe('--testNamePattern');
    const isMatch = (title) => new RegExp(pattern).test(title);
    expect(['pays 5.00 (once)', 'refunds', 'pays 5x00 (once)', 'refunds twice'].map(isMatch)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  test('the pattern of a failure makes Vitest run only the failed test', () => {
    const failed = aTest(
      'a file whose set-up failed runs again as a whole',
      'failed',
      [],
      ['which failures run again'],
    );
    const { failures } = readReport(aReport([aFile('.ci/verdict.test.mjs', [failed])]), 'test', ROOT);
    const args = [
      'node_modules/vitest/vitest.mjs',
      'run',
      '--project',
      'packages',
      ...patternOf(failures),
      '.ci/verdict.test.mjs',
    ];
    const output = execFileSync(process.execPath, args, { encoding: 'utf8', env: { ...process.env, NO_COLOR: '1' } });
    expect(output).toMatch(/Tests +1 passed \|/);
  });

  test('a file whose set-up failed runs again as a whole', () => {
    expect(patternOf([aFailure({ title: '' }), aFailure()])).toEqual([]);
  });
});

describe('how long a part took', () => {
  test('a part that exceeds its budget by at most a fifth gives no warning', () => {
    expect(durationLine('npm run test', 120, 100)).toBe('TOOK:  120 s of 100 s, npm run test');
  });

  test('a part that exceeds its budget by more than a fifth gives a warning', () => {
    expect(durationLine('npm run test', 121, 100)).toBe(
      'TOOK:  121 s of 100 s, npm run test\nOVER BUDGET: npm run test by 21 s',
    );
  });
});

describe('the seconds of files', () => {
  test('the time of a file is the time of its longest run, whether the run passed or failed', () => {
    const log = `
 \u001b[32m✓\u001b[39m \u001b[30m\u001b[42m faults \u001b[49m\u001b[39m tests/faults/lapse.test.ts \u001b[2m(\u001b[22m81 tests)\u001b[33m 276569\u001b[2mms\u001b[22m\u001b[39m
     ✓ wallet.refund.before-commit, kill, during lapse, the partner retries 5197ms
 ❯  clients  tests/operator/audit-and-actions.test.ts (3 tests | 1 failed) 17547ms
 ✓ .ci/verdict.test.mjs (12 tests) 1200ms
`;
    const again = ' ✓  clients  tests/operator/audit-and-actions.test.ts (3 tests) 9000ms';
    expect(secondsOfFiles([log, again])).toEqual({
      'tests/faults/lapse.test.ts': 277,
      'tests/operator/audit-and-actions.test.ts': 18,
      '.ci/verdict.test.mjs': 1,
    });
  });
});
