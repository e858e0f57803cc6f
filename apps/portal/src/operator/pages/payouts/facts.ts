import type { Payout } from '../../../api/api-types.ts';
import { utcTime } from '../../../kit/format.ts';
import type { Fact } from '../../layout/changes-since.ts';

/** What a decision depends on. The payout itself names who decided. */
export const PAYOUT_FACTS: readonly Fact<Payout>[] = [{ label: 'Payout', of: stateOf }];

function stateOf({ status, decision }: Payout): string {
  if (decision === null) return status;
  const { operator, at, reason } = decision;
  return `${decision.decision} by ${operator} on ${utcTime(at)}${reason === null ? '' : `: ${reason}`}`;
}
