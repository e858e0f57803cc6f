/**
 * The life of an idempotency key around a route: claim before it runs, and say how it ended.
 *
 * - claim: durable before anything downstream happens. Its operation id keys every downstream write.
 * - complete: a 2xx is stored, as the exact text that is sent, before it is sent: a caller that has an answer can replay it at once, on
 *   any replica. The write is not durable by itself; everything it says is derived again by the same operation id.
 * - forget: a refusal frees the key before it is sent.
 * - release: a failure of ours frees the key but keeps the operation, which may have happened.
 */
import { hash } from 'node:crypto';
import { failpoint, LostReplyError } from '@laurel/failpoint';
import { hashId } from '@laurel/ids';
import { type Database, isConnectionFailure } from '@laurel/postgres';
import type { Clock, Logger } from '@laurel/service';
import canonicalize from 'canonicalize';
import { decideIdempotency, type IdempotencyDecision } from '../domain/idempotency-decision.ts';
import { batchStatement } from '../repository/batched-statement.ts';
import {
  type Claim,
  completeRecords,
  forgetRecords,
  insertRecords,
  type KeyUse,
  loadRecords,
  releaseRecords,
  type StoredRecord,
  type Takeover,
  takeOverRecords,
} from '../repository/idempotency-records.ts';

export type { Claim, KeyUse } from '../repository/idempotency-records.ts';

export type ClaimVerdict =
  | { readonly kind: 'claimed'; readonly claim: Claim }
  | { readonly kind: 'replay'; readonly status: number; readonly body: string }
  | { readonly kind: 'reused' }
  | { readonly kind: 'in_progress' };

export interface Idempotency extends AsyncDisposable {
  claim(use: KeyUse): Promise<ClaimVerdict>;
  /** Never rejects for a failed write: the answer is true all the same, and the key is taken over later. */
  complete(claim: Claim, status: number, body: string): Promise<void>;
  forget(claim: Claim): Promise<void>;
  release(claim: Claim): Promise<void>;
}

/** After it the request fails before anything happened. */
const CLAIM_DEADLINE_MS = 5_000;
/** Enough for a record to be taken, refused and taken again under our eyes; then the key is plainly in use. */
const MAX_ROUNDS = 4;

export function createIdempotency(options: {
  database: Database;
  clock: Clock;
  logger: Logger;
  takeoverMs: number;
  retentionMs: number;
}): Idempotency {
  const { database, clock, logger } = options;

  const claims = batchStatement<KeyUse, ClaimVerdict>('claim', async (uses) => {
    await failpoint('gateway.claim.before-commit');
    // A lost connection leaves open whether the claims were committed; asking again finds our own.
    const verdicts = await claimAll(uses).catch((error: unknown) => {
      if (!isConnectionFailure(error)) throw error;
      return claimAll(uses);
    });
    await failpoint('gateway.claim.after-commit');
    return verdicts;
  });

  const claimAll = async (uses: readonly KeyUse[]): Promise<ClaimVerdict[]> => {
    const verdicts = new Map<KeyUse, ClaimVerdict>();
    let waiting = uses;
    for (let round = 0; waiting.length > 0 && round < MAX_ROUNDS; round += 1) {
      const now = clock();
      const firstUses = [...firstByRecord(waiting).values()];
      const inserted = await insertRecords(database, firstUses, now);
      for (const use of firstUses) {
        if (inserted.has(use.recordId)) verdicts.set(use, { kind: 'claimed', claim: { ...claimOf(use) } });
      }
      waiting = waiting.filter((use) => !verdicts.has(use));
      if (waiting.length > 0) await settleKnown(waiting, verdicts, now);
      waiting = waiting.filter((use) => !verdicts.has(use));
    }
    return uses.map((use) => verdicts.get(use) ?? { kind: 'in_progress' });
  };

  /** Decides the uses whose records exist. One use per record may take it over; the others are decided in the next round. */
  const settleKnown = async (
    uses: readonly KeyUse[],
    verdicts: Map<KeyUse, ClaimVerdict>,
    now: Date,
  ): Promise<void> => {
    const records = await loadRecords(database, [...new Set(uses.map((use) => use.recordId))]);
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
      database,
      [...takeovers.values()].map(({ takeover }) => takeover),
      now,
    );
    for (const [recordId, claim] of taken) {
      const use = takeovers.get(recordId)?.use;
      if (use !== undefined) verdicts.set(use, { kind: 'claimed', claim });
    }
  };

  const completions = batchStatement<{ claim: Claim; status: number; body: string }, undefined>(
    'complete',
    async (items) => {
      await failpoint('gateway.complete.before-commit');
      await completeRecords(database, items);
      await failpoint('gateway.complete.after-commit');
      return items.map(() => undefined);
    },
  );

  const forgets = batchStatement<Claim, undefined>('forget', async (items) => {
    await forgetRecords(database, items);
    return items.map(() => undefined);
  });

  const releases = batchStatement<Claim, undefined>('release', async (items) => {
    await releaseRecords(database, items);
    return items.map(() => undefined);
  });

  const attempt = async (what: string, claim: Claim, write: Promise<undefined>): Promise<void> => {
    try {
      await write;
    } catch (error) {
      if (error instanceof LostReplyError) throw error;
      logger.warn({ err: error, what, operationId: claim.operationId }, 'an idempotency record stays claimed');
    }
  };

  return {
    async claim(use) {
      try {
        return await claims.submit(use, { deadlineAt: Date.now() + CLAIM_DEADLINE_MS });
      } catch (error) {
        // The insert may have been committed. A key that did not get to run should not be in flight for a minute.
        await attempt('release', claimOf(use), releases.submit(claimOf(use)));
        throw error;
      }
    },
    complete: (claim, status, body) => attempt('complete', claim, completions.submit({ claim, status, body })),
    forget: (claim) => attempt('forget', claim, forgets.submit(claim)),
    release: (claim) => attempt('release', claim, releases.submit(claim)),
    async [Symbol.asyncDispose]() {
      await Promise.all([claims.drain(), completions.drain(), forgets.drain(), releases.drain()]);
    },
  };
}

/** The record of a key: one per tenant, endpoint and key. */
export function recordIdOf(
  tenant: { readonly programId: string; readonly environment: string },
  routeTemplate: string,
  key: string,
): string {
  return hashId('idempotency', tenant.programId, tenant.environment, routeTemplate, key);
}

/** What a key is bound to: the path parameters and the body, however its members are ordered or spaced. */
export function fingerprintOf(params: Readonly<Record<string, string>>, body: unknown): string {
  return hash('sha256', canonicalize([params, body]) ?? '');
}

function claimOf(use: KeyUse): Claim {
  return { recordId: use.recordId, operationId: use.operationId, generation: 0 };
}

function firstByRecord(uses: readonly KeyUse[]): Map<string, KeyUse> {
  const first = new Map<string, KeyUse>();
  for (const use of uses) if (!first.has(use.recordId)) first.set(use.recordId, use);
  return first;
}

/** Null: the use wants to take the record over. */
function verdictOf(decision: IdempotencyDecision, use: KeyUse, record: StoredRecord): ClaimVerdict | null {
  switch (decision.kind) {
    case 'own':
      return { kind: 'claimed', claim: { ...claimOf(use), generation: record.generation } };
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
