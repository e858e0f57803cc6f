/**
 * The attempts that count towards a cap, as SQL: paid ones whose fee was neither refused nor
 * returned (CAP_COUNTED in libs/attempts). A challenge's daily cap and a round's cap both count
 * them.
 */
import { CAP_COUNTED } from '../domain/attempt.ts';

/** `attempt` names a row of attempts. */
export function countsUnderCapSql(attempt: string): string {
  return `${attempt}.fee_cents > 0 and ${attempt}.status in (${CAP_COUNTED.map((status) => `'${status}'`).join(', ')})`;
}
