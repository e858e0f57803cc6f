/** The last step of a reservation: the attempts that it creates are inserted together with the commit. */
import type { Refused } from '@laurel/errors';
import type { Queryable, Transaction } from '@laurel/postgres';
import type { KeyUse } from './domain/key-use.ts';
import type { OwnedAttempt } from './domain/owned-attempt.ts';

/** What the reservation decided about a creation. */
type Decision<Attempt extends OwnedAttempt> =
  | { readonly kind: 'known' | 'created'; readonly attempt: Attempt }
  | { readonly kind: 'ask_wallet' }
  | Refused;

/** An attempt to insert, and the use of an idempotency key that is recorded with it. */
export type KeyedAttempt<Attempt extends OwnedAttempt> = { readonly attempt: Attempt; readonly keyUse: KeyUse | null };

/** The owner's attempts. */
export type AttemptWriter<Attempt extends OwnedAttempt> = {
  /**
   * Inserts them with their key uses. The ids of the attempts that were inserted; an id that already exists is left unchanged. A key that
   * is recorded already is a unique violation.
   */
  insertAttempts(on: Queryable, attempts: readonly KeyedAttempt<Attempt>[]): Promise<ReadonlySet<string>>;
  /** Restarts an abandoned attempt as this one. False when another process was first. */
  restartAttempt(on: Queryable, attempt: Attempt): Promise<boolean>;
};

/** The decisions as they hold once they are committed. `keyUses` are those to record, by attempt id. */
export async function commitCreations<Attempt extends OwnedAttempt, Decided extends Decision<Attempt>>(
  tx: Transaction,
  decisions: readonly Decided[],
  keyUses: ReadonlyMap<string, KeyUse>,
  writer: AttemptWriter<Attempt>,
): Promise<readonly (Decided | { readonly kind: 'ask_wallet' })[]> {
  const begun = new Map<string, Attempt>();
  for (const decision of decisions) if (decision.kind === 'created') begun.set(decision.attempt.id, decision.attempt);
  const isWritten = await tx.commitWith((last) => write(last, [...begun.values()], keyUses, writer));
  // Another process wrote the same attempt since it was looked up, and the next round finds that row; or this creation waited too long,
  // and the next round takes a new instant. This round's decision is void.
  return decisions.map((decision) =>
    (decision.kind === 'created' || decision.kind === 'known') &&
    begun.has(decision.attempt.id) &&
    !isWritten.has(decision.attempt.id)
      ? { kind: 'ask_wallet' }
      : decision,
  );
}

/** The attempts that this transaction wrote. */
async function write<Attempt extends OwnedAttempt>(
  last: Queryable,
  attempts: readonly Attempt[],
  keyUses: ReadonlyMap<string, KeyUse>,
  { insertAttempts, restartAttempt }: AttemptWriter<Attempt>,
): Promise<ReadonlySet<string>> {
  const fresh = attempts.filter((attempt) => attempt.feeGeneration === 0);
  const again = attempts.filter((attempt) => attempt.feeGeneration > 0);
  const [inserted, restarted] = await Promise.all([
    fresh.length === 0
      ? []
      : insertAttempts(
          last,
          fresh.map((attempt) => ({ attempt, keyUse: keyUses.get(attempt.id) ?? null })),
        ),
    Promise.all(again.map((attempt) => restartAttempt(last, attempt))),
  ]);
  return new Set([...inserted, ...again.filter((_, index) => restarted[index]).map((attempt) => attempt.id)]);
}
