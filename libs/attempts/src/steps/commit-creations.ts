/**
 * The last steps of a reservation under lock: which attempt each creation is about, the owner's decision on those that their keys did not
 * refuse, and the commit that inserts the attempts with their key uses.
 */
import { isRefused, type Refused } from '@laurel/errors';
import type { Queryable, Transaction } from '@laurel/postgres';
import type { KeyUse, RecordedKeyUse } from '../domain/key-use.ts';
import type { OwnedAttempt } from '../domain/owned-attempt.ts';
import { deleteKeyUses } from '../repository/key-uses.ts';
import { keyUsesToRecord, type RequestedCreation, resolveCreations, supersededKeys } from './resolve-creations.ts';
import { decideUnlessRefused } from './resolve-key-uses.ts';

/** What the reservation decided about a creation. */
type Decision<Attempt extends OwnedAttempt> =
  | { readonly kind: 'known' | 'created'; readonly attempt: Attempt }
  | { readonly kind: 'ask_wallet' }
  | Refused;

/** An attempt to insert, and the use of an idempotency key that is recorded with it. */
export type KeyedAttempt<Attempt extends OwnedAttempt> = { readonly attempt: Attempt; readonly keyUse: KeyUse | null };

/** The owner's attempts. */
export type AttemptTable<Attempt extends OwnedAttempt> = {
  loadAttempts(on: Queryable, ids: readonly string[]): Promise<ReadonlyMap<string, Attempt>>;
  /**
   * Inserts them with their key uses. The ids of the attempts that were inserted; an id that already exists is left unchanged. A key that
   * is recorded already is a unique violation.
   */
  insertAttempts(on: Queryable, attempts: readonly KeyedAttempt<Attempt>[]): Promise<ReadonlySet<string>>;
  /** Restarts an abandoned attempt as this one. False when another process was first. */
  restartAttempt(on: Queryable, attempt: Attempt): Promise<boolean>;
};

/** A creation with what the owner read of it, the attempt that it is about, and that attempt where it exists. */
type ResolvedRequest<Request, Attempt> = {
  readonly request: Request;
  readonly attemptId: string;
  readonly known: Attempt | null;
};

/** One decision for each request, in order, as they hold once they are committed. `recorded` was read under the locks on the keys. */
export async function decideAndCommit<
  Request extends { readonly creation: Omit<RequestedCreation, 'isKnown'>; readonly isKnown: boolean },
  Attempt extends OwnedAttempt,
  Decided extends Decision<Attempt>,
>(
  tx: Transaction,
  requests: readonly Request[],
  {
    recorded,
    table,
    decide,
  }: {
    readonly recorded: ReadonlyMap<string, RecordedKeyUse>;
    readonly table: AttemptTable<Attempt>;
    decide(open: readonly ResolvedRequest<Request, Attempt>[]): readonly Decided[];
  },
): Promise<readonly (Decided | Refused | { readonly kind: 'ask_wallet' })[]> {
  const resolved = await resolveCreations(
    requests.map(({ creation, isKnown }) => ({ ...creation, isKnown })),
    { recorded, loadAttempts: (ids) => table.loadAttempts(tx, ids) },
  );
  const decided = decideUnlessRefused(requests, resolved, (open) =>
    decide(open.map(({ request, resolved: { attemptId, known } }) => ({ request, attemptId, known }))),
  );
  await deleteKeyUses(tx, supersededKeys(resolved));
  const decisions = decided.map((item) => (isRefused(item) ? item : item.decision));
  return commit(tx, decisions, keyUsesToRecord(resolved), table);
}

async function commit<Attempt extends OwnedAttempt, Decided extends Decision<Attempt>>(
  tx: Transaction,
  decisions: readonly Decided[],
  /** By attempt id. */
  keyUses: ReadonlyMap<string, KeyUse>,
  table: AttemptTable<Attempt>,
): Promise<readonly (Decided | { readonly kind: 'ask_wallet' })[]> {
  const begun = new Map<string, Attempt>();
  for (const decision of decisions) if (decision.kind === 'created') begun.set(decision.attempt.id, decision.attempt);
  const isWritten = await tx.commitWith((last) => write(last, [...begun.values()], keyUses, table));
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
  { insertAttempts, restartAttempt }: AttemptTable<Attempt>,
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
