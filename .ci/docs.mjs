// Checks that every citation and link has a target. In every text file of the repository:
//
// - a citation of a Markdown file names the path from the root and headings, as in
//   `docs/contract/partner-api.md, "Errors"`; both exist. Inside Markdown, a path that begins with
//   dots starts at the citing file;
// - a citation of a decision names its number, as in `decision 9`, and the decision exists;
// - every relative link of a Markdown file leads to a file or folder, and its anchor to a heading;
// - a source file that a Markdown file names in backticks exists, by its path or the end of its
//   path, as in `domain/ledger.ts`. Records (CHANGELOG.md, docs/decisions) may name files that are
//   gone, and a guide may name files that its reader writes;
// - libraries that a Markdown file lists by name exist, as in "pure libraries (`errors json`)";
// - a reader can open every citation: it is no ticket, no folder beside the repository, and no
//   document by its title alone;
// - docs/contract/coverage.md lists the sentences of the contract that have no test. It quotes them
//   word for word from below the heading that it cites, and the tests that it names exist.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { Marked } from 'marked';
import { getHeadingList, gfmHeadingId } from 'marked-gfm-heading-id';

/**
 * Not read: the lockfile, which cites nothing, and the test of this check, which contains bad
 * citations.
 */
const NOT_READ = new Set(['package-lock.json', '.ci/docs.test.mjs']);

