// Runs every check and test of this repository, one part after the other. The last lines say what
// to repair: the failures with their messages, what this machine did not test, the time and the
// budget of each part, the flaky tests, and `N passed, N failed`.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { durationLine, mayRunAgain, patternOf, readReport } from './verdict.mjs';

/** No part starts later than this many seconds: CI ends the run after 90 minutes. */
const LAST_START_S = 5_000;
/** A part that runs this many seconds after the start is ended, so that its results are printed. */
const LAST_END_S = 5_250;

/**
 * The parts: the npm script of each, the seconds that it may take, and the script that runs at the
 * same time.
 */
const PARTS = [
  // The README's test command.
  { script: 'test', budgetS: 540 },
  { script: 'test:proofs', budgetS: 1_900 },
  { script: 'test:compose', budgetS: 600, beside: 'check' },
];

const startedAt = Date.now();
const folder = mkdtempSync(join(tmpdir(), 'laurel-ci-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const secondsNow = () => Math.round((Date.now() - startedAt) / 1_000);

/** Failures that no test reports: a failed check, or a command that ended without a report. */
const broken = [];
const took = [];
const notStarted = [];
const results = [];

// Fetches and builds what clients and containers need, at a low priority, while tests run.
const preparing = npmRun('test:prepare', [], { isShown: true });

for (const { script, budgetS, beside } of PARTS) {
  if (secondsNow() >= LAST_START_S) {
    notStarted.push(script, ...(beside === undefined ? [] : [beside]));
    continue;
  }
  const began = secondsNow();
  const check = beside === undefined ? undefined : npmRun(beside, [], { isShown: false });
  const result = await runTests(script);
  results.push(result);
  took.push(durationLine(`npm run ${script}`, secondsNow() - began, budgetS));
  if (check === undefined) continue;
  const { code, output } = await check;
  console.log(output);
  if (code !== 0) broken.push(`npm run ${beside}`);
}

await preparing;
const flaky = await runAgain(results.flatMap(({ failures }) => failures));
const failures = results.flatMap((result) => result.failures).filter((failure) => !flaky.includes(failure));
for (const script of notStarted) {
  broken.push(`npm run ${script}: did not run, because ${LAST_START_S} s were over when its turn came`);
}

for (const { file, title, message } of failures) console.log(`\nFAILED ${file}${title && ` > ${title}`}\n${message}`);
for (const what of broken) console.log(`\nFAILED ${what}`);
for (const { file, count } of results.flatMap(({ skipped }) => skipped)) {
  console.log(`\nNOT TESTED: ${file}: ${count} skipped`);
}
for (const line of results.flatMap(({ notTested }) => notTested)) console.log(`\n${line}`);
console.log(`\n${took.join('\n')}\nTOOK: ${secondsNow()} s in all`);
for (const { file, title } of flaky) console.log(`FLAKY: ${file}${title && ` > ${title}`}`);
if (flaky.length > 0) console.log(`${flaky.length} flaky: the next change mends them first`);
const passed = results.reduce((sum, result) => sum + result.passed, flaky.length);
const failed = failures.length + broken.length;
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;

/** Runs a script of Vitest and reads its report. */
async function runTests(script, filters = []) {
  const reportFile = join(folder, `${script.replace(':', '-')}-${Date.now()}.json`);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`];
  const { code, output } = await npmRun(script, [...reporters, ...filters], { isShown: true });
  const report = existsSync(reportFile) ? readReport(JSON.parse(readFileSync(reportFile, 'utf8')), script) : undefined;
  const hasFailure = report !== undefined && report.failures.length > 0;
  if (code !== 0 && !hasFailure && filters.length === 0) broken.push(`npm run ${script} (exit code ${code})`);
  return {
    passed: report?.passed ?? 0,
    failures: report?.failures ?? [],
    skipped: report?.skipped ?? [],
    notTested: output.split('\n').filter((line) => line.startsWith('NOT TESTED: ')),
    isGood: code === 0,
  };
}

/**
 * Runs once more the failed tests that may be bad luck, one file at a time. Returns the tests that
 * then pass.
 */
async function runAgain(all) {
  const candidates = mayRunAgain(all);
  const flaky = [];
  for (const file of new Set(candidates.map((failure) => failure.file))) {
    if (secondsNow() >= LAST_START_S) return flaky;
    const group = candidates.filter((failure) => failure.file === file);
    const [{ script }] = group;
    console.log(`\nRunning again, alone: ${file}`);
    const { isGood, passed } = await runTests(script, [file, ...patternOf(group)]);
    if (isGood && passed > 0) flaky.push(...group);
  }
  return flaky;
}

/**
 * Runs an npm script, and ends the script when the run has no time left. Resolves with the script's
 * exit code and output.
 */
function npmRun(script, args, { isShown }) {
  const child = spawn('npm', ['run', script, ...(args.length === 0 ? [] : ['--', ...args])], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const limit = setTimeout(
    () => {
      broken.push(`npm run ${script}: was ended, because it still ran after ${LAST_END_S} s of the run`);
      process.kill(-child.pid, 'SIGTERM');
    },
    LAST_END_S * 1_000 - (Date.now() - startedAt),
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
      if (isShown) process.stdout.write(text);
    });
  }
  return new Promise((resolve) => {
    child.once('close', (code) => {
      clearTimeout(limit);
      resolve({ code, output });
    });
  });
}
