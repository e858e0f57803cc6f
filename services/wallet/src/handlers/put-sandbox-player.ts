/**
 * PutSandboxPlayer: a partner's test player, made, linked and funded with play money in one call. A ref that names an account
 * already keeps it and is funded again. The account is sandbox-only: it can neither be linked nor funded in live.
 */
import { type Refused, refused } from '@laurel/errors';
import { newId } from '@laurel/ids';
import { cents } from '@laurel/money';
import { type Database, isUniqueViolation } from '@laurel/postgres';
import type { PutSandboxPlayerRequest, PutSandboxPlayerResponse } from '@laurel/proto/wallet';
import type { Clock } from '@laurel/service';
import { insertAccount } from '../repository/accounts.ts';
import { insertLink, loadLink, type PlayerLink, type PlayerName } from '../repository/player-links.ts';
import { postDeposit } from './deposit.ts';
import { parsePlayer } from './parse.ts';

type Deps = { readonly database: Database; readonly clock: Clock };

/** Of age, verified in full, and somewhere: a sandbox player is refused nothing that the partner did not ask for. */
const SANDBOX_PERSON = { dateOfBirth: '1990-01-01', jurisdiction: 'US-CA', verificationLevel: 3, sandboxOnly: true };

export function putSandboxPlayer(deps: Deps) {
  return async (request: PutSandboxPlayerRequest): Promise<PutSandboxPlayerResponse | Refused> => {
    const player = parsePlayer(request.player);
    if (player.environment !== 'test') return refused('invalid_request', 'Sandbox players exist in test only.');
    if (request.fundsCents < 0n) return refused('invalid_request', 'The funds must not be below 0.00.');
    const link = (await loadLink(deps.database, player)) ?? (await createSandboxPlayer(deps, player));
    if (request.fundsCents > 0n) {
      await postDeposit(deps, {
        accountId: link.accountId,
        environment: 'test',
        amountCents: cents(request.fundsCents),
        reference: `sandbox-${newId()}`,
      });
    }
    return { createdAt: link.createdAt, accountId: link.accountId };
  };
}

async function createSandboxPlayer({ database, clock }: Deps, player: PlayerName): Promise<PlayerLink> {
  const createdAt = clock();
  const accountId = newId(createdAt);
  try {
    await database.transaction(async (tx) => {
      const email = `sandbox-${accountId}@sandbox.invalid`;
      await insertAccount(tx, { ...SANDBOX_PERSON, id: accountId, email, createdAt });
      await insertLink(tx, player, accountId, createdAt);
    });
    return { accountId, createdAt };
  } catch (error) {
    // Another call linked the ref first: its account is the player's.
    const link = isUniqueViolation(error, 'player_links_pkey') ? await loadLink(database, player) : null;
    if (link === null) throw error;
    return link;
  }
}
