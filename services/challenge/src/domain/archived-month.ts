/**
 * What the files of an archived month must agree about. It reads each once, in its order, and keeps
 * only challenges, keys and reviews.
 */
import type { ArchivedRow, ReceiptVerifier, Total } from '@laurel/attempts/archive';

export type RowsOf = (table: string) => AsyncIterable<ArchivedRow>;

/** Adds up the month. Throws at the first contradiction. */
export async function inspectMonth(rows: RowsOf, receipts: ReceiptVerifier): Promise<readonly Total[]> {
  for await (const key of rows('signing_keys')) receipts.put(key);
  const environments = new Map<unknown, string>();
  for await (const { id, environment } of rows('challenges')) environments.set(id, String(environment));
  const reviewed = new Set<unknown>();
  for await (const { award_id: awardId } of rows('award_reviews')) reviewed.add(awardId);

  const totals = new Map<string, Total>();
  await using outcomes = walk(rows('outcomes'));
  await using awards = walk(rows('awards'));
  for await (const attempt of rows('attempts')) {
    const environment = environments.get(attempt.challenge_id);
    if (environment === undefined) throw new Error(`the challenge of attempt ${attempt.id} is not in the archive`);
    add(totals, { table: 'attempts', environment, status: attempt.status, cents: attempt.fee_cents });
    const outcome = await outcomes.takeIf((row) => row.attempt_id === attempt.id);
    verifyOutcome(attempt, outcome, receipts);
    const award = await awards.takeIf((row) => row.attempt_id === attempt.id);
    if (award === null) continue;
    verifyAward(attempt, outcome, award);
    reviewed.delete(award.id);
    add(totals, { table: 'awards', environment, status: award.status, cents: award.amount_cents });
  }
  for (const [table, rest] of Object.entries({ outcomes, awards })) {
    const row = await rest.takeIf(() => true);
    if (row !== null) throw new Error(`${table} has a row of ${row.attempt_id}, which is no attempt of the archive`);
  }
  for (const awardId of reviewed) throw new Error(`the award ${awardId} was reviewed and is not in the archive`);
  return [...totals.values()];
}

function verifyOutcome(attempt: ArchivedRow, outcome: ArchivedRow | null, receipts: ReceiptVerifier): void {
  if ((attempt.status === 'settled') !== (outcome !== null)) {
    throw new Error(
      `the attempt ${attempt.id} is ${attempt.status}, ${outcome === null ? 'without' : 'with'} an outcome`,
    );
  }
  if (outcome === null) return;
  if (!receipts.isGenuine(outcome)) throw new Error(`the receipt ${outcome.receipt_id} was not signed as it is`);
  const signed = JSON.parse(String(outcome.receipt)) as ArchivedRow;
  if (signed.attempt_id !== attempt.id || signed.receipt_id !== outcome.receipt_id || signed.score !== outcome.score) {
    throw new Error(`the receipt ${outcome.receipt_id} is not that of its outcome`);
  }
}

function verifyAward(attempt: ArchivedRow, outcome: ArchivedRow | null, award: ArchivedRow): void {
  const isDue =
    outcome?.met_threshold === true &&
    award.amount_cents === attempt.prize_cents &&
    award.account_id === attempt.account_id &&
    award.challenge_id === attempt.challenge_id;
  if (!isDue) throw new Error(`the award ${award.id} does not follow from its attempt`);
}

function add(
  totals: Map<string, Total>,
  { table, environment, status, cents }: { table: string; environment: string; status: unknown; cents: unknown },
): void {
  if (!Number.isSafeInteger(cents)) throw new Error(`a row of ${table} has ${cents} cents`);
  const key = `${table} ${environment} ${status}`;
  const before = totals.get(key);
  totals.set(key, {
    table,
    environment,
    status: String(status),
    rows: (before?.rows ?? 0) + 1,
    cents: String(BigInt(before?.cents ?? 0) + BigInt(Number(cents))),
  });
}

/** A cursor over rows that another file's order leads. */
function walk(rows: AsyncIterable<ArchivedRow>) {
  const iterator = rows[Symbol.asyncIterator]();
  let ahead: Promise<IteratorResult<ArchivedRow>> | undefined;
  return {
    /** Takes the next row if it is wanted; null otherwise, and at the end. */
    async takeIf(isWanted: (row: ArchivedRow) => boolean): Promise<ArchivedRow | null> {
      ahead ??= iterator.next();
      const { done, value } = await ahead;
      if (done || !isWanted(value)) return null;
      ahead = undefined;
      return value;
    },
    [Symbol.asyncDispose]: async () => void (await iterator.return?.()),
  };
}
