/** Finds an attempt, archived or not, by its own id or by the id of its receipt. */
import type { Queryable } from '@laurel/postgres';
import type { ContestServiceName } from '@laurel/values/ids';
import type { Environment, Tenant } from '@laurel/values/tenant';
import type { AttemptStatus } from '../domain/attempt.ts';
import { CONTEST_TABLES } from './attempt-windows.ts';

export type NamedAttempt = {
  readonly kind: 'attempt' | 'receipt';
  readonly attemptId: string;
  readonly accountId: string | null;
  readonly playerRef: string;
  readonly status: AttemptStatus;
  readonly tenant: Tenant;
};

function attemptByIdSql(contestService: ContestServiceName): string {
  const { table, column } = CONTEST_TABLES[contestService];
  const columns = 'a.id, a.account_id, a.player_ref, a.status, c.program_id, c.environment';
  return `
select 'attempt' as kind, ${columns} from all_attempts a join ${table} c on c.id = a.${column} where a.id = $1
union all
select 'receipt', ${columns}
from all_outcomes o join all_attempts a on a.id = o.attempt_id join ${table} c on c.id = a.${column} where o.receipt_id = $1`;
}

const OF_CHALLENGES = { name: 'attempts_by_any_id', text: attemptByIdSql('challenge') };
const OF_ROUNDS = { name: 'attempts_by_any_id', text: attemptByIdSql('tournament') };
const SELECT_BY_ID = { challenge: OF_CHALLENGES, tournament: OF_ROUNDS };

type Row = {
  kind: NamedAttempt['kind'];
  id: string;
  account_id: string | null;
  player_ref: string;
  status: AttemptStatus;
  program_id: string;
  environment: Environment;
};

export async function findNamedAttempts(
  on: Queryable,
  contestService: ContestServiceName,
  id: string,
): Promise<readonly NamedAttempt[]> {
  const rows = await on.query<Row>(SELECT_BY_ID[contestService], [id]);
  return rows.map((row) => ({
    kind: row.kind,
    attemptId: row.id,
    accountId: row.account_id,
    playerRef: row.player_ref,
    status: row.status,
    tenant: { programId: row.program_id, environment: row.environment },
  }));
}
