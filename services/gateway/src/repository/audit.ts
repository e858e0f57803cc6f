/**
 * The gateway's own invariants, one query each. The statements return the ids of rows that break
 * the rule.
 */
import { type Check, type CheckResult, type Database, type EnvironmentsOfIds, runChecks } from '@laurel/postgres';

const CHECKS: readonly Check[] = [
  {
    id: 'completed_keys_have_a_response',
    description:
      'A completed idempotency record holds the 2xx response that it replays, and no other record holds one.',
    violations: `select id from idempotency_records
where (state = 'completed') <> (status is not null and status between 200 and 299 and body is not null)`,
  },
  {
    id: 'operations_have_one_key',
    description: 'No two idempotency records carry the same operation id.',
    violations: 'select operation_id as id from idempotency_records group by operation_id having count(*) > 1',
  },
  {
    id: 'one_working_key_per_environment',
    description: 'A program has at most one key that is not revoked in each environment.',
    violations: `select program_id as id, environment from api_keys where revoked_at is null
group by program_id, environment having count(*) > 1`,
  },
  {
    id: 'live_keys_are_issued_at_approval',
    description: 'No draft program has a live key.',
    violations: `select k.id from api_keys k join programs p on p.id = k.program_id
where k.environment = 'live' and p.status = 'draft'`,
  },
];

// An idempotency record does not name its environment, so a violation by a record counts as one in
// live.
const ENVIRONMENTS: EnvironmentsOfIds = 'select id, environment from api_keys';

export function auditGateway(database: Database, signal?: AbortSignal): Promise<CheckResult[]> {
  return runChecks(database, CHECKS, ENVIRONMENTS, signal);
}
