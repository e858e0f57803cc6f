/** One attempt as several calls answer it, after it was rolled forward; its award is rolled forward too. */
import type { AwardPayer, RollForwardDeps } from '@laurel/money-path';
import type { Database } from '@laurel/postgres';
import type { Attempt as AttemptMessage } from '@laurel/proto/challenge';
import type { Attempt, Award } from '../domain/challenge.ts';
import { loadAwards } from '../repository/awards.ts';
import { loadOutcomes } from '../repository/outcomes.ts';
import { presentAttempt } from './present.ts';

export type ReadDeps = RollForwardDeps<Attempt> & { database: Database; payer: AwardPayer<Award> };

export async function presentWithOutcome(attempt: Attempt, { database, payer }: ReadDeps): Promise<AttemptMessage> {
  if (attempt.status !== 'settled') return presentAttempt(attempt, null, null);
  const [outcomes, awards] = await Promise.all([
    loadOutcomes(database, [attempt.id]),
    loadAwards(database, [attempt.id]),
  ]);
  const outcome = outcomes.get(attempt.id);
  if (outcome === undefined) throw new Error(`attempt ${attempt.id} is settled without an outcome`);
  const owed = awards.get(attempt.id);
  return presentAttempt(attempt, outcome, owed === undefined ? null : await payer.settle(owed));
}
