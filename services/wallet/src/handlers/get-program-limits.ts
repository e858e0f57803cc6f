/**
 * GetProgramLimits: what a program may pay out and charge in 24 hours, and what it has paid, in
 * each environment.
 */
import { parseId } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { GetProgramLimitsRequest, GetProgramLimitsResponse } from '@laurel/proto/wallet';
import type { Clock } from '@laurel/service';
import { type DefaultLimits, limitsInForce } from '../domain/program-limits.ts';
import { velocityWindowStart } from '../repository/payouts.ts';
import { loadProgramLimits } from '../repository/program-limits.ts';
import { presentProgramLimits } from './present.ts';

export function getProgramLimits({
  database,
  clock,
  defaults,
}: {
  database: Database;
  clock: Clock;
  defaults: DefaultLimits;
}) {
  return async (request: GetProgramLimitsRequest): Promise<GetProgramLimitsResponse> => {
    const programId = parseId(request.programId);
    const stored = await loadProgramLimits(database, programId, ['test', 'live'], velocityWindowStart(clock()));
    return {
      limits: stored.map(({ environment, set, paidCents }) =>
        presentProgramLimits({ programId, environment }, limitsInForce(environment, set, defaults), paidCents),
      ),
    };
  };
}
