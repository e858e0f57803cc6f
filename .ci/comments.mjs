// Reads the prose of a source file: its comments, its string literals, and the text of its
// elements.
import { parseSync, Visitor } from 'oxc-parser';
import { SyntaxKind } from 'typescript/unstable/ast';
import { createScanner } from 'typescript/unstable/ast/scanner';

const COMMENTS = new Set([SyntaxKind.SingleLineCommentTrivia, SyntaxKind.MultiLineCommentTrivia]);
const BLANKS = new Set([SyntaxKind.WhitespaceTrivia, SyntaxKind.NewLineTrivia]);
const TEXTS = new Set([
  SyntaxKind.StringLiteral,
  SyntaxKind.NoSubstitutionTemplateLiteral,
  SyntaxKind.TemplateHead,
  SyntaxKind.TemplateMiddle,
  SyntaxKind.TemplateTail,
]);
/** A line that a tool reads, not a person. */
const DIRECTIVE =
  /^\s*(?:\/\/|\/\*+|\*|--)\s*(?:biome-ignore|squawk-ignore|@ts-expect-error|@vite-ignore|@boundaries-ignore)/;
const SLASHES = new Set([SyntaxKind.SlashToken, SyntaxKind.SlashEqualsToken]);
/**
 * The tokens after which a slash divides; after any other token a slash begins a regular
 * expression.
 */
const OPERANDS = new Set([
  ...TEXTS,
  SyntaxKind.Identifier,
  SyntaxKind.NumericLiteral,
  SyntaxKind.BigIntLiteral,
  SyntaxKind.RegularExpressionLiteral,
  SyntaxKind.CloseParenToken,
  SyntaxKind.CloseBracketToken,
  SyntaxKind.CloseBraceToken,
  SyntaxKind.ThisKeyword,
]);
OPERANDS.delete(SyntaxKind.TemplateHead);
OPERANDS.delete(SyntaxKind.TemplateMiddle);

/**
 * Returns the comments and the texts of a source file as `{ start, text }`. A text includes its
 * quotes, or the characters around it.
 */
export function proseOf(name, source) {
  if (name.endsWith('.sql')) return proseOfSql(source);
  return name.endsWith('.tsx') ? proseOfElements(name, source) : proseOfScript(source);
}

/** TypeScript's scanner reads `.proto` too: comments and quotes have the same form. */
function proseOfScript(source) {
  const scanner = createScanner(false, undefined, source);
  const comments = [];
  const texts = [];
  // One entry per open brace. True if `${` opened the brace, so that the closing brace continues
  // the template.
  const braces = [];
  let previous;
  for (let kind = scanner.scan(); kind !== SyntaxKind.EndOfFile; kind = scanner.scan()) {
    if (SLASHES.has(kind) && !OPERANDS.has(previous)) kind = scanner.reScanSlashToken();
    if (kind === SyntaxKind.OpenBraceToken) braces.push(false);
    if (kind === SyntaxKind.TemplateHead) braces.push(true);
    if (kind === SyntaxKind.CloseBraceToken && braces.pop()) {
      kind = scanner.reScanTemplateToken(false);
      if (kind === SyntaxKind.TemplateMiddle) braces.push(true);
    }
    const found = { start: scanner.getTokenStart(), text: scanner.getTokenText() };
    if (COMMENTS.has(kind)) comments.push(found);
    else if (TEXTS.has(kind)) texts.push(found);
    if (!COMMENTS.has(kind) && !BLANKS.has(kind)) previous = kind;
  }
  return { comments: joined(comments, source), texts };
}

/** Parses elements, because the scanner would take text between tags for code. */
function proseOfElements(name, source) {
  const { program, comments, errors } = parseSync(name, source);
  if (errors.length > 0) throw new Error(`${name}: ${errors[0].message}`);
  const proseAt = ({ start, end }) => ({ start, text: source.slice(start, end) });
  const texts = [];
  const add = (node) => texts.push(proseAt(node));
  new Visitor({
    Literal: (node) => typeof node.value === 'string' && add(node),
    TemplateElement: add,
    JSXText: ({ start, end }) => add({ start: start - 1, end: end + 1 }),
  }).visit(program);
  return { comments: joined(comments.map(proseAt), source), texts };
}

function proseOfSql(source) {
  const comments = [];
  for (const match of source.matchAll(/'[^']*'|"[^"]*"|--[^\n]*/g)) {
    if (match[0].startsWith('--')) comments.push({ start: match.index, text: match[0] });
  }
  return { comments: joined(comments, source), texts: [] };
}

/** Joins one-line comments that follow each other, which are read as one comment. */
function joined(comments, source) {
  const blocks = [];
  for (const { start, text } of comments) {
    const last = blocks.at(-1);
    const between = last === undefined ? '' : source.slice(last.start + last.text.length, start);
    if (/^(?:\/\/|--)/.test(text) && /^\r?\n[ \t]*$/.test(between) && !last.text.startsWith('/*')) {
      last.text = source.slice(last.start, start + text.length);
    } else blocks.push({ start, text });
  }
  return blocks;
}

/** Whether a line of a comment is a directive to a tool, such as `biome-ignore`. */
export function isDirective(line) {
  return DIRECTIVE.test(line);
}

/** Returns a comment with its marks replaced by blanks, so that every word keeps its position. */
export function wordsOf(comment) {
  return comment.replace(/^[ \t]*(?:\/\*\*?|\/\/|--|\*(?!\/))|\*\/$/gm, (mark) => ' '.repeat(mark.length));
}
