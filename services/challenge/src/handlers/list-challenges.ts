/**
 * ListChallenges: by default the live challenges that CreateAttempts would accept for this player,
 * ignoring funds; with `all`, every challenge. A ref without an account has no history, so only
 * missing funds could refuse a creation.
 */

import type { AccountCache, Wallet } from '@laurel/attempts';
import type { Tenant } from '@laurel/attempts/domain';
import { type Handlers, parseTenant } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import type { ChallengeServiceService } from '@laurel/proto/challenge';
import type { Clock } from '@laurel/service';
import type { Challenge } from '../domain/challenge.ts';
import { statusOf } from '../domain/current-bar.ts';
import { decideAvailability, factsWithoutAccount } from '../domain/player-availability.ts';
import { requirementOf } from '../domain/requirement.ts';
import type { TierCeilings } from '../domain/tier-ceiling.ts';
import { listChallengesOf } from '../repository/challenges.ts';
import { loadFactsOfAccount } from '../repository/player-facts.ts';
import { presentChallenge } from './present.ts';

type Deps = { database: Database; wallet: Wallet; accounts: AccountCache; ceilings: TierCeilings; clock: Clock };

export function listChallenges(deps: Deps): Handlers<ChallengeServiceService>['listChallenges'] {
  return async (request) => {
    const tenant = parseTenant(request.tenant);
    const every = await listChallengesOf(deps.database, tenant);
    const listed = request.all ? every : await keepAccepted(every, tenant, request.playerRef, deps);
    return { challenges: listed.map((challenge) => presentChallenge(challenge, deps.ceilings)) };
  };
}

async function keepAccepted(
  every: readonly Challenge[],
  tenant: Tenant,
  playerRef: string,
  { database, wallet, accounts, ceilings, clock }: Deps,
): Promise<readonly Challenge[]> {
  const live = every.filter((challenge) => statusOf(challenge) === 'live');
  if (live.length === 0) return [];
  const player = { tenant, playerRef };
  const { accountId, codes, chargeableCents } = await wallet.checkEligibility(
    player,
    live.map((challenge) => requirementOf(challenge.terms)),
  );
  accounts.put(player, accountId);
  const ids = live.map((challenge) => challenge.id);
  const facts = accountId === null ? null : await loadFactsOfAccount(database, ids, accountId, clock());

  return live.filter((challenge, index) => {
    // Without an account there is no eligibility to check. The missing funds are ignored here.
    if (accountId !== null && codes[index] !== null) return false;
    // A fee above what the program may still charge the account today would be `blocked`.
    if (chargeableCents !== null && challenge.terms.feeCents > chargeableCents) return false;
    const known = facts?.get(challenge.id) ?? factsWithoutAccount(challenge);
    return decideAvailability({ tenant, challenge, player: known, ceilings }).kind === 'available';
  });
}
