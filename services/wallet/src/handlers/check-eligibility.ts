/** CheckEligibility: a player's eligibility, by the rule that ChargeFees applies. */
import type { Database } from '@laurel/postgres';
import type { CheckEligibilityRequest, CheckEligibilityResponse } from '@laurel/proto/wallet';
import type { Clock } from '@laurel/service';
import { decideEligibility, type EligibilityRules } from '../domain/eligibility.ts';
import { loadEligibility } from '../repository/player-links.ts';
import { parsePlayer, parseRequirement } from './parse.ts';

export function checkEligibility({
  database,
  clock,
  rules,
}: {
  database: Database;
  clock: Clock;
  rules: EligibilityRules;
}) {
  return async (request: CheckEligibilityRequest): Promise<CheckEligibilityResponse> => {
    const player = parsePlayer(request.player);
    const requirements = request.requirements.map(parseRequirement);
    const known = await loadEligibility(database, player);
    // A ref that names no account has no code: eligibility does not include whether the player can pay.
    if (known === null) return { accountId: '', codes: requirements.map(() => '') };
    const { accountId, eligibility } = known;
    const { environment } = player;
    const now = clock();
    return {
      accountId,
      codes: requirements.map(
        (requirement) => decideEligibility({ eligibility, requirement, environment, rules, now }) ?? '',
      ),
    };
  };
}
