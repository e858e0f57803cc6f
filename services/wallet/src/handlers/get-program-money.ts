/** GetProgramMoney: what a program charged, returned, paid and held in one environment. */
import { parseTenant } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { GetProgramMoneyRequest, GetProgramMoneyResponse } from '@laurel/proto/wallet';
import { loadProgramLimits } from '../repository/program-limits.ts';
import { sumFees, sumHeld } from '../repository/program-money.ts';

export function getProgramMoney({ database }: { database: Database }) {
  return async (request: GetProgramMoneyRequest): Promise<GetProgramMoneyResponse> => {
    const program = parseTenant(request.tenant);
    const { since } = request;
    if (since === undefined) throw new Error('a period without its beginning');
    const [fees, [paid], heldCents] = await Promise.all([
      sumFees(database, program, since),
      loadProgramLimits(database, program.programId, [program.environment], since),
      sumHeld(database, program, since),
    ]);
    return {
      feesCents: fees?.feesCents,
      refundsCents: fees?.refundsCents,
      paidCents: paid?.paidCents ?? 0n,
      heldCents,
    };
  };
}
