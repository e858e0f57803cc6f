/**
 * Opens the next round of each active tournament with a round length and no open round. The commit
 * that created or resumed the tournament, or closed its last round, has usually opened the next
 * one; this worker finds those that were missed.
 */

import type { Database, Transaction } from '@laurel/postgres';
import type { Clock } from '@laurel/service';
import { newId } from '@laurel/values/ids';
import { nextRound } from '../domain/round-opening.ts';
import type { Tournament } from '../domain/tournament.ts';
import { failpoint } from '../failpoints.ts';
import { insertRound, loadRoundsSoFar } from '../repository/rounds.ts';
import { loadTournamentsWithoutRound, lockTournament } from '../repository/tournaments.ts';

export interface RoundOpener {
  runOnce(): Promise<void>;
}

/** The number of tournaments per run; the next run continues with the rest. */
const PAGE = 500;

export function createRoundOpener({ database, clock }: { database: Database; clock: Clock }): RoundOpener {
  async function openFor(tournamentId: string): Promise<void> {
    await database.transaction(
      async (tx) => {
        const tournament = await lockTournament(tx, tournamentId);
        if (tournament !== null) await openNextRound(tx, tournament, clock());
      },
      { beforeCommit: () => failpoint('tournament.round.before-commit') },
    );
    await failpoint('tournament.round.after-commit');
  }

  return {
    async runOnce() {
      const results: PromiseSettledResult<void>[] = [];
      for (const id of await loadTournamentsWithoutRound(database, PAGE)) {
        results.push(...(await Promise.allSettled([openFor(id)])));
      }
      const failure = results.find((result) => result.status === 'rejected');
      if (failure !== undefined) throw failure.reason;
    },
  };
}

/**
 * Opens the round that the tournament opens automatically now, if any. The caller holds the
 * tournament's lock, or has just inserted it.
 */
export async function openNextRound(tx: Transaction, tournament: Tournament, now: Date): Promise<void> {
  const { nextNumber: number, hasOpenRound } = await loadRoundsSoFar(tx, tournament.id);
  const round = hasOpenRound ? null : nextRound({ tournament, id: newId(now), number, now });
  if (round !== null && !(await insertRound(tx, round))) {
    throw new Error(`round ${number} of tournament ${tournament.id} did not open`);
  }
}
