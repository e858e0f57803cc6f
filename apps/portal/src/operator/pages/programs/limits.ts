import type { ProgramLimits, ProgramLimitsChange } from '../../../api/api-types.ts';

interface Typed {
  readonly payout: string;
  readonly fee: string;
}

/**
 * Returns the limits that differ from the present ones. An emptied field becomes null, which
 * returns to the default. A field that was empty and stays empty is no change.
 */
export function changedLimits(
  present: Pick<ProgramLimits, 'payout_limit' | 'fee_limit'>,
  typed: Typed,
): Omit<ProgramLimitsChange, 'environment'> {
  const payout = amountOf(typed.payout);
  const fee = amountOf(typed.fee);
  return {
    ...(payout !== present.payout_limit && { payout_limit: payout }),
    ...(fee !== present.fee_limit && { fee_limit: fee }),
  };
}

function amountOf(text: string): string | null {
  return text.trim() || null;
}
