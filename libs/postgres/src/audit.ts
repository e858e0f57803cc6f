import { type Database, WHOLE_TABLES } from './database.ts';

/** One invariant, as a query for the rows that violate it. */
export interface Check {
  /** Stable name, for example `balances_sum_to_zero`. */
  readonly id: string;
  /** The invariant as a sentence. */
  readonly description: string;
  /**
   * A query that returns one row per violation, with a column `id`. EnvironmentsOfIds gives the
   * environment of this id. If the ids are not uuids of rows, the query also returns a column
   * `environment`.
   */
  readonly violations: string;
}

/**
 * A query of `id uuid, environment text` for every row that a violation may name. An unknown id
 * counts as live: a false alert about real money is better than a missed one.
 */
export type EnvironmentsOfIds = string;

export interface CheckResult {
  readonly id: string;
  readonly description: string;
  /** Violations in both environments. */
  readonly violations: bigint;
  /** Violations of play money. */
  readonly testViolations: bigint;
  /** Ids of up to ten violating rows, those of real money first. */
  readonly examples: string[];
}

export const MAX_EXAMPLES = 10;
/** Long, because a check reads whole tables: some seconds for a million rows. */
const CHECK_TIMEOUT_MS = 120_000;

/**
 * Runs the checks one after the other, on one connection, so that an audit takes no connections
 * from players. They share one snapshot, so that either all of them see a concurrent transaction or
 * none does. An aborted signal ends the run after the current check.
 */
export async function runChecks(
  database: Database,
  checks: readonly Check[],
  environments: EnvironmentsOfIds,
  signal?: AbortSignal,
): Promise<CheckResult[]> {
  return await database.transaction(
    async (tx) => {
      await tx.query(WHOLE_TABLES);
      const results: CheckResult[] = [];
      for (const { id, description, violations } of checks) {
        signal?.throwIfAborted();
        const [found] = await tx.query<{ violations: bigint; test_violations: bigint; examples: string[] | null }>({
          text: countViolations(violations, environments),
        });
        results.push({
          id,
          description,
          violations: found?.violations ?? 0n,
          testViolations: found?.test_violations ?? 0n,
          examples: found?.examples ?? [],
        });
      }
      return results;
    },
    { statementTimeoutMs: CHECK_TIMEOUT_MS, isSnapshot: true },
  );
}

function countViolations(violations: string, environments: EnvironmentsOfIds): string {
  return `
    select count(*) as violations, count(*) filter (where is_test) as test_violations,
      (array_agg(id order by is_test, position))[1:${MAX_EXAMPLES}] as examples
    from (${locatedSql(namedSql(violations), environments)}) as located`;
}

/** SQL for the violations of a check, with their `key` if the query returns one. */
export function namedSql(violations: string): string {
  return `
        select broken.id::text as id, row_number() over () as position, to_jsonb(broken) ->> 'environment' as environment,
          to_jsonb(broken) ->> 'key' as key,
          case when broken.id::text ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then broken.id::text::uuid end as uuid
        from (${violations}) as broken`;
}

/** SQL for violations that `namedSql` returns, and whether each is a violation of play money. */
export function locatedSql(named: string, environments: EnvironmentsOfIds): string {
  return `
      select named.*, coalesce(named.environment, known.environment, 'live') = 'test' as is_test
      from (${named}) as named
      left join lateral (
        select rows.environment from (${environments}) as rows where rows.id = named.uuid limit 1
      ) as known on true`;
}

/**
 * Splits the ids into ids of play money and ids of real money. An id without a row is in neither
 * set.
 */
export async function findEnvironments(
  database: Database,
  environments: EnvironmentsOfIds,
  ids: readonly string[],
): Promise<ReadonlyMap<string, 'live' | 'test'>> {
  const rows = await database.query<{ id: string; environment: 'live' | 'test' }>(
    { text: `select rows.id, rows.environment from (${environments}) as rows where rows.id = any($1::uuid[])` },
    [ids],
  );
  return new Map(rows.map(({ id, environment }) => [id, environment]));
}
