// Writes durations.json, by which the longest files start first, from Vitest's JSON reports:
//   node .ci/durations.mjs <report.json> ...
import { readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';

/** Shorter files hardly change when the last one ends. */
const SHORTEST_S = 5;

const seconds = {};
for (const report of process.argv.slice(2)) {
  for (const { name, startTime, endTime } of JSON.parse(readFileSync(report, 'utf8')).testResults) {
    const took = Math.round((endTime - startTime) / 1_000);
    if (took >= SHORTEST_S) seconds[relative(process.cwd(), name)] = took;
  }
}
const sorted = Object.fromEntries(Object.entries(seconds).toSorted(([, one], [, other]) => other - one));
writeFileSync(new URL('durations.json', import.meta.url), `${JSON.stringify(sorted, undefined, 2)}\n`);
