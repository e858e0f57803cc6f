// Checks how comments, error messages, test titles and descriptions read.
//
// - A line of a comment ends by column 100. A directive to a tool (`biome-ignore`,
//   `@ts-expect-error`) may be longer, because it must be one line.
// - No sentence begins with "Of", and no text has one of the phrases below.
// - No file has the marker of an unresolved conflict, which no compiler sees in a comment.
// - Not read: derived files, landed migrations, and this check.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isDirective, proseOf, wordsOf } from './comments.mjs';

const COLUMNS = 100;
const SOURCES = /\.(?:tsx?|mjs|js|proto|sql)$/;
const DERIVED = /\/generated\/|\/schema\.sql$|\/src\/(?:api\/)?api-types\.ts$/;

/** Phrases that make a reader start a sentence again. */
const REFUSED = [
  [/(?<=(?:^|[.:;!?]\s|[-*]\s)[ \t]*["'(]?)Of\b/gm, 'a sentence begins with "Of": begin with its subject'],
  [/\b(?:has|have)\s+it\b/gi, '"has it": say what it has, or use a verb'],
  [/\bas\s+it\s+was\b/gi, '"as it was": say "unchanged", or when it was so'],
  [/\bof\s+(?:ours|theirs)\b/gi, '"of ours": name whose'],
  [/\b(?:is|are|was|were)\s+none\s+of\b/gi, '"is none of": say "is not"'],
  [/\bnone\s+of\s+(?:ours|theirs|its|them)\b/gi, '"none of them": say "no" and the noun'],
  [/\bwhoever\b/gi, '"whoever": name the actor'],
];

const CONFLICTS = [[/^(?:<{7}|>{7}) /gm, 'the marker of a conflict']];

const STDIO = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };
const git = (...args) => execFileSync('git', args, STDIO).split('\n').filter(Boolean);
const landed = new Set(landedMigrations());
const isRead = (name) => SOURCES.test(name) && !DERIVED.test(name) && !landed.has(name) && !/^\.ci\/words\b/.test(name);
const files = git('ls-files', '--cached', '--others', '--exclude-standard').filter(isRead);

const problems = files.flatMap((name) => {
  const source = readFileSync(name, 'utf8');
  const { comments, texts } = proseOf(name, source);
  return [
    ...refused(0, source, CONFLICTS),
    ...comments.flatMap((comment) => tooWide(source, comment)),
    ...comments.flatMap(({ start, text }) => refused(start, wordsOf(text))),
    ...texts.flatMap(({ start, text }) => refused(start + 1, text.slice(1, -1))),
  ].map(({ at, problem }) => `${name}:${lineOf(source, at)} ${problem}`);
});

for (const problem of problems) console.error(problem);
console.log(`${files.length} files, whose comments and texts read well as far as a script can see`);
// A check that reads nothing is broken.
process.exitCode = problems.length === 0 && files.length > 0 ? 0 : 1;

/** Finds the lines of a comment that end after column 100, counting the code before the comment. */
function tooWide(source, { start, text }) {
  const found = [];
  let at = start;
  for (const line of text.split('\n')) {
    const columns = at + line.length - (source.lastIndexOf('\n', at - 1) + 1);
    if (columns > COLUMNS && !isDirective(line)) {
      found.push({ at, problem: `a comment of ${columns} columns: at most ${COLUMNS}, one thought a line` });
    }
    at += line.length + 1;
  }
  return found;
}

function refused(start, words, patterns = REFUSED) {
  return patterns.flatMap(([pattern, problem]) =>
    [...words.matchAll(pattern)].map(({ index }) => ({ at: start + index, problem })),
  );
}

function lineOf(source, at) {
  return source.slice(0, at).split('\n').length;
}

/** Lists the migrations that have landed and may no longer change (.ci/landed-migrations). */
function landedMigrations() {
  for (const ref of ['origin/main', 'main', 'HEAD']) {
    try {
      return git('ls-tree', '-r', '--name-only', ref, '--', 'services').filter((name) => name.includes('/migrations/'));
    } catch {
      // This reference does not exist: try the next one.
    }
  }
  return [];
}
