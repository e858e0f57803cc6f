/**
 * Claims the records of many uses at once: inserts those that are new, and decides the others by what their records say
 * (`domain/idempotency-decision.ts`). One use of a record may take it over at a time; the others are decided after it.
 */
import type { Database } from '@laurel/postgres';
import type { Clock } from '@laurel/service';
import { decideIdempotency, type IdempotencyDecision } from '../domain/idempotency-decision.ts';
import {
  type Claim,
  insertRecords,
  type KeyUse,
  loadRecords,
  type StoredRecord,
  type Takeover,
  takeOverRecords,
} from '../repository/idempotency-records.ts';

export type ClaimVerdict =
  | { readonly kind: 'claimed'; readonly claim: Claim }
  | { readonly kind: 'replay'; readonly status: number; readonly body: string }
  | { readonly kind: 'reused' }
  | { readonly kind: 'in_progress' };

export interface ClaimOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly takeoverMs: number;
  readonly retentionMs: number;
}

/** Enough for a record to be taken, refused and taken again under our eyes; then the key is plainly in use. */
const MAX_ROUNDS = 4;

/** Durable. One verdict per use, in their order. Asked again after a lost connection it finds the claims that were committed. */
export async function claimRecords(uses: readonly KeyUse[], options: ClaimOptions): Promise<ClaimVerdict[]> {
  const verdicts = new Map<KeyUse, ClaimVerdict>();
  let waiting = uses;
  for (let round = 0; waiting.length > 0 && round < MAX_ROUNDS; round += 1) {
    const now = options.clock();
    const firstUses = [...firstByRecord(waiting).values()];
    const inserted = await insertRecords(options.database, firstUses, now);
    for (const use of firstUses) {
      if (inserted.has(use.recordId)) verdicts.set(use, { kind: 'claimed', claim: firstClaimOf(use) });
    }
    waiting = waiting.filter((use) => !verdicts.has(use));
    if (waiting.length > 0) await settleKnown(waiting, verdicts, now, options);
    waiting = waiting.filter((use) => !verdicts.has(use));
  }
  return uses.map((use) => verdicts.get(use) ?? { kind: 'in_progress' });
}

/** The claim of a use that inserted its record. */
export function firstClaimOf(use: KeyUse): Claim {
  return { recordId: use.recordId, operationId: use.operationId, generation: 0 };
}

export function firstByRecord<Use extends KeyUse>(uses: readonly Use[]): Map<string, Use> {
  const first = new Map<string, Use>();
  for (const use of uses) if (!first.has(use.recordId)) first.set(use.recordId, use);
  return first;
}

/** Decides the uses whose records exist. One use per record may take it over; the others are decided in the next round. */
async function settleKnown(
  uses: readonly KeyUse[],
  verdicts: Map<KeyUse, ClaimVerdict>,
  now: Date,
  options: ClaimOptions,
): Promise<void> {
  const records = await loadRecords(options.database, [...new Set(uses.map((use) => use.recordId))]);
  const takeovers = new Map<string, { use: KeyUse; takeover: Takeover }>();
  for (const use of uses) {
    const record = records.get(use.recordId);
    // Deleted since the insert met it: the next round inserts again.
    if (record === undefined) continue;
    const decision = decideIdempotency(record, { ...use, now }, options);
    const verdict = verdictOf(decision, use, record);
    if (verdict !== null) verdicts.set(use, verdict);
    else if (!takeovers.has(use.recordId)) {
      takeovers.set(use.recordId, { use, takeover: takeoverOf(decision, use, record) });
    }
  }
  if (takeovers.size === 0) return;
  const taken = await takeOverRecords(
    options.database,
    [...takeovers.values()].map(({ takeover }) => takeover),
    now,
  );
  for (const [recordId, claim] of taken) {
    const use = takeovers.get(recordId)?.use;
    if (use !== undefined) verdicts.set(use, { kind: 'claimed', claim });
  }
}

/** Null: the use wants to take the record over. */
function verdictOf(decision: IdempotencyDecision, use: KeyUse, record: StoredRecord): ClaimVerdict | null {
  switch (decision.kind) {
    case 'own':
      return { kind: 'claimed', claim: { ...firstClaimOf(use), generation: record.generation } };
    case 'resume':
    case 'restart':
      return null;
    default:
      return decision;
  }
}

function takeoverOf(decision: IdempotencyDecision, use: KeyUse, record: StoredRecord): Takeover {
  const isNewOperation = decision.kind === 'restart';
  return {
    from: { recordId: record.recordId, operationId: record.operationId, generation: record.generation },
    operationId: isNewOperation ? use.operationId : record.operationId,
    fingerprint: use.fingerprint,
    isNewOperation,
  };
}
