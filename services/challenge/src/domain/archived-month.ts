/**
 * What the files of an archived month must agree about. It reads each once, in its order, and keeps
 * only challenges, keys and reviews.
 */
import {
  type ArchivedRow,
  type ArchivedRowsOf,
  expectEnd,
  type SignatureVerifier,
  type Total,
  Totals,
  verifyOutcome,
  walkRows,
} from '@laurel/attempts/domain';

/** Adds up the month. Throws at the first contradiction. */
export async function inspectMonth(
  { leastId, endId }: { readonly leastId: string; readonly endId: string },
  rows: ArchivedRowsOf,
  signatures: SignatureVerifier,
): Promise<readonly Total[]> {
  for await (const key of rows('signing_keys')) signatures.put(key);
  const environments = new Map<unknown, string>();
  for await (const { id, environment } of rows('challenges')) environments.set(id, String(environment));
  const reviewed = new Set<unknown>();
  for await (const { award_id: awardId } of rows('award_reviews')) reviewed.add(awardId);

  const totals = new Totals();
  await using outcomes = walkRows(rows('outcomes'));
  await using awards = walkRows(rows('awards'));
  for await (const attempt of rows('attempts')) {
    const id = String(attempt.id);
    if (id < leastId || id >= endId) throw new Error(`the attempt ${id} was not made in the month`);
    const environment = environments.get(attempt.challenge_id);
    if (environment === undefined) throw new Error(`the challenge of attempt ${id} is not in the archive`);
    totals.add('attempts', { environment, status: attempt.status, cents: attempt.fee_cents });
    const outcome = await outcomes.takeIf((row) => row.attempt_id === attempt.id);
    verifyOutcome(attempt, outcome, signatures);
    const award = await awards.takeIf((row) => row.attempt_id === attempt.id);
    if (award === null) continue;
    verifyAward(attempt, outcome, award);
    reviewed.delete(award.id);
    totals.add('awards', { environment, status: award.status, cents: award.amount_cents });
  }
  await expectEnd('outcomes', outcomes);
  await expectEnd('awards', awards);
  for (const awardId of reviewed) throw new Error(`the award ${awardId} was reviewed and is not in the archive`);
  return totals.list();
}

function verifyAward(attempt: ArchivedRow, outcome: ArchivedRow | null, award: ArchivedRow): void {
  const isDue =
    outcome?.met_threshold === true &&
    award.amount_cents === attempt.prize_cents &&
    award.account_id === attempt.account_id &&
    award.challenge_id === attempt.challenge_id;
  if (!isDue) throw new Error(`the award ${award.id} does not follow from its attempt`);
}
