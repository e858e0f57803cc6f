/** The read of one attempt that several calls share: it is rolled forward first; its award is rolled forward too. */
import type { AwardPayer, RollForwardDeps } from '@laurel/attempts';
import type { Database } from '@laurel/postgres';
import type { Attempt as AttemptMessage } from '@laurel/proto/challenge';
import type { Attempt, Award } from '../domain/challenge.ts';
import { findAwardOfAttempt } from '../repository/awards.ts';
import { loadOutcome } from '../repository/outcomes.ts';
import { presentAttempt } from './present.ts';

export type ReadDeps = RollForwardDeps<Attempt> & { database: Database; payer: AwardPayer<Award> };

export async function presentWithOutcome(attempt: Attempt, { database, payer }: ReadDeps): Promise<AttemptMessage> {
  if (attempt.status !== 'settled') return presentAttempt(attempt, null, null);
  const [outcome, owed] = await Promise.all([
    loadOutcome(database, attempt.id),
    findAwardOfAttempt(database, attempt.id),
  ]);
  return presentAttempt(attempt, outcome, owed === null ? null : await payer.complete(owed));
}
