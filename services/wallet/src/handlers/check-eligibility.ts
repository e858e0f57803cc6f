/**
 * CheckEligibility: a player's eligibility, and the highest fee that the program may charge the
 * account now, by the rules that ChargeFees applies.
 */
import type { Database } from '@laurel/postgres';
import type { CheckEligibilityRequest, CheckEligibilityResponse } from '@laurel/proto/wallet';
import type { Clock } from '@laurel/service';
import { decideEligibility, type EligibilityRules } from '../domain/eligibility.ts';
import { chargeableCents } from '../domain/fee-limit.ts';
import type { DefaultLimits } from '../domain/program-limits.ts';
import { loadEligibility } from '../repository/player-links.ts';
import { parsePlayer, parseRequirement } from './parse.ts';

export function checkEligibility({
  database,
  clock,
  rules,
  defaults,
}: {
  database: Database;
  clock: Clock;
  rules: EligibilityRules;
  defaults: DefaultLimits;
}) {
  return async (request: CheckEligibilityRequest): Promise<CheckEligibilityResponse> => {
    const player = parsePlayer(request.player);
    const requirements = request.requirements.map(parseRequirement);
    const now = clock();
    const known = await loadEligibility(database, player, { now, defaults });
    // A ref without an account gets no code: it only means that the player cannot pay, and
    // eligibility does not cover that.
    if (known === null) return { accountId: '', codes: requirements.map(() => '') };
    const { accountId, eligibility } = known;
    const { environment } = player;
    return {
      accountId,
      chargeableCents: chargeableCents(known.charged) ?? undefined,
      codes: requirements.map(
        (requirement) => decideEligibility({ eligibility, requirement, environment, rules, now }) ?? '',
      ),
    };
  };
}
