// Prints a random sample of 60 comments, 60 exported names and 40 test titles, for a reader's test:
//   node .ci/word-sample.mjs [seed] [folder ...]
// Somebody who did not write them counts the items that need a second reading: at most 10 % of each
// kind may. The same seed and files give the same sample. Without folders it reads the whole
// checkout. Directives to tools (`biome-ignore`, `@vite-ignore`) are not drawn.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isDirective, proseOf, wordsOf } from './comments.mjs';

const DEFAULT_SEED = '20261126';
const SIZES = { comments: 60, 'exported names': 60, 'test titles': 40 };
const SOURCES = /\.(?:tsx?|mjs|proto)$/;
const DERIVED = /\/generated\/|\/src\/(?:api\/)?api-types\.ts$|^libs\/browser\/src\/(?:player-shapes|closed-sets)\.ts$/;
const EXPORT = /^export (?:async )?(?:const|let|function\*?|class|type|interface) (\w+)/gm;
/** Matches the code before a test title: `test(`, `test.each([...])(` and the like. */
const TITLED = /(?<![.\w])(?:test|it)(?:\.\w+)*(?:\((?:[^()]|\([^()]*\))*\))?\(\s*$/;

const [seed = DEFAULT_SEED, ...folders] = process.argv.slice(2);
const files = execFileSync('git', ['ls-files', ...folders], { encoding: 'utf8' })
  .split('\n')
  .filter((name) => SOURCES.test(name) && !DERIVED.test(name));

const found = { comments: [], 'exported names': [], 'test titles': [] };
for (const name of files) collect(name, readFileSync(name, 'utf8'));

const random = createRandom(Number.parseInt(seed, 10));
console.log(`seed ${seed}, ${files.length} files`);
for (const [kind, size] of Object.entries(SIZES)) {
  console.log(`\n--- ${kind}: ${Math.min(size, found[kind].length)} of ${found[kind].length} ---`);
  for (const item of draw(found[kind], size)) console.log(`\n${item}`);
}

function collect(name, source) {
  const placeOf = (at) => `${name}:${source.slice(0, at).split('\n').length}`;
  const { comments, texts } = proseOf(name, source);
  for (const { start, text } of comments) {
    const prose = text
      .split('\n')
      .filter((line) => !isDirective(line))
      .join('\n');
    const words = wordsOf(prose).replace(/\s+/g, ' ').trim();
    // The line below a comment shows its reader what the comment is about.
    const below = source
      .slice(start + text.length)
      .trimStart()
      .split('\n', 1)[0];
    if (words !== '') found.comments.push(`${placeOf(start)}\n  ${words}\n  > ${below}`);
  }
  for (const match of source.matchAll(EXPORT)) {
    found['exported names'].push(`${placeOf(match.index)}  ${match[1]}`);
  }
  if (!/\.test\.\w+$/.test(name)) return;
  for (const { start, text } of texts) {
    const before = source.slice(Math.max(0, start - 2_000), start);
    if (TITLED.test(before)) found['test titles'].push(`${placeOf(start)}  ${text.slice(1, -1)}`);
  }
}

/** Returns `size` different items in a random order. */
function draw(items, size) {
  const rest = [...items];
  return Array.from(
    { length: Math.min(size, rest.length) },
    () => rest.splice(Math.floor(random() * rest.length), 1)[0],
  );
}

/** Returns a generator of numbers in [0, 1), which are the same for the same seed (mulberry32). */
function createRandom(from) {
  let state = from;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
