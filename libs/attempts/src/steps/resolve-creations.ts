/**
 * Finds the attempt that each creation of a batch is about: the attempt that its id names, unless
 * its idempotency key already names another attempt (domain/idempotency-use.ts). A refused attempt
 * does not keep its idempotency key: any creation under that key runs, with the same body or
 * another.
 */
import { isRefused, type Refused } from '@laurel/errors';
import type { IdempotencyUse, RecordedIdempotencyUse } from '../domain/idempotency-use.ts';
import type { OwnedAttempt } from '../domain/owned-attempt.ts';
import { resolveIdempotencyUses } from './resolve-idempotency-uses.ts';

/** A creation to resolve. */
export type RequestedCreation = {
  readonly attemptId: string;
  readonly idempotencyUse: IdempotencyUse | null;
  /** Whether an attempt with this id exists. */
  readonly isKnown: boolean;
};

export type ResolvedCreation<Attempt extends OwnedAttempt> = {
  readonly kind: 'creation';
  readonly attemptId: string;
  /** The attempt with this id, if there is one. */
  readonly known: Attempt | null;
  /** The idempotency use to record if the creation writes the attempt; null for none. */
  readonly idempotencyUse: IdempotencyUse | null;
  /** Whether a recorded use of the key is deleted before this use is recorded. */
  readonly supersedes: boolean;
};

export type CreationResolution<Attempt extends OwnedAttempt> = ResolvedCreation<Attempt> | Refused;

/**
 * Returns one resolution per creation, in order. The caller read `recorded` under the locks on the
 * keys.
 */
export async function resolveCreations<Attempt extends OwnedAttempt>(
  creations: readonly RequestedCreation[],
  {
    recorded,
    loadAttempts,
  }: {
    readonly recorded: ReadonlyMap<string, RecordedIdempotencyUse>;
    loadAttempts(ids: readonly string[]): Promise<ReadonlyMap<string, Attempt>>;
  },
): Promise<readonly CreationResolution<Attempt>[]> {
  const named = new Set([...recorded.values()].map(({ operationId }) => operationId));
  for (const { attemptId, isKnown } of creations) if (isKnown) named.add(attemptId);
  const attempts = named.size === 0 ? new Map<string, Attempt>() : await loadAttempts([...named]);
  const isFree = ({ operationId }: RecordedIdempotencyUse) =>
    (attempts.get(operationId)?.status ?? 'refused') === 'refused';
  const held = new Map([...recorded].filter(([, use]) => !isFree(use)));

  const operations = resolveIdempotencyUses(
    creations.map(({ attemptId, idempotencyUse, isKnown }) => ({
      operationId: attemptId,
      idempotencyUse: isKnown ? null : idempotencyUse,
    })),
    held,
  );
  return operations.map((operation): CreationResolution<Attempt> => {
    if (isRefused(operation)) return operation;
    const { operationId: attemptId, record: idempotencyUse } = operation;
    const supersedes =
      operation.supersedes || (idempotencyUse !== null && recorded.has(idempotencyUse.idempotencyRecordId));
    return { kind: 'creation', attemptId, known: attempts.get(attemptId) ?? null, idempotencyUse, supersedes };
  });
}

/** The keys whose recorded uses are to be deleted. */
export function supersededRecordIds(resolved: readonly CreationResolution<OwnedAttempt>[]): readonly string[] {
  return resolved.flatMap((creation) =>
    !isRefused(creation) && creation.supersedes && creation.idempotencyUse !== null
      ? [creation.idempotencyUse.idempotencyRecordId]
      : [],
  );
}

/** The idempotency uses to record, by attempt id. */
export function idempotencyUsesToRecord(
  resolved: readonly CreationResolution<OwnedAttempt>[],
): ReadonlyMap<string, IdempotencyUse> {
  return new Map(
    resolved.flatMap((creation) =>
      isRefused(creation) || creation.idempotencyUse === null
        ? []
        : [[creation.attemptId, creation.idempotencyUse] as const],
    ),
  );
}
