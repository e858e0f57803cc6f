/**
 * Locks the records of many uses in one batch: inserts the records that are new, and decides the
 * uses of existing records by their stored state (`domain/idempotency-decision.ts`). If several
 * uses have the same record, one of them may take it over; the others are decided after that.
 */
import type { Database } from '@laurel/postgres';
import type { Clock } from '@laurel/service';
import { decideIdempotency, type IdempotencyDecision } from '../domain/idempotency-decision.ts';
import {
  type IdempotencyLock,
  type IdempotencyUse,
  insertRecords,
  loadRecords,
  type StoredRecord,
  type Takeover,
  takeOverRecords,
} from '../repository/idempotency-records.ts';

export type IdempotencyLockVerdict =
  | { readonly kind: 'locked'; readonly idempotencyLock: IdempotencyLock }
  | { readonly kind: 'replay'; readonly status: number; readonly body: string }
  | { readonly kind: 'reused' }
  | { readonly kind: 'in_progress' };

export interface IdempotencyLockOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly takeoverMs: number;
}

/**
 * The most rounds. They are enough even if other requests lock the same record, free it by a
 * refusal and lock it again meanwhile. After the last round, the key counts as in use.
 */
const MAX_ROUNDS = 4;

/**
 * Returns one verdict per use, in their order. A call that repeats a lost one finds the idempotency
 * locks that were committed.
 */
export async function lockRecords(
  uses: readonly IdempotencyUse[],
  options: IdempotencyLockOptions,
): Promise<IdempotencyLockVerdict[]> {
  const verdicts = new Map<IdempotencyUse, IdempotencyLockVerdict>();
  let waiting = uses;
  for (let round = 0; waiting.length > 0 && round < MAX_ROUNDS; round += 1) {
    const now = options.clock();
    const firstUses = [...firstByRecord(waiting).values()];
    const inserted = await insertRecords(options.database, firstUses, now);
    for (const use of firstUses) {
      if (inserted.has(use.recordId)) verdicts.set(use, { kind: 'locked', idempotencyLock: firstLockOf(use) });
    }
    waiting = waiting.filter((use) => !verdicts.has(use));
    if (waiting.length > 0) await decideExisting(waiting, verdicts, now, options);
    waiting = waiting.filter((use) => !verdicts.has(use));
  }
  return uses.map((use) => verdicts.get(use) ?? { kind: 'in_progress' });
}

/** The idempotency lock of a use that inserted its record. */
export function firstLockOf(use: IdempotencyUse): IdempotencyLock {
  return { recordId: use.recordId, operationId: use.operationId, generation: 0 };
}

export function firstByRecord<Use extends IdempotencyUse>(uses: readonly Use[]): Map<string, Use> {
  const first = new Map<string, Use>();
  for (const use of uses) if (!first.has(use.recordId)) first.set(use.recordId, use);
  return first;
}

/**
 * Decides the uses whose records exist. One use per record may take it over; the others are decided
 * in the next round.
 */
async function decideExisting(
  uses: readonly IdempotencyUse[],
  verdicts: Map<IdempotencyUse, IdempotencyLockVerdict>,
  now: Date,
  options: IdempotencyLockOptions,
): Promise<void> {
  const records = await loadRecords(options.database, [...new Set(uses.map((use) => use.recordId))]);
  const takeovers = new Map<string, { use: IdempotencyUse; takeover: Takeover }>();
  for (const use of uses) {
    const record = records.get(use.recordId);
    // The record was deleted after the insert found it: the next round inserts again.
    if (record === undefined) continue;
    const decision = decideIdempotency(record, { ...use, now }, options);
    const verdict = verdictOf(decision, use, record);
    if (verdict !== null) verdicts.set(use, verdict);
    else if (!takeovers.has(use.recordId)) {
      takeovers.set(use.recordId, { use, takeover: takeoverOf(decision, use, record) });
    }
  }
  if (takeovers.size === 0) return;
  const takenOver = await takeOverRecords(
    options.database,
    [...takeovers.values()].map(({ takeover }) => takeover),
    now,
  );
  for (const [recordId, idempotencyLock] of takenOver) {
    const use = takeovers.get(recordId)?.use;
    if (use !== undefined) verdicts.set(use, { kind: 'locked', idempotencyLock });
  }
}

/** Null if the use has to take the record over. */
function verdictOf(
  decision: IdempotencyDecision,
  use: IdempotencyUse,
  record: StoredRecord,
): IdempotencyLockVerdict | null {
  switch (decision.kind) {
    case 'own':
      return { kind: 'locked', idempotencyLock: { ...firstLockOf(use), generation: record.generation } };
    case 'resume':
    case 'restart':
      return null;
    default:
      return decision;
  }
}

function takeoverOf(decision: IdempotencyDecision, use: IdempotencyUse, record: StoredRecord): Takeover {
  const isNewOperation = decision.kind === 'restart';
  return {
    from: { recordId: record.recordId, operationId: record.operationId, generation: record.generation },
    operationId: isNewOperation ? use.operationId : record.operationId,
    fingerprint: use.fingerprint,
    isNewOperation,
  };
}
