/** Reads the current row of a round that is known to exist: rounds are never deleted. */
import type { Database } from '@laurel/postgres';
import { findRound, type RoundWithTally } from '../repository/rounds.ts';

export async function readRound(database: Database, roundId: string): Promise<RoundWithTally> {
  const found = await findRound(database, roundId);
  if (found === null) throw new Error(`round ${roundId} is gone`);
  return found;
}
