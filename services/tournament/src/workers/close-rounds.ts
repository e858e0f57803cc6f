/**
 * Decides a round that is over, or that an operator cancelled (domain/round-status.ts), in one
 * commit: it settles, with every rank and payout, or it is cancelled, with every fee due for
 * refund. The same commit ends attempts that are still open, and opens the tournament's next round.
 * settle-rounds.ts executes the decision.
 *
 * 1. `pending` attempts are resolved immediately: a fee that the wallet has not posted by now gets
 *    a tombstone. Entries have closed, so no other attempt can become pending.
 * 2. The commit locks out new entries, then locks every open attempt, then the board, and decides.
 *    It changes nothing if another process was first.
 */

import type { PendingResolver } from '@laurel/attempts';
import type { Database, Transaction } from '@laurel/postgres';
import type { Clock } from '@laurel/service';
import { decideClose, isCloseDue } from '../domain/round-status.ts';
import { failpoint } from '../failpoints.ts';
import { loadPendingOfRound } from '../repository/attempts.ts';
import { changeRoundStatus, loadUnfinishedRounds } from '../repository/rounds.ts';
import {
  decideStandings,
  endOpenAttempts,
  type HeldRound,
  lockRoundToEnd,
  refundSettledAttempts,
} from '../repository/settlement.ts';
import { eachRound } from './each-round.ts';
import { openNextRound } from './open-rounds.ts';

export interface RoundCloser {
  /** Decides the end of the round if it is over and not decided yet. */
  close(roundId: string): Promise<void>;
  runOnce(now: Date): Promise<void>;
}

const PAGE = 500;
// Rounds of many tournaments end at the same full hour. Most are short commits; only the few with
// many entries are long.
const LANES = 2;
/**
 * The time limit of the statements that decide a round: ranking a hundred thousand entries takes
 * seconds.
 */
export const DECISION_TIMEOUT_MS = 120_000;
// A turn may find under its locks an attempt that was written in the round's last moment. The next
// turn resolves this attempt, and no entry can follow after it.
const MAX_TURNS = 5;

export function createRoundCloser({
  database,
  resolver,
  clock,
}: {
  database: Database;
  resolver: PendingResolver;
  clock: Clock;
}): RoundCloser {
  async function close(roundId: string): Promise<void> {
    for (let turn = 0; turn < MAX_TURNS; turn += 1) {
      await resolvePending(roundId);
      const end = await database.transaction((tx) => decide(tx, roundId, clock), {
        statementTimeoutMs: DECISION_TIMEOUT_MS,
      });
      if (end === 'decided') await failpoint('tournament.close.after-commit');
      if (end !== 'pending') return;
    }
    throw new Error(`attempts of round ${roundId} stayed pending for ${MAX_TURNS} turns`);
  }

  async function resolvePending(roundId: string): Promise<void> {
    for (;;) {
      const pending = await loadPendingOfRound(database, roundId, PAGE);
      if (pending.length === 0) return;
      const results = await Promise.allSettled(
        pending.map(async (attempt) => {
          const { written } = await resolver.resolve(attempt, clock(), { evenIfYoung: true });
          if (!(await written)) throw new Error(`the resolution of attempt ${attempt.id} could not be written`);
        }),
      );
      const failure = results.find((result) => result.status === 'rejected');
      if (failure !== undefined) throw failure.reason;
    }
  }

  return {
    close,
    async runOnce(now) {
      const unfinished = await loadUnfinishedRounds(database, now);
      const over = unfinished.filter(({ status }) => status === 'open').map(({ id }) => id);
      await eachRound(over, LANES, close);
    },
  };
}

/**
 * `pending`: an attempt of the round may still turn out to be paid. `nothing`: there is nothing
 * left to decide.
 */
async function decide(tx: Transaction, roundId: string, clock: Clock): Promise<'decided' | 'pending' | 'nothing'> {
  const held = await lockRoundToEnd(tx, roundId);
  const now = clock();
  if (held === null || !isCloseDue(held.round, now)) return 'nothing';
  if (held.pending > 0) return 'pending';

  const status = decideClose(held.tally, held.round);
  if (!(await changeRoundStatus(tx, roundId, 'open', status)))
    throw new Error(`round ${roundId} is locked, but its status was moved`);
  if (status === 'settling') await writeStandings(tx, held, now);
  else await writeCancellation(tx, held, now);
  await openNextRound(tx, held.tournament, now);
  await failpoint('tournament.close.before-commit');
  return 'decided';
}

async function writeStandings(tx: Transaction, held: HeldRound, now: Date): Promise<void> {
  await decideStandings(tx, held, now);
  await endOpenAttempts(tx, held.round.id, 'round_closed', now);
}

async function writeCancellation(tx: Transaction, { round }: HeldRound, now: Date): Promise<void> {
  await endOpenAttempts(tx, round.id, 'round_cancelled', now);
  await refundSettledAttempts(tx, round.id, now);
}
