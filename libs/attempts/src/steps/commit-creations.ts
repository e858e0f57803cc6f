/**
 * The last step of a reservation under lock, in one round trip: writes the attempts with their key
 * uses, and commits the transaction.
 */
import { isRefused, type Refused } from '@laurel/errors';
import type { Queryable, Transaction } from '@laurel/postgres';
import type { MadeAttempt } from '../contest.ts';
import type { KeyUse } from '../domain/key-use.ts';
import { deleteKeyUses } from '../repository/key-uses.ts';
import { type CreationResolution, keyUsesToRecord, supersededKeys } from './resolve-creations.ts';

/** An attempt to insert, and the use of an idempotency key that is recorded with it. */
export type KeyedAttempt<Attempt extends MadeAttempt> = { readonly attempt: Attempt; readonly keyUse: KeyUse | null };

/** The contest's own writes of attempts. */
type Writes<Attempt extends MadeAttempt> = {
  /**
   * Inserts attempts with their key uses, and returns the ids of those that it inserted. An id that
   * already exists is left unchanged. A key that is already recorded is a unique violation.
   */
  insertAttempts(on: Queryable, attempts: readonly KeyedAttempt<Attempt>[]): Promise<ReadonlySet<string>>;
  /** Restarts an abandoned attempt as this one. False if another process restarted it first. */
  restartAttempt(on: Queryable, attempt: Attempt): Promise<boolean>;
};

type Made<Attempt> = { readonly kind: 'known' | 'created'; readonly attempt: Attempt };
type AskWallet = { readonly kind: 'ask_wallet' };

/**
 * One decision per creation, in order, as it holds after the commit. `ask_wallet` for a creation
 * that has to be decided again: another process wrote its attempt after the look-up, and the next
 * round finds that row; or it waited too long, and takes a new instant.
 */
export async function commitCreations<Attempt extends MadeAttempt, Decided extends Made<Attempt>>(
  tx: Transaction,
  resolved: readonly CreationResolution<Attempt>[],
  decisions: readonly (Decided | AskWallet | Refused)[],
  writes: Writes<Attempt>,
): Promise<readonly (Decided | AskWallet | Refused)[]> {
  await deleteKeyUses(tx, supersededKeys(resolved));
  const made = new Map<string, Attempt>();
  for (const decision of decisions) if (decision.kind === 'created') made.set(decision.attempt.id, decision.attempt);
  const keyUses = keyUsesToRecord(resolved);
  const keyed = [...made.values()].map((attempt) => ({ attempt, keyUse: keyUses.get(attempt.id) ?? null }));
  const written = await tx.commitWith((last) => write(last, keyed, writes));
  return decisions.map((decision) => {
    if (isRefused(decision) || decision.kind === 'ask_wallet') return decision;
    const { id } = decision.attempt;
    return made.has(id) && !written.has(id) ? { kind: 'ask_wallet' } : decision;
  });
}

/** Returns the ids of the attempts that this transaction wrote. */
async function write<Attempt extends MadeAttempt>(
  last: Queryable,
  made: readonly KeyedAttempt<Attempt>[],
  { insertAttempts, restartAttempt }: Writes<Attempt>,
): Promise<ReadonlySet<string>> {
  const fresh = made.filter(({ attempt }) => attempt.feeGeneration === 0);
  const again = made.filter(({ attempt }) => attempt.feeGeneration > 0);
  const [inserted, restarted] = await Promise.all([
    fresh.length === 0 ? [] : insertAttempts(last, fresh),
    Promise.all(again.map(({ attempt }) => restartAttempt(last, attempt))),
  ]);
  return new Set([...inserted, ...again.flatMap(({ attempt }, index) => (restarted[index] ? [attempt.id] : []))]);
}
