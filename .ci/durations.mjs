// Writes durations.json from the logs of Vitest runs, so that the longest files start first:
//   .ci/run > run.log; node .ci/durations.mjs run.log
// A file that no log names keeps its earlier seconds.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { secondsOfFiles } from './verdict.mjs';

/** Shorter files are not listed: when they start hardly changes when the last file ends. */
const SHORTEST_S = 5;

const target = new URL('durations.json', import.meta.url);
const measured = secondsOfFiles(process.argv.slice(2).map((log) => readFileSync(log, 'utf8')));
const all = Object.entries({ ...JSON.parse(readFileSync(target, 'utf8')), ...measured });
const kept = all.filter(([file, seconds]) => seconds >= SHORTEST_S && existsSync(file));
const sorted = Object.fromEntries(kept.toSorted(([, one], [, other]) => other - one));
writeFileSync(target, `${JSON.stringify(sorted, undefined, 2)}\n`);
