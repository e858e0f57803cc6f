/** The money of days, as `/api/operator/money` shows it. */
import { ENVIRONMENTS, nameOf } from '@laurel/proto/enum-names';
import type { MoneyOfDay, MoneyOfEnvironment, MoneyOfProgram, MoneySums } from '@laurel/proto/wallet';
import { formatAmount } from '@laurel/values/money';

/** The program id of the oldest fees: the ledger did not yet name their programs. */
const UNNAMED_PROGRAM = '00000000-0000-0000-0000-000000000000';

export function presentMoneyOfEnvironment({ environment, sums, keptCents, heldNowCents }: MoneyOfEnvironment) {
  return {
    environment: nameOf(ENVIRONMENTS, environment),
    ...presentSums(sums),
    house: formatAmount(keptCents),
    held_now: formatAmount(heldNowCents),
  };
}

export function presentMoneyOfDay({ day, environment, sums }: MoneyOfDay) {
  return { day, environment: nameOf(ENVIRONMENTS, environment), ...presentSums(sums) };
}

export function presentMoneyOfProgram({ tenant, sums }: MoneyOfProgram, names: ReadonlyMap<string, string>) {
  if (tenant === undefined) throw new Error('the wallet sent money without a program');
  const { programId, environment } = tenant;
  return {
    program_id: programId === UNNAMED_PROGRAM ? null : programId,
    name: names.get(programId) ?? null,
    environment: nameOf(ENVIRONMENTS, environment),
    ...presentSums(sums),
  };
}

function presentSums(sums: MoneySums | undefined) {
  if (sums === undefined) throw new Error('the wallet sent no sums');
  const { feesCents, refundsCents, paidCents, heldCents, deniedCents } = sums;
  return {
    fees: formatAmount(feesCents),
    refunds: formatAmount(refundsCents),
    paid: formatAmount(paidCents),
    held: formatAmount(heldCents),
    denied: formatAmount(deniedCents),
    kept: formatAmount(feesCents - refundsCents - paidCents),
  };
}
