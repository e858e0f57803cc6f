import { type Database, WHOLE_TABLES } from './database.ts';

/** One invariant, as the query for the rows that violate it. */
export interface Check {
  /** Stable name, for example `balances_sum_to_zero`. */
  readonly id: string;
  /** The invariant as a sentence. */
  readonly description: string;
  /** Returns one column, `id`: one row for each violation. */
  readonly violations: string;
}

export interface CheckResult {
  readonly id: string;
  readonly description: string;
  readonly violations: bigint;
  /** Ids of up to ten rows that violate it. */
  readonly examples: string[];
}

const MAX_EXAMPLES = 10;
/** A check reads whole tables; a million rows take some seconds each. */
const CHECK_TIMEOUT_MS = 120_000;

/**
 * Runs the checks one after the other on one connection, so that an audit does not take the connections that players wait for, and in one
 * snapshot, so that a concurrent transaction is visible to all checks or to none. An aborted signal ends them after the check under way.
 */
export async function runChecks(
  database: Database,
  checks: readonly Check[],
  signal?: AbortSignal,
): Promise<CheckResult[]> {
  return await database.transaction(
    async (tx) => {
      await tx.query(WHOLE_TABLES);
      const results: CheckResult[] = [];
      for (const { id, description, violations } of checks) {
        signal?.throwIfAborted();
        const [found] = await tx.query<{ violations: bigint; examples: string[] | null }>({
          text: `
            select count(*) as violations, (array_agg(broken.id::text))[1:${MAX_EXAMPLES}] as examples
            from (${violations}) as broken`,
        });
        results.push({ id, description, violations: found?.violations ?? 0n, examples: found?.examples ?? [] });
      }
      return results;
    },
    { statementTimeoutMs: CHECK_TIMEOUT_MS, isSnapshot: true },
  );
}
