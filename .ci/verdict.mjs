// Reads the reports and logs of a run of all parts: which tests failed, which failures may be bad
// luck, which parts took too long, and how long each file takes.
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/** More failures than this have a common cause, which is not bad luck. */
const MOST_AGAIN = 10;
/** A part may exceed its budget by this factor without a warning. */
const TOLERANCE = 1.2;
const MESSAGE_LENGTH = 2_000;

/**
 * The text that Vitest puts between the titles of a test when it compares the test with a pattern.
 */
const BETWEEN_TITLES = ' > ';

/**
 * Marks a failure that is never bad luck: a counterexample that fast-check reports, or a finding
 * (libs/testing/src/finding.ts), such as an audit's violation or the loss of an acknowledged
 * request.
 */
const FINDING = /\bFINDING: |\bProperty failed |\bCounterexample: /;

/**
 * Returns the passed, failed and skipped tests of a JSON report of Vitest. A file whose set-up
 * failed has no failed test, so it counts as one failure with an empty title.
 */
export function readReport(report, script, root = process.cwd()) {
  const failures = [];
  const skipped = [];
  for (const { name, status, message, assertionResults } of report.testResults) {
    const file = relative(root, name);
    const failed = assertionResults.filter((test) => test.status === 'failed');
    for (const { ancestorTitles, title, failureMessages } of failed) {
      failures.push(
        toFailure(script, file, [...ancestorTitles, title].join(BETWEEN_TITLES), failureMessages.join('\n')),
      );
    }
    if (status === 'failed' && failed.length === 0) {
      failures.push(toFailure(script, file, '', String(message)));
    }
    const count = assertionResults.filter((test) => !['passed', 'failed'].includes(test.status)).length;
    if (count > 0) skipped.push({ file, count });
  }
  // An error outside every test, for example in a module that no test awaited.
  if (!report.success && failures.length === 0) {
    failures.push(toFailure(script, `npm run ${script}`, '', 'an error outside of every test'));
  }
  return { passed: report.numPassedTests, failures, skipped };
}

function toFailure(script, file, title, message) {
  return { script, file, title, message: message.slice(0, MESSAGE_LENGTH), isFinding: FINDING.test(message) };
}

/**
 * Returns the failures that may be bad luck: those of black-box and long tests, which depend on
 * processes and on what else the machine does. A finding is never bad luck. Returns none if there
 * are too many failures.
 */
export function mayRunAgain(failures) {
  if (failures.length > MOST_AGAIN) return [];
  return failures.filter(({ file, isFinding }) => /^tests\/|\.long\.test\.ts$/.test(file) && !isFinding);
}

/**
 * Returns the arguments with which Vitest runs exactly these failed tests of one file; none if the
 * whole file failed.
 */
export function patternOf(failures) {
  if (failures.some(({ title }) => title === '')) return [];
  const titles = failures.map(({ title }) => title.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return ['--testNamePattern', `^(${titles.join('|')})$`];
}

/**
 * Returns the line about a part, with a warning if the part exceeded its budget by more than a
 * fifth.
 */
export function durationLine(what, seconds, budgetS) {
  const line = `TOOK: ${String(seconds).padStart(4)} s of ${budgetS} s, ${what}`;
  return seconds > budgetS * TOLERANCE ? `${line}\nOVER BUDGET: ${what} by ${seconds - budgetS} s` : line;
}

/** Matches the line of Vitest's default reporter for a file that has ended. */
const ENDED_FILE = /^ *\S +(?:\S+ +)?(?<file>\S+\.test\.\w+) \(.*\) (?<ms>\d+)ms/;

/**
 * Returns the seconds of each file that the logs name: the longest of the file's runs. The JSON
 * reports do not have this figure: they measure from a file's first test, after `beforeAll` has
 * started a stack.
 */
export function secondsOfFiles(logs) {
  const seconds = {};
  for (const line of logs.flatMap((log) => stripVTControlCharacters(log).split('\n'))) {
    const { file, ms } = ENDED_FILE.exec(line)?.groups ?? {};
    if (file !== undefined) seconds[file] = Math.max(seconds[file] ?? 0, Math.round(ms / 1_000));
  }
  return seconds;
}
