/**
 * Which attempt each creation of a batch is about: the one that its id names, unless its
 * idempotency key already names another (domain/key-use.ts). A refused attempt holds no key: a
 * creation that finds one by its key runs in its place.
 */
import { isRefused, type Refused } from '@laurel/errors';
import type { KeyUse, RecordedKeyUse } from '../domain/key-use.ts';
import type { OwnedAttempt } from '../domain/owned-attempt.ts';
import { resolveKeyUses } from './resolve-key-uses.ts';

/** One creation to resolve. */
export type RequestedCreation = {
  readonly attemptId: string;
  readonly keyUse: KeyUse | null;
  /** Whether an attempt with this id exists. */
  readonly isKnown: boolean;
};

export type ResolvedCreation<Attempt extends OwnedAttempt> = {
  readonly kind: 'creation';
  readonly attemptId: string;
  /** The attempt with this id, if there is one. */
  readonly known: Attempt | null;
  /** The key use to record with the attempt, if the creation writes one. */
  readonly keyUse: KeyUse | null;
  /** Whether a recorded use of the key is deleted before this one is recorded. */
  readonly supersedes: boolean;
};

export type CreationResolution<Attempt extends OwnedAttempt> = ResolvedCreation<Attempt> | Refused;

/** One resolution per creation, in order. `recorded` was read under the locks on the keys. */
export async function resolveCreations<Attempt extends OwnedAttempt>(
  creations: readonly RequestedCreation[],
  {
    recorded,
    loadAttempts,
  }: {
    readonly recorded: ReadonlyMap<string, RecordedKeyUse>;
    loadAttempts(ids: readonly string[]): Promise<ReadonlyMap<string, Attempt>>;
  },
): Promise<readonly CreationResolution<Attempt>[]> {
  const operations = resolveKeyUses(
    creations.map(({ attemptId, keyUse, isKnown }) => ({ operationId: attemptId, keyUse: isKnown ? null : keyUse })),
    recorded,
  );
  const known = new Set<string>();
  for (const [index, { attemptId, isKnown }] of creations.entries()) {
    const operation = operations[index];
    if (operation === undefined || isRefused(operation)) continue;
    if (isKnown || operation.operationId !== attemptId) known.add(operation.operationId);
  }
  const attempts = known.size === 0 ? new Map<string, Attempt>() : await loadAttempts([...known]);

  return creations.map(({ attemptId, keyUse }, index): CreationResolution<Attempt> => {
    const operation = operations[index];
    if (operation === undefined) throw new Error('a creation was not resolved');
    if (isRefused(operation)) return operation;
    const found = attempts.get(operation.operationId) ?? null;
    const isOfAnother = operation.operationId !== attemptId && !operation.repeatsBatch;
    if (isOfAnother && (found === null || found.status === 'refused')) {
      return { kind: 'creation', attemptId, known: null, keyUse, supersedes: true };
    }
    const { operationId, record, supersedes } = operation;
    return { kind: 'creation', attemptId: operationId, known: found, keyUse: record, supersedes };
  });
}

/** The keys whose recorded uses are to be deleted. */
export function supersededKeys(resolved: readonly CreationResolution<OwnedAttempt>[]): readonly string[] {
  return resolved.flatMap((creation) =>
    !isRefused(creation) && creation.supersedes && creation.keyUse !== null ? [creation.keyUse.keyId] : [],
  );
}

/** The key uses to record, by attempt id. */
export function keyUsesToRecord(resolved: readonly CreationResolution<OwnedAttempt>[]): ReadonlyMap<string, KeyUse> {
  return new Map(
    resolved.flatMap((creation) =>
      isRefused(creation) || creation.keyUse === null ? [] : [[creation.attemptId, creation.keyUse] as const],
    ),
  );
}
