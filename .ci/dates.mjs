// Checks that services and libraries compare instants only by @laurel/values/instant. `<`, `<=`,
// `>` and `>=` are false for an invalid Date, so a rule that uses them could let everything pass.
// `===` of two Dates is true only for the same object. @laurel/values/instant throws on an invalid
// Date instead. TypeScript's checker decides which expressions are Dates, because names prove
// nothing.
//
// - Refused: `< <= > >=` with a Date on a side, or with its milliseconds computed in place
//   (`getTime`, `valueOf`, `+date`, `Date.parse`); `== != === !==` between two Dates; a Date as an
//   argument of Math.min or Math.max.
// - Not found: comparisons of milliseconds that were stored in variables.
// - Not read: tests, @laurel/testing, @laurel/values/instant itself, and the two libraries that
//   partners install, which do not depend on @laurel/values/instant. The SDK returns null for a
//   text that is not an instant.
import { globSync } from 'node:fs';
import { relative } from 'node:path';
import { SyntaxKind } from 'typescript/unstable/ast';
import {
  isBinaryExpression,
  isCallExpression,
  isParenthesizedExpression,
  isPrefixUnaryExpression,
  isPropertyAccessExpression,
} from 'typescript/unstable/ast/is';
import { API } from 'typescript/unstable/sync';

const NOT_READ =
  /^libs\/(?:sdk|browser|testing)\/|^libs\/values\/src\/instant\.ts$|\/node_modules\/|\/generated\/|\.(?:test|fixture)\.ts$/;
const ORDERS = new Set([
  SyntaxKind.LessThanToken,
  SyntaxKind.LessThanEqualsToken,
  SyntaxKind.GreaterThanToken,
  SyntaxKind.GreaterThanEqualsToken,
]);
const EQUALITIES = new Set([
  SyntaxKind.EqualsEqualsToken,
  SyntaxKind.EqualsEqualsEqualsToken,
  SyntaxKind.ExclamationEqualsToken,
  SyntaxKind.ExclamationEqualsEqualsToken,
]);
const EXTREMES = /^Math\s*\.\s*(?:min|max)$/;
const MILLISECONDS = new Set(['getTime', 'valueOf']);

const root = process.cwd();
const problems = [];
let files = 0;

const configs = globSync(['services/*/tsconfig.json', 'libs/*/tsconfig.json'], { cwd: root });
const api = new API({ cwd: root });
try {
  const snapshot = api.updateSnapshot({ openProjects: configs.map((config) => `${root}/${config}`) });
  for (const project of snapshot.getProjects()) {
    const folder = project.configFileName.replace(/tsconfig\.json$/, '');
    for (const name of project.program.getSourceFileNames()) {
      if (name.startsWith(folder) && !NOT_READ.test(relative(root, name))) check(project, name);
    }
  }
} finally {
  api.close();
}

for (const problem of problems) console.error(problem);
console.log(`${files} files, in which @laurel/values/instant alone compares instants`);
// A check that reads nothing is broken.
process.exitCode = problems.length === 0 && files > 0 ? 0 : 1;

function check(project, name) {
  const file = project.program.getSourceFile(name);
  files += 1;
  const comparisons = comparisonsOf(file);
  const isDate = dateTest(project, comparisons);
  for (const { node, sides, needs } of comparisons) {
    if (sides.filter((side) => side.some(isDate)).length < needs) continue;
    const line = file.text.slice(0, node.getStart()).split('\n').length;
    problems.push(
      `${relative(root, name)}:${line} compares instants without @laurel/values/instant: ${node.getText()}`,
    );
  }
}

/**
 * Returns the comparisons of a file: the sides of each, as expressions that may be Dates, and how
 * many sides must be Dates for a problem.
 */
function comparisonsOf(file) {
  const found = [];
  const visit = (node) => {
    const operator = isBinaryExpression(node) ? node.operatorToken.kind : undefined;
    if (ORDERS.has(operator)) {
      found.push({ node, sides: [node.left, node.right].map(valuesOf), needs: 1 });
    } else if (EQUALITIES.has(operator)) {
      found.push({ node, sides: [node.left, node.right].map(valuesOf), needs: 2 });
    } else if (isCallExpression(node) && EXTREMES.test(node.expression.getText())) {
      found.push({ node, sides: node.arguments.map(valuesOf), needs: 1 });
    }
    node.forEachChild(visit);
  };
  visit(file);
  return found;
}

/**
 * Returns the expressions from which a side is computed: the parts of a sum, or the Date whose time
 * is read.
 */
function valuesOf(expression) {
  if (isParenthesizedExpression(expression)) return valuesOf(expression.expression);
  if (isPrefixUnaryExpression(expression)) return valuesOf(expression.operand);
  if (isBinaryExpression(expression)) return [expression.left, expression.right].flatMap(valuesOf);
  if (!isCallExpression(expression) || !isPropertyAccessExpression(expression.expression)) return [expression];
  const { expression: subject, name } = expression.expression;
  if (MILLISECONDS.has(name.text)) return [subject];
  return subject.getText() === 'Date' && name.text === 'parse' ? [expression.expression] : [expression];
}

/**
 * Returns a predicate: whether an expression is a Date or Date.parse. Asks the checker once per
 * file.
 */
function dateTest({ checker }, comparisons) {
  const expressions = comparisons.flatMap(({ sides }) => sides.flat());
  const types = expressions.length === 0 ? [] : checker.getTypeAtLocation(expressions);
  const dates = new Set(expressions.filter((expression, index) => isDateType(types[index]) || isParse(expression)));
  return (expression) => dates.has(expression);
}

function isDateType(type) {
  if (type === undefined) return false;
  const parts = type.isUnionType() ? type.getTypes() : [type];
  return parts.some((part) => part.isObjectType() && part.getSymbol()?.name === 'Date');
}

function isParse(expression) {
  return isPropertyAccessExpression(expression) && expression.getText() === 'Date.parse';
}
