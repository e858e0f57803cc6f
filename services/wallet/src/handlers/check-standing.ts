/** CheckStanding: a player's eligibility, by the rule that ChargeFees applies. */
import type { Database } from '@laurel/postgres';
import type { CheckStandingRequest, CheckStandingResponse } from '@laurel/proto/wallet';
import type { Clock } from '@laurel/service';
import { decideStanding, type StandingRules } from '../domain/standing.ts';
import { loadStanding } from '../repository/player-links.ts';
import { parsePlayer, parseRequirement } from './parse.ts';

export function checkStanding({ database, clock, rules }: { database: Database; clock: Clock; rules: StandingRules }) {
  return async (request: CheckStandingRequest): Promise<CheckStandingResponse> => {
    const player = parsePlayer(request.player);
    const requirements = request.requirements.map(parseRequirement);
    const known = await loadStanding(database, player);
    // A ref that names no account has no code: eligibility does not include whether the player can pay.
    if (known === null) return { accountId: '', codes: requirements.map(() => '') };
    const { accountId, standing } = known;
    const { environment } = player;
    const now = clock();
    return {
      accountId,
      codes: requirements.map(
        (requirement) => decideStanding({ standing, requirement, environment, rules, now }) ?? '',
      ),
    };
  };
}
