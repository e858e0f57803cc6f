/**
 * Which attempt each creation of a batch is about: the one that its id names, unless its
 * idempotency key already names another (domain/key-use.ts). A refused attempt holds no key: any
 * creation under that key runs, whether its body is the same or another.
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
  const named = new Set([...recorded.values()].map(({ operationId }) => operationId));
  for (const { attemptId, isKnown } of creations) if (isKnown) named.add(attemptId);
  const attempts = named.size === 0 ? new Map<string, Attempt>() : await loadAttempts([...named]);
  const isFree = ({ operationId }: RecordedKeyUse) => (attempts.get(operationId)?.status ?? 'refused') === 'refused';
  const held = new Map([...recorded].filter(([, use]) => !isFree(use)));

  const operations = resolveKeyUses(
    creations.map(({ attemptId, keyUse, isKnown }) => ({ operationId: attemptId, keyUse: isKnown ? null : keyUse })),
    held,
  );
  return operations.map((operation): CreationResolution<Attempt> => {
    if (isRefused(operation)) return operation;
    const { operationId: attemptId, record: keyUse } = operation;
    const supersedes = operation.supersedes || (keyUse !== null && recorded.has(keyUse.keyId));
    return { kind: 'creation', attemptId, known: attempts.get(attemptId) ?? null, keyUse, supersedes };
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
