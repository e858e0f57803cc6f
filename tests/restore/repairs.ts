/** The repairs in the operators' pages: the tests run exactly the statements of the pages. */
import { readFileSync } from 'node:fs';
import { CHECKOUT } from '@laurel/testing';

/**
 * The only statement below a heading of a page, whose path is from the root. Throws if there is
 * none, or more than one.
 */
export function documentedSql(page: string, heading: string): string {
  const text = readFileSync(`${CHECKOUT}${page}`, 'utf8');
  const section = text.split(/^#+ /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  const statements = [...section.matchAll(/^```sql\n(?<sql>.*?)^```$/gms)].map(({ groups }) => groups?.sql ?? '');
  const [sql] = statements;
  if (sql === undefined || statements.length > 1) {
    throw new Error(`${page} has ${statements.length} statements under "${heading}"`);
  }
  return sql;
}
