/**
 * GetLeaderboard: a round's board as one player may see it (domain/leaderboard-view.ts). Tenancy comes first, then masking.
 *
 * A call that names nobody, an unknown ref and one that has not entered are answered by the same statements, which go out together, so
 * that nothing but the player's own entry tells them apart.
 */
import { refused } from '@laurel/errors';
import { type Handlers, parseId, parseTenant } from '@laurel/grpc';
import type { AttemptOpener, PendingResolver } from '@laurel/money-path';
import { isSameTenant } from '@laurel/money-path/domain';
import type { Database } from '@laurel/postgres';
import {
  type GetLeaderboardResponse,
  type TournamentServiceService,
  GetLeaderboardResponse_View as View,
} from '@laurel/proto/tournament';
import type { Clock } from '@laurel/service';
import { decideVisibility, neighbourRows, type Visibility } from '../domain/leaderboard-view.ts';
import type { Entry } from '../domain/tournament.ts';
import { loadPendingOfPlayer, type PendingAttempt } from '../repository/attempts.ts';
import { loadWindow } from '../repository/board.ts';
import { findEntryOfRef } from '../repository/entries.ts';
import { findRound, type RoundWithTally } from '../repository/rounds.ts';
import { presentRound, presentRow } from './present-round.ts';
import { readRound } from './read-round.ts';

type Deps = { database: Database; opener: AttemptOpener; resolver: PendingResolver; clock: Clock };

const VIEW: Record<Exclude<Visibility['kind'], 'neighbours'>, View> = {
  masked: View.MASKED,
  no_rows: View.WINDOW,
  table: View.COMPLETE,
};

export function getLeaderboard(deps: Deps): Handlers<TournamentServiceService>['getLeaderboard'] {
  return async (request) => {
    const { playerRef } = request;
    const tenant = parseTenant(request.tenant);
    const roundId = parseId(request.roundId);
    const [found, viewer, pending] = await Promise.all([
      findRound(deps.database, roundId),
      findEntryOfRef(deps.database, roundId, playerRef),
      loadPendingOfPlayer(deps.database, roundId, playerRef),
    ]);
    if (found === null || !isSameTenant(found.round.tenant, tenant)) return refused('not_found');

    const isDecided = await Promise.all(pending.map((attempt) => resolve(attempt, deps)));
    if (!isDecided.some((isOne) => isOne)) return render(found, viewer, deps.database);
    return render(
      await readRound(deps.database, roundId),
      await findEntryOfRef(deps.database, roundId, playerRef),
      deps.database,
    );
  };
}

/** Whether the attempt is decided now. One that the wallet has never heard of may still be on its way there. */
async function resolve(attempt: PendingAttempt, { opener, resolver, clock }: Deps): Promise<boolean> {
  const { resolution, written } = opener.isKnownPosted(attempt.id)
    ? { resolution: null, written: opener.written(attempt.id) }
    : await resolver.resolve(attempt, clock());
  if ((await written) === false) throw new Error(`what became of attempt ${attempt.id} could not be written`);
  return resolution?.kind !== 'absent';
}

async function render(
  found: RoundWithTally,
  viewer: Entry | null,
  database: Database,
): Promise<GetLeaderboardResponse> {
  const { round, tally } = found;
  const visibility = decideVisibility(round.status, viewer);
  if (visibility.kind !== 'neighbours') {
    return { round: presentRound(found), view: VIEW[visibility.kind], scoredPlayers: tally.scoredPlayers, rows: [] };
  }
  const window = await loadWindow(database, round.id, visibility.entryId);
  if (window === null) throw new Error(`entry ${visibility.entryId} has a run and is not on the board`);
  // The round has ended meanwhile. Its status only moves on, so this comes to an end.
  if (window.roundStatus !== round.status) return render(await readRound(database, round.id), viewer, database);
  return {
    // The counts are of the same instant as the rows.
    round: presentRound({ round, tally: window.tally }),
    view: View.WINDOW,
    scoredPlayers: window.tally.scoredPlayers,
    rows: neighbourRows(round.status, window).map(presentRow),
  };
}
