/**
 * SQL for the attempts that count towards a cap: paid attempts whose fee was neither refused nor
 * refunded (CAP_COUNTED in libs/attempts). A challenge's daily cap and a round's cap both use it.
 */
import { CAP_COUNTED } from '../domain/attempt.ts';

/** `attempt` is the SQL alias of a row of attempts. */
export function countsUnderCapSql(attempt: string): string {
  return `${attempt}.fee_cents > 0 and ${attempt}.status in (${CAP_COUNTED.map((status) => `'${status}'`).join(', ')})`;
}
