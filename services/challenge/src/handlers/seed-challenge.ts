/**
 * SeedChallenge: a partner's percentiles set the bar of a calibrating challenge, which goes live in
 * the same commit.
 *
 * Steps, and what a crash after each of them leaves:
 *
 * 1. The gateway locks the idempotency key and mints the operation id, in one commit. A crash
 *    leaves the key locked; the partner's retry runs the same operation once the lock is 60 seconds
 *    old.
 * 2. This service locks the challenge, then the recorded use of the key, and decides. A crash
 *    leaves nothing.
 * 3. One durable commit writes the bar with its source and the status, the percentiles under the
 *    operation id, the start of the drift monitor, the row in the history, and the use of the key.
 *    A crash before the commit leaves nothing. A crash after the commit leaves a live challenge and
 *    nothing to do, but the partner has no response.
 * 4. The gateway stores the response. A crash before that leaves the key locked. The retry has the
 *    same operation id, by which this service finds the first result in `seeded_distributions`. If
 *    the gateway's record is lost, the retry has another operation id, and the recorded use of the
 *    key names the first operation.
 */
import {
  deleteIdempotencyUses,
  idempotencyRecordIdsOf,
  insertIdempotencyUses,
  lockIdempotencyUses,
  parseIdempotencyUse,
  resolveIdempotencyUses,
} from '@laurel/attempts';
import type { IdempotencyUse } from '@laurel/attempts/domain';
import { isRefused, type Refused } from '@laurel/errors';
import { type Handlers, parseId, parseTenant } from '@laurel/grpc';
import { type Database, isUniqueViolation, type Transaction } from '@laurel/postgres';
import type { ChallengeServiceService, SeedChallengeRequest, SeedChallengeResponse } from '@laurel/proto/challenge';
import type { Clock } from '@laurel/service';
import type { Challenge } from '../domain/challenge.ts';
import { decideSeeding, type Seeding, type SeedingDecision } from '../domain/seeding-decision.ts';
import { failpoint } from '../failpoints.ts';
import { findChallenge, lockChallenge, setBar } from '../repository/challenges.ts';
import { startMonitor } from '../repository/drift-monitors.ts';
import { findSeededByOperation, insertSeededDistribution } from '../repository/seeded-distributions.ts';
import { insertStatusChange } from '../repository/status-changes.ts';

type Deps = { readonly database: Database; readonly clock: Clock };
type SeedingOperation = Seeding & { readonly operationId: string; readonly idempotencyUse: IdempotencyUse | null };

const NO_DISTRIBUTION = { p5: Number.NaN, p25: Number.NaN, p50: Number.NaN, p75: Number.NaN, p95: Number.NaN };

export function seedChallenge(deps: Deps): Handlers<ChallengeServiceService>['seedChallenge'] {
  return async (request) => {
    const operation = parseOperation(request);
    try {
      return await seed(operation, deps);
    } catch (error) {
      // Another transaction recorded the key meanwhile, for another challenge, so the lock on this
      // challenge's row did not wait for that transaction. The recorded use can be found now.
      if (!isUniqueViolation(error, 'key_uses_pkey')) throw error;
      return await seed(operation, deps);
    }
  };
}

function parseOperation(request: SeedChallengeRequest): SeedingOperation {
  return {
    operationId: parseId(request.operationId),
    tenant: parseTenant(request.tenant),
    challengeId: parseId(request.challengeId),
    distribution: request.distribution ?? NO_DISTRIBUTION,
    sampleSize: request.sampleSize,
    idempotencyUse: parseIdempotencyUse(request.keyUse),
  };
}

async function seed(operation: SeedingOperation, { database, clock }: Deps): Promise<SeedChallengeResponse | Refused> {
  const answer = await database.transaction((tx) => decideAndRecord(tx, operation, clock), {
    beforeCommit: () => failpoint('challenge.seed.before-commit'),
  });
  await failpoint('challenge.seed.after-commit');
  return answer;
}

async function decideAndRecord(
  tx: Transaction,
  operation: SeedingOperation,
  clock: Clock,
): Promise<SeedChallengeResponse | Refused> {
  const { operationId, challengeId } = operation;
  // The statements are sent together and run in this order, so that all reads are under the lock on
  // the challenge. A concurrent repeat of this operation waits for the same lock.
  const [, challenge, ownSeeding, recorded] = await Promise.all([
    lockChallenge(tx, challengeId),
    findChallenge(tx, challengeId),
    findSeededByOperation(tx, operationId),
    lockIdempotencyUses(tx, idempotencyRecordIdsOf([operation])),
  ]);
  const [resolved] = resolveIdempotencyUses(
    [{ operationId, idempotencyUse: ownSeeding === null ? operation.idempotencyUse : null }],
    recorded,
  );
  if (resolved === undefined) throw new Error('a seeding was not resolved');
  if (isRefused(resolved)) return resolved;
  const known =
    resolved.operationId === operationId ? ownSeeding : await findSeededByOperation(tx, resolved.operationId);

  const decision = decideSeeding(operation, { challenge, known });
  if (isRefused(decision)) return decision;
  if (challenge === null) throw new Error('a seeded challenge does not exist');
  if (decision.kind === 'seeded') {
    const { record: idempotencyUse, supersedes } = resolved;
    if (supersedes) await deleteIdempotencyUses(tx, idempotencyRecordIdsOf([operation]));
    // Awaited before the commit is sent, because it throws for a challenge that takes no bar.
    await setBar(tx, { challengeId, threshold: decision.threshold, source: 'partner_seeded' });
    await recordSeeding(tx, { ...operation, idempotencyUse }, { threshold: decision.threshold, now: clock() });
  }
  return present(challenge, decision);
}

async function recordSeeding(
  tx: Transaction,
  operation: SeedingOperation,
  { threshold, now }: { readonly threshold: number; readonly now: Date },
): Promise<void> {
  const { operationId, challengeId, distribution, sampleSize, idempotencyUse } = operation;
  await tx.commitWith((last) =>
    Promise.all([
      startMonitor(last, challengeId, now),
      insertSeededDistribution(last, {
        challengeId,
        operationId,
        distribution,
        sampleSize,
        threshold,
        seededAt: now,
      }),
      insertStatusChange(last, {
        challengeId,
        changedAt: now,
        from: 'calibrating',
        to: 'live',
        cause: 'seeded',
        note: null,
        evidence: null,
      }),
      insertIdempotencyUses(last, idempotencyUse === null ? [] : [{ operationId, idempotencyUse }]),
    ]),
  );
}

function present(challenge: Challenge, decision: Exclude<SeedingDecision, Refused>): SeedChallengeResponse {
  return {
    challengeId: challenge.id,
    threshold: decision.threshold,
    targetPassRate: challenge.terms.targetPassRate,
    sampleSize: decision.sampleSize,
    repeated: decision.kind === 'repeated',
  };
}
