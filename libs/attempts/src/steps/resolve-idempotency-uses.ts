/**
 * Finds the operation that each request of a batch means, by the recorded use of its idempotency
 * key (domain/idempotency-use.ts).
 */
import { isRefused, type Refused, refused } from '@laurel/errors';
import { receiptIdOf } from '@laurel/values/ids';
import { decideIdempotencyUse, type IdempotencyUse, type RecordedIdempotencyUse } from '../domain/idempotency-use.ts';

/** A request, with the operation id that it brought. */
export type KeyedOperation = { readonly operationId: string; readonly idempotencyUse: IdempotencyUse | null };

export type ResolvedOperation =
  /**
   * The request runs under this operation id: its own, or the id that the idempotency key already
   * names. In the second case the use is not recorded again.
   */
  | {
      readonly kind: 'operation';
      readonly operationId: string;
      readonly record: IdempotencyUse | null;
      /** Whether the recorded use of the key is deleted before this operation's use is inserted. */
      readonly supersedes: boolean;
      /** Whether the key names an earlier operation of this batch. */
      readonly repeatsBatch: boolean;
    }
  | Refused;

/**
 * Returns one resolution per operation, in order. Each resolution takes the earlier operations of
 * the batch into account. The caller read `recorded` under the locks on the keys.
 */
export function resolveIdempotencyUses(
  operations: readonly KeyedOperation[],
  recorded: ReadonlyMap<string, RecordedIdempotencyUse>,
): readonly ResolvedOperation[] {
  const ofBatch = new Map<string, RecordedIdempotencyUse>();
  return operations.map(({ operationId, idempotencyUse }): ResolvedOperation => {
    const unrecorded = {
      kind: 'operation',
      operationId,
      record: null,
      supersedes: false,
      repeatsBatch: false,
    } as const;
    if (idempotencyUse === null) return unrecorded;
    const { idempotencyRecordId, fingerprint, usedAt } = idempotencyUse;
    const known = ofBatch.get(idempotencyRecordId) ?? recorded.get(idempotencyRecordId);
    if (known?.operationId === operationId) return unrecorded;
    const decision = decideIdempotencyUse(idempotencyUse, known);
    if (decision.kind === 'reused') return refused('idempotency_key_reused');
    if (decision.kind === 'repeated') {
      return { ...unrecorded, operationId: decision.operationId, repeatsBatch: ofBatch.has(idempotencyRecordId) };
    }
    ofBatch.set(idempotencyRecordId, { idempotencyRecordId, operationId, fingerprint, usedAt });
    return { ...unrecorded, record: idempotencyUse, supersedes: decision.kind === 'superseded' };
  });
}

/** Finds the outcome that each report of a batch means. The receipt identifies an outcome. */
export function resolveReports(
  reports: readonly { readonly operationId: string; readonly idempotencyUse: IdempotencyUse | null }[],
  recorded: ReadonlyMap<string, RecordedIdempotencyUse>,
): readonly ResolvedOperation[] {
  const operations = reports.map(({ operationId, idempotencyUse }) => ({
    operationId: receiptIdOf(operationId),
    idempotencyUse,
  }));
  return resolveIdempotencyUses(operations, recorded);
}

/**
 * The decision on a request that was not refused for its idempotency key, and the operation that
 * the request means.
 */
export type DecidedOperation<Resolved, Decision> = {
  readonly kind: 'decided';
  readonly resolved: Resolved;
  readonly decision: Decision;
};

/**
 * Decides, in order, the requests that were not refused for their idempotency keys. Returns one
 * result per request, in order.
 */
export function decideUnlessRefused<Request, Resolved extends { readonly kind: string }, Decision>(
  requests: readonly Request[],
  resolutions: readonly (Resolved | Refused)[],
  decide: (open: readonly { readonly request: Request; readonly resolved: Resolved }[]) => readonly Decision[],
): readonly (DecidedOperation<Resolved, Decision> | Refused)[] {
  const open = requests.flatMap((request, index) => {
    const resolved = resolutions[index];
    return resolved === undefined || isRefused(resolved) ? [] : [{ request, resolved }];
  });
  const decisions = decide(open).values();
  return resolutions.map((resolved) => {
    if (isRefused(resolved)) return resolved;
    const decision = decisions.next();
    if (decision.done) throw new Error('a request was not decided');
    return { kind: 'decided', resolved, decision: decision.value };
  });
}

/** The keys of a batch, each once. */
export function idempotencyRecordIdsOf(
  operations: readonly Pick<KeyedOperation, 'idempotencyUse'>[],
): readonly string[] {
  return [
    ...new Set(
      operations.flatMap(({ idempotencyUse }) => (idempotencyUse === null ? [] : [idempotencyUse.idempotencyRecordId])),
    ),
  ];
}
