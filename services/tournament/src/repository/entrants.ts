/**
 * Which attempts make their account an entrant of a running round: the rule of domain/entrants.ts
 * as SQL.
 */
import { ENTRANT_STATUSES } from '../domain/entrants.ts';

/** The condition that the row `attempt` of attempts makes its account an entrant. */
export function makesEntrantSql(attempt: string): string {
  return `${attempt}.status in (${ENTRANT_STATUSES.map((status) => `'${status}'`).join(', ')})`;
}
