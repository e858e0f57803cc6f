/**
 * The last step of a reservation under lock, in one round trip: writes the attempts with their
 * idempotency uses, and commits the transaction.
 */
import { isRefused, type Refused } from '@laurel/errors';
import type { Queryable, Transaction } from '@laurel/postgres';
import type { ReservedAttempt } from '../contest.ts';
import type { IdempotencyUse } from '../domain/idempotency-use.ts';
import { deleteIdempotencyUses } from '../repository/idempotency-uses.ts';
import { type CreationResolution, idempotencyUsesToRecord, supersededRecordIds } from './resolve-creations.ts';

/** An attempt to insert, and the use of an idempotency key that is recorded with it. */
export type KeyedAttempt<Attempt extends ReservedAttempt> = {
  readonly attempt: Attempt;
  readonly idempotencyUse: IdempotencyUse | null;
};

/** The contest's own writes of attempts. */
type Writes<Attempt extends ReservedAttempt> = {
  /**
   * Inserts attempts with their idempotency uses, and returns the ids of the attempts that it
   * inserted. It leaves an attempt that already exists unchanged. A key that is already recorded is
   * a unique violation.
   */
  insertAttempts(on: Queryable, attempts: readonly KeyedAttempt<Attempt>[]): Promise<ReadonlySet<string>>;
  /**
   * Replaces an abandoned attempt by this restarted one. False if another process restarted the
   * attempt first.
   */
  restartAttempt(on: Queryable, attempt: Attempt): Promise<boolean>;
};

type Reserved<Attempt> = { readonly kind: 'known' | 'created'; readonly attempt: Attempt };
type AskWallet = { readonly kind: 'ask_wallet' };

/**
 * Returns one decision per creation, in order, as the decisions hold after the commit. `ask_wallet`
 * means that the creation must be decided again, for one of two reasons. Another process wrote the
 * attempt after the look-up, and the next round finds that row. Or the creation waited too long,
 * and the next round takes a new instant.
 */
export async function commitCreations<Attempt extends ReservedAttempt, Decided extends Reserved<Attempt>>(
  tx: Transaction,
  resolved: readonly CreationResolution<Attempt>[],
  decisions: readonly (Decided | AskWallet | Refused)[],
  writes: Writes<Attempt>,
): Promise<readonly (Decided | AskWallet | Refused)[]> {
  await deleteIdempotencyUses(tx, supersededRecordIds(resolved));
  const reserved = new Map<string, Attempt>();
  for (const decision of decisions)
    if (decision.kind === 'created') reserved.set(decision.attempt.id, decision.attempt);
  const idempotencyUses = idempotencyUsesToRecord(resolved);
  const keyed = [...reserved.values()].map((attempt) => ({
    attempt,
    idempotencyUse: idempotencyUses.get(attempt.id) ?? null,
  }));
  const written = await tx.commitWith((last) => write(last, keyed, writes));
  return decisions.map((decision) => {
    if (isRefused(decision) || decision.kind === 'ask_wallet') return decision;
    const { id } = decision.attempt;
    return reserved.has(id) && !written.has(id) ? { kind: 'ask_wallet' } : decision;
  });
}

/** Returns the ids of the attempts that this transaction wrote. */
async function write<Attempt extends ReservedAttempt>(
  last: Queryable,
  reserved: readonly KeyedAttempt<Attempt>[],
  { insertAttempts, restartAttempt }: Writes<Attempt>,
): Promise<ReadonlySet<string>> {
  const fresh = reserved.filter(({ attempt }) => attempt.feeGeneration === 0);
  const again = reserved.filter(({ attempt }) => attempt.feeGeneration > 0);
  const [inserted, restarted] = await Promise.all([
    fresh.length === 0 ? [] : insertAttempts(last, fresh),
    Promise.all(again.map(({ attempt }) => restartAttempt(last, attempt))),
  ]);
  return new Set([...inserted, ...again.flatMap(({ attempt }, index) => (restarted[index] ? [attempt.id] : []))]);
}
