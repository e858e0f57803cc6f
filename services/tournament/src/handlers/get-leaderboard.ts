/**
 * GetLeaderboard: a round's board as one player may see it (domain/leaderboard-view.ts). Tenancy is
 * checked before masking.
 *
 * The player is the account that the ref names now. While the wallet resolves the ref, this handler
 * looks up the entry of the account that last played under the ref in this round: nearly always the
 * same account. If it is another account, the handler then looks up the entry of the right one. An
 * unknown ref takes the same path as a ref whose account has not entered, so only the player's own
 * entry makes a difference in time.
 */

import type { AttemptOpener, PendingResolver, Wallet } from '@laurel/attempts';
import { isSameTenant, type Player } from '@laurel/attempts/domain';
import { refused } from '@laurel/errors';
import { type Handlers, parseId, parseTenant } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import {
  type GetLeaderboardResponse,
  type TournamentServiceService,
  GetLeaderboardResponse_View as View,
} from '@laurel/proto/tournament';
import type { Clock } from '@laurel/service';
import { decideVisibility, neighbourRows, type Visibility } from '../domain/leaderboard-view.ts';
import type { Entry, Environment } from '../domain/tournament.ts';
import { loadPendingOfAccount, loadPendingOfPlayer, type PendingAttempt } from '../repository/attempts.ts';
import { loadWindow } from '../repository/board.ts';
import { findEntryOfAccount, findEntryOfRef } from '../repository/entries.ts';
import { findRound, type RoundWithTally } from '../repository/rounds.ts';
import { presentLeaderboardRow, presentRound } from './present-round.ts';
import { readRound } from './read-round.ts';

type Deps = { database: Database; wallet: Wallet; opener: AttemptOpener; resolver: PendingResolver; clock: Clock };

const VIEW: Record<Exclude<Visibility['kind'], 'neighbours'>, View> = {
  masked: View.MASKED,
  no_rows: View.WINDOW,
  table: View.COMPLETE,
};

export function getLeaderboard(deps: Deps): Handlers<TournamentServiceService>['getLeaderboard'] {
  return async (request) => {
    const tenant = parseTenant(request.tenant);
    const player = { tenant, playerRef: request.playerRef };
    const roundId = parseId(request.roundId);
    const [found, viewer] = await Promise.all([findRound(deps.database, roundId), loadViewer(roundId, player, deps)]);
    if (found === null || !isSameTenant(found.round.tenant, tenant)) return refused('not_found');

    const isDecided = await Promise.all(
      viewer.pending.map((attempt) => resolve({ ...attempt, environment: tenant.environment }, deps)),
    );
    if (!isDecided.some((isOne) => isOne)) return render(found, viewer, deps.database);
    const after = await loadViewer(roundId, player, deps);
    return render(await readRound(deps.database, roundId), after, deps.database);
  };
}

const accountOf = (accountId: string | null) => ({ accountId });
const WITHOUT_ACCOUNT = accountOf(null);

type Viewer = {
  readonly entry: Entry | null;
  readonly pending: readonly PendingAttempt[];
  /**
   * Whether the wallet resolved the ref. If it did not, the entry may belong to the ref's previous
   * account.
   */
  readonly isNamed: boolean;
};

async function loadViewer(roundId: string, player: Player, { database, wallet }: Deps): Promise<Viewer> {
  const { playerRef } = player;
  const [named, entry, pending] = await Promise.all([
    playerRef === '' ? WITHOUT_ACCOUNT : wallet.resolvePlayer(player).then(accountOf, () => null),
    findEntryOfRef(database, roundId, playerRef),
    loadPendingOfPlayer(database, roundId, playerRef),
  ]);
  // If the wallet cannot be reached, the board is shown for the account that last played under the
  // ref.
  const isNamed = named !== null;
  const { accountId } = named ?? accountOf(entry?.accountId ?? null);
  if (entry !== null && entry.boughtAt !== null && entry.accountId === accountId) return { entry, pending, isNamed };
  const [own, ownPending] = await Promise.all([
    findEntryOfAccount(database, roundId, accountId),
    loadPendingOfAccount(database, roundId, accountId),
  ]);
  return { entry: own, pending: ownPending, isNamed };
}

/**
 * Whether the attempt is decided now. A fee that the wallet has not received may still be in
 * flight.
 */
async function resolve(
  attempt: PendingAttempt & { readonly environment: Environment },
  { opener, resolver, clock }: Deps,
): Promise<boolean> {
  const { resolution, written } = opener.isKnownPosted(attempt.id)
    ? { resolution: null, written: opener.written(attempt.id) }
    : await resolver.resolve(attempt, clock());
  if ((await written) === false) throw new Error(`the resolution of attempt ${attempt.id} could not be written`);
  return resolution?.kind !== 'absent';
}

async function render(found: RoundWithTally, viewer: Viewer, database: Database): Promise<GetLeaderboardResponse> {
  const { round, tally } = found;
  const visibility = decideVisibility(round.status, viewer.entry);
  const playerEntryId = (viewer.isNamed && visibility.kind !== 'masked' && viewer.entry?.id) || '';
  if (visibility.kind !== 'neighbours') {
    const { scoredPlayers } = tally;
    return { round: presentRound(found), view: VIEW[visibility.kind], scoredPlayers, rows: [], playerEntryId };
  }
  const window = await loadWindow(database, round.id, visibility.entryId);
  if (window === null) throw new Error(`entry ${visibility.entryId} has a run and is not on the board`);
  // The round has ended meanwhile. A status never moves back, so this recursion ends.
  if (window.roundStatus !== round.status) return render(await readRound(database, round.id), viewer, database);
  return {
    // The counts are from the same snapshot as the rows.
    round: presentRound({ round, tally: window.tally }),
    view: View.WINDOW,
    scoredPlayers: window.tally.scoredPlayers,
    rows: neighbourRows(round.status, window).map(presentLeaderboardRow),
    playerEntryId,
  };
}
