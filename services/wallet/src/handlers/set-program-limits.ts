/**
 * SetProgramLimits: an operator limits what a program may pay out and charge in 24 hours; absent
 * fields stay.
 */
import { parseTenant } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { SetProgramLimitsRequest, SetProgramLimitsResponse } from '@laurel/proto/wallet';
import type { Clock } from '@laurel/service';
import { type DefaultLimits, limitsInForce } from '../domain/program-limits.ts';
import { velocityWindowStart } from '../repository/payouts.ts';
import { loadProgramLimits, setProgramLimits as writeLimits } from '../repository/program-limits.ts';
import { parseLimit } from './parse.ts';
import { presentProgramLimits } from './present.ts';

export function setProgramLimits({
  database,
  clock,
  defaults,
}: {
  database: Database;
  clock: Clock;
  defaults: DefaultLimits;
}) {
  return async (request: SetProgramLimitsRequest): Promise<SetProgramLimitsResponse> => {
    const program = parseTenant(request.tenant);
    await writeLimits(database, program, {
      payoutCents: parseLimit(request.payoutLimitCents, request.clearPayoutLimit),
      feeCents: parseLimit(request.feeLimitCents, request.clearFeeLimit),
    });
    const { programId, environment } = program;
    const [stored] = await loadProgramLimits(database, programId, [environment], velocityWindowStart(clock()));
    if (stored === undefined) throw new Error('the limits of an environment were not read');
    return {
      limits: presentProgramLimits(program, limitsInForce(environment, stored.set, defaults), stored.paidCents),
    };
  };
}
