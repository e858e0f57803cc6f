import type { Database } from '@laurel/postgres';

/**
 * Whether a check constraint of the database accepts a row with these values and nulls in all other
 * columns. It evaluates the expression of the constraint, so that a test need not write a whole
 * row.
 */
export async function constraintAccepts(
  database: Database,
  constraint: string,
  values: Readonly<Record<string, unknown>>,
): Promise<boolean> {
  const found = await database.query<{ expression: string; name: string }>(
    {
      text: `select pg_get_expr(conbin, conrelid) as expression, conrelid::regclass::text as name
from pg_constraint where contype = 'c' and conname = $1`,
    },
    [constraint],
  );
  const [check] = found;
  if (check === undefined || found.length > 1)
    throw new Error(`${found.length} tables have a constraint ${constraint}`);
  const [result] = await database.query<{ takes: boolean }>(
    {
      text: `select (${check.expression}) is not false as takes from json_populate_record(null::${check.name}, $1::json)`,
    },
    [JSON.stringify(values)],
  );
  return result?.takes === true;
}

/** Whether the constraint accepts a value of length `most` and refuses a longer value. */
export async function isExactBound(
  database: Database,
  { constraint, most }: { readonly constraint: string; readonly most: number },
  valuesOf: (length: number) => Readonly<Record<string, unknown>>,
): Promise<boolean> {
  const takes = (length: number) => constraintAccepts(database, constraint, valuesOf(length));
  return (await takes(most)) && !(await takes(most + 1));
}