const CITATION = /(?<![\w/.-])(?<path>(?:[\w.-]+\/)*[\w-][\w.-]*\.md)\b(?<headings>(?:,? (?:and )?"[^"]+")*)/g;
const DECISIONS = /\bdecisions? (?<numbers>\d+(?:(?:,|,? and| to) \d+)*)/gi;
/** Texts that look like a citation, but name nothing that a reader can open. */
const LOOSE = [
  [/\b(?:partner API|portal API|contract|decisions|rules),? \(?"[A-Z][^"]*"/g, 'names no file'],
  [/\((?:the )?(?:partner API|portal API|contract|decisions), [A-Z`][^)]*\)/g, 'names no file'],
  [/\bissue #?\d+/gi, 'is not in the repository'],
  [/\bdecisions\/\d{4}(?![\w-]*\.md)/g, 'names no file'],
  [/(?<![\w.-])(?:\.\.\/)+(?:shared|spec|design)\/[\w./-]*/g, 'is not in the repository'],
];

/** A path, which may have braces and stars, as in `services/{challenge,tournament}/src/*.ts`. */
const SOURCE_PATH = /^(?:[\w.*-]|\/|\{[\w.,-]+\})+\.(?:ts|mts|mjs|sql|proto|sh)$/;
const NAMES_OTHER_FILES =
  /^(?:CHANGELOG\.md|docs\/decisions\/.*|docs\/contract\/quick-start\.md|libs\/(?:sdk|browser)\/README\.md)$/;

/** Libraries by their bare names, between backticks and parentheses. */
const LIBRARY_LIST = /\blibraries\b[^().`]*\(`(?<names>[a-z-]+(?: [a-z-]+)*)`\)/g;

const COVERAGE = 'docs/contract/coverage.md';
const COVERAGE_ROW = /^\| (?<file>[\w-]+\.md), "(?<heading>[^"]+)" +\| (?<quoted>.+?) +\| /gm;

const root = process.cwd();
const problems = [];
const counts = { citations: 0, decisions: 0, links: 0, paths: 0 };

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && !NOT_READ.has(file) && existsSync(posix.join(root, file)));
const folders = new Set(files.flatMap(foldersOf));
const texts = new Map(files.map((file) => [file, readFileSync(posix.join(root, file), 'utf8')]));
const pages = new Map(files.filter((file) => file.endsWith('.md')).map((file) => [file, parse(texts.get(file))]));
const decisions = new Set(
  files.flatMap((file) => /^docs\/decisions\/(?<number>\d{4})-/.exec(file)?.groups.number ?? []).map(Number),
);

for (const [file, text] of texts) {
  if (!text.includes('\0')) checkCitations(file, joinLines(file, text));
}
for (const [file, { links, codes }] of pages) {
  for (const link of links) checkLink(file, link);
  // `checkCoverage` checks the files of this page, and requires whole paths.
  if (file === COVERAGE || NAMES_OTHER_FILES.test(file)) continue;
  for (const code of codes) checkSourcePath(file, code);
  checkLibraries(file, joinLines(file, texts.get(file)));
}

if (pages.has(COVERAGE)) checkCoverage(texts.get(COVERAGE));

for (const problem of problems) console.error(problem);
console.log(
  `${counts.citations} citations, ${counts.decisions} of decisions, ${counts.links} relative links, ${counts.paths} paths in backticks`,
);
// A check that finds no citation or link at all is broken.
process.exitCode = problems.length === 0 && Object.values(counts).every((count) => count > 0) ? 0 : 1;

function foldersOf(file) {
  const folder = posix.dirname(file);
  return folder === '.' ? [folder] : [folder, ...foldersOf(folder)];
}

function parse(text) {
  const links = [];
  const codes = [];
  const walkTokens = (token) => {
    if (token.type === 'link' || token.type === 'image') links.push({ href: token.href, text: token.text });
    if (token.type === 'codespan') codes.push(token.text);
  };
  new Marked(gfmHeadingId(), { walkTokens }).parse(text, { async: false });
  const headings = getHeadingList();
  return {
    links,
    codes,
    titles: new Set(headings.map(({ raw }) => raw)),
    anchors: new Set(headings.map(({ id }) => id)),
  };
}

/** Joins lines, because a citation may continue on the next line, in prose and in comments. */
function joinLines(file, text) {
  return text.replace(file.endsWith('.md') ? /\s*\n\s*/g : /\s*\n\s*(?:\*(?!\/)|\/\/|--|#)?\s*/g, ' ');
}

function checkCitations(file, text) {
  for (const { groups } of text.matchAll(CITATION)) {
    counts.citations += 1;
    const beside = posix.join(posix.dirname(file), groups.path);
    const isRelative = groups.path.startsWith('.') || (file.endsWith('.md') && pages.has(beside));
    const target = isRelative ? beside : groups.path;
    const page = pages.get(target);
    if (page === undefined) {
      problems.push(`${file} cites ${groups.path}, which is not in the repository`);
      continue;
    }
    for (const [, title] of groups.headings.matchAll(/"([^"]+)"/g)) {
      if (!page.titles.has(title)) problems.push(`${file} cites ${target}, "${title}", which has no such heading`);
    }
  }
  for (const { groups } of text.matchAll(DECISIONS)) {
    for (const number of groups.numbers.match(/\d+/g).map(Number)) {
      counts.decisions += 1;
      if (!decisions.has(number)) problems.push(`${file} cites decision ${number}, which docs/decisions does not have`);
    }
  }
  for (const [pattern, why] of LOOSE) {
    for (const [citation] of text.matchAll(pattern)) problems.push(`${file} cites "${citation}", which ${why}`);
  }
}

function checkSourcePath(file, code) {
  if (!SOURCE_PATH.test(code)) return;
  for (const path of alternativesOf(code)) {
    counts.paths += 1;
    // A path may omit its first folders, because a longer path often precedes it in the text.
    const parts = path.replace(/^(?:\.\.?\/)+/, '').split(/(\*+)/);
    const pattern = parts.map((part) => ({ '*': '[^/]*', '**': '.*' })[part] ?? RegExp.escape(part)).join('');
    const ending = new RegExp(`(?:^|/)${pattern}$`);
    if (!files.some((known) => ending.test(known)))
      problems.push(`${file} names ${path} in backticks, which is not in the repository`);
  }
}

function checkLibraries(file, text) {
  for (const { groups } of text.matchAll(LIBRARY_LIST)) {
    for (const name of groups.names.split(' ')) {
      if (!folders.has(`libs/${name}`)) problems.push(`${file} lists the library ${name}, which is not in libs/`);
    }
  }
}

/** `a/{b,c}.ts` is `a/b.ts` and `a/c.ts`. */
function alternativesOf(path) {
  const [braces, inner] = /\{([^}]*)\}/.exec(path) ?? [];
  if (braces === undefined) return [path];
  return inner.split(',').flatMap((part) => alternativesOf(path.replace(braces, part)));
}

function checkCoverage(text) {
  const rows = [...text.matchAll(COVERAGE_ROW)].map(({ groups }) => groups);
  if (rows.length === 0) problems.push(`${COVERAGE} quotes nothing`);
  for (const { file, heading, quoted } of rows) {
    const section = sectionOf(texts.get(posix.join(posix.dirname(COVERAGE), file)) ?? '', heading);
    if (!section.includes(quoted))
      problems.push(`${COVERAGE} quotes "${quoted}", which ${file}, "${heading}" does not have`);
  }
  for (const [, test] of text.matchAll(/`([\w./-]+\.test\.m?[tj]s)`/g)) {
    if (!texts.has(test)) problems.push(`${COVERAGE} names ${test}, which is not in the repository`);
  }
}

/** Returns the text between a heading and the next heading, joined to one line. */
function sectionOf(text, heading) {
  const section = text.split(/^#+ /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  return section.replace(/\s+/g, ' ');
}

function checkLink(file, { href, text }) {
  if (/^[a-z][a-z+.-]*:/i.test(href)) return;
  counts.links += 1;
  const [path, anchor] = decodeURI(href).split('#');
  const target = path === '' ? file : posix.join(posix.dirname(file), path).replace(/\/$/, '');
  if (path.startsWith('/') || (!texts.has(target) && !folders.has(target))) {
    problems.push(`${file} links to ${href}, which is not in the repository`);
  } else if (anchor !== undefined && !pages.get(target)?.anchors.has(anchor)) {
    problems.push(`${file} links to ${href}, which has no such heading`);
  }
  const number = /^decision (?<number>\d+)$/.exec(text)?.groups.number.padStart(4, '0');
  if (number !== undefined && !posix.basename(target).startsWith(`${number}-`))
    problems.push(`${file} calls ${href} decision ${Number(number)}`);
}
