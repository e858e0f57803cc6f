/**
 * Stores the findings of an audit in slices (sliced-audit.ts) in `audit_findings`. The findings of
 * a slice replace the earlier findings about the slice's rows.
 */
import { type Check, type CheckResult, type EnvironmentsOfIds, locatedSql, MAX_EXAMPLES, namedSql } from './audit.ts';
import { sliceSql } from './audit-rows.ts';
import { type ComparedSlice, LOWEST_KEY, type SlicedCheck, type Walk } from './audit-walk.ts';
import type { Database } from './database.ts';
import type { Statement } from './step.ts';
import type { Transaction } from './transaction.ts';

const DELETE_OTHERS: Statement = { text: 'delete from audit_findings where check_id <> all ($1::text[])' };
const DELETE_BETWEEN: Statement = {
  text: 'delete from audit_findings where walk = $1 and key > $2 and ($3::uuid is null or key <= $3)',
};
const DELETE_OF_KEYS: Statement = { text: 'delete from audit_findings where walk = $1 and key = any ($2::uuid[])' };
const INSERT_COMPARED: Statement = {
  text: `
insert into audit_findings (check_id, walk, key, id, environment)
select check_id, $1, id, id::text, environment from unnest($2::text[], $3::uuid[], $4::text[]) as found (check_id, id, environment)`,
};
const DELETE_OF_END: Statement = { text: `delete from audit_findings where walk = ''` };

const FOUND: Statement = {
  text: `
select check_id, count(*) as violations, count(*) filter (where environment = 'test') as test_violations,
  (array_agg(id order by environment, id))[1:${MAX_EXAMPLES}] as examples
from (select distinct check_id, id, environment from audit_findings) as found
group by check_id`,
};

type FoundRow = { check_id: string; violations: bigint; test_violations: bigint; examples: string[] };

export interface Findings {
  /**
   * Audits the rows from `after` to `until` by the walk's rules, and replaces the findings about
   * these rows.
   */
  replaceBetween(
    tx: Transaction,
    walk: string,
    range: { readonly after: string; readonly until: string | null; readonly keys: readonly string[] },
  ): Promise<void>;
  /**
   * Audits the rows with these keys by the walk's rules, and replaces the findings about these
   * rows.
   */
  replaceOf(tx: Transaction, walk: string, keys: readonly string[]): Promise<void>;
  /**
   * Replaces the findings about the rows above `after` by the findings of their comparison. Returns
   * `until`.
   */
  replaceCompared(tx: Transaction, walk: string, after: string, compared: ComparedSlice): Promise<string | null>;
  /**
   * Applies the rules over sums, and replaces their findings. Deletes the findings of checks that
   * no longer exist.
   */
  replaceAtEnd(tx: Transaction): Promise<void>;
  /** Loads the known violations of each check. */
  load(database: Database): Promise<CheckResult[]>;
}

export function createFindings({
  checks,
  walks,
  described,
  environments,
}: {
  readonly checks: readonly SlicedCheck[];
  readonly walks: readonly Walk[];
  /** All checks, including the checks between two databases. */
  readonly described: readonly Pick<Check, 'id' | 'description'>[];
  readonly environments: EnvironmentsOfIds;
}): Findings {
  const statements = new Map(walks.map((walk) => [walk.name, sliceStatement(walk, checks, environments)]));

  async function findIn(tx: Transaction, walk: string, keys: readonly string[]): Promise<void> {
    const statement = statements.get(walk);
    if (statement !== undefined) await tx.query(statement, [keys]);
  }

  return {
    async replaceBetween(tx, walk, { after, until, keys }) {
      await tx.query(DELETE_BETWEEN, [walk, after, until]);
      await findIn(tx, walk, keys);
    },
    async replaceOf(tx, walk, keys) {
      await tx.query(DELETE_OF_KEYS, [walk, keys]);
      await findIn(tx, walk, keys);
    },
    async replaceCompared(tx, walk, after, { until, found }) {
      await tx.query(DELETE_BETWEEN, [walk, after, until]);
      const columns = [found.map(({ check }) => check), found.map(({ id }) => id), found.map((one) => one.environment)];
      await tx.query(INSERT_COMPARED, [walk, ...columns]);
      return until;
    },
    async replaceAtEnd(tx) {
      await tx.query(DELETE_OF_END);
      for (const { id, atEnd } of checks) {
        if (atEnd !== undefined) await tx.query({ text: findSql(violationsOf(id, '', atEnd), environments) });
      }
      await tx.query(DELETE_OTHERS, [described.map(({ id }) => id)]);
    },
    async load(database) {
      const found = new Map((await database.query<FoundRow>(FOUND)).map((row) => [row.check_id, row]));
      return described.map(({ id, description }) => {
        const { violations = 0n, test_violations: testViolations = 0n, examples = [] } = found.get(id) ?? {};
        return { id, description, violations, testViolations, examples };
      });
    },
  };
}

/**
 * Returns one statement for all rules of a walk; `$1` are the keys of the slice. The statement has
 * a name, so that a connection plans it once, because planning takes longer than running it.
 * Therefore two walks with the same name must have the same rules.
 */
function sliceStatement(
  walk: Walk,
  checks: readonly SlicedCheck[],
  environments: EnvironmentsOfIds,
): Statement | undefined {
  const found = checks.flatMap(({ id, slices }) => {
    const violations = slices?.[walk.name];
    return violations === undefined ? [] : [violationsOf(id, walk.name, violations)];
  });
  if (found.length === 0) return undefined;
  return {
    name: `audit_find_${walk.name}`,
    text: `with ${sliceSql(walk)} ${findSql(found.join(' union all '), environments)}`,
  };
}

/** SQL for the violations of a rule, with the id of the rule's check and the name of the walk. */
function violationsOf(checkId: string, walk: string, violations: string): string {
  return `
select '${checkId}' as check_id, '${walk}' as walk, violation.* from (${namedSql(violations)}) as violation`;
}

function findSql(violations: string, environments: EnvironmentsOfIds): string {
  return `
insert into audit_findings (check_id, walk, key, id, environment)
select distinct check_id, walk, coalesce(key, '${LOWEST_KEY}')::uuid, coalesce(id, key, ''), case when is_test then 'test' else 'live' end
from (${locatedSql(violations, environments)}) as located`;
}
