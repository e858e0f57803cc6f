/**
 * Which attempts make their account an entrant of a running round: the rule of domain/entrants.ts
 * as SQL.
 */
import { ENTRANT_STATUSES } from '../domain/entrants.ts';

/**
 * SQL: whether a row of attempts makes its account an entrant. `attempt` is the SQL alias of the
 * row.
 */
export function makesEntrantSql(attempt: string): string {
  return `${attempt}.status in (${ENTRANT_STATUSES.map((status) => `'${status}'`).join(', ')})`;
}
