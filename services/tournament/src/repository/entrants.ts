/** Which attempts make their account an entrant of a running round, as SQL: the rule of domain/entrants.ts. */
import { ENTRANT_STATUSES } from '../domain/entrants.ts';

/** `attempt` is a row of attempts. */
export function makesEntrant(attempt: string): string {
  return `${attempt}.status in (${ENTRANT_STATUSES.map((status) => `'${status}'`).join(', ')})`;
}
