/**
 * The challenge service's wiring, in the order in which it starts. Disposing stops it in reverse: calls drain, then their delayed writes.
 */

import {
  type AwardTable,
  attemptStages,
  connectWallet,
  createAccountCache,
  createAttemptExpirer,
  createAttemptOpener,
  createAwardPayer,
  createDeleteOldKeyUses,
  createPendingResolver,
  DELETION_INTERVAL_MS,
  EXTENSION_INTERVAL_MS,
  extendSigningKey,
  putSigningKey,
  type RefundEvents,
  refundsByStatus,
} from '@laurel/attempts';
import { connectEvents, createOutbox } from '@laurel/events';
import { identityOf, implement, startGrpcServer } from '@laurel/grpc';
import {
  createContinuousAudit,
  createDatabase,
  createStageSampler,
  SAMPLE_INTERVAL_MS,
  startDatabaseClock,
  verifyRunningRole,
} from '@laurel/postgres';
import { ChallengeServiceService } from '@laurel/proto/challenge';
import { type Clock, type Logger, startAdminServer, startWorker } from '@laurel/service';
import { createSigner } from '@laurel/signature';
import { CALLERS } from './callers.ts';
import type { ChallengeConfig } from './config.ts';
import type { Award } from './domain/challenge.ts';
import { eventsOfAwards, eventsOfRefunds } from './events.ts';
import { audit, createAudit } from './handlers/audit.ts';
import { createAttempts } from './handlers/create-attempts.ts';
import { createChallenge } from './handlers/create-challenge.ts';
import { denyAward } from './handlers/deny-award.ts';
import { expireAttempt } from './handlers/expire-attempt.ts';
import { createOpenAttemptReads, findOpenAttempts } from './handlers/find-open-attempts.ts';
import { getAttempt } from './handlers/get-attempt.ts';
import { getCalibration } from './handlers/get-calibration.ts';
import { getChallenge } from './handlers/get-challenge.ts';
import { getDrift } from './handlers/get-drift.ts';
import { getReceipt } from './handlers/get-receipt.ts';
import { inspectAttempt } from './handlers/inspect-attempt.ts';
import { listChallenges } from './handlers/list-challenges.ts';
import { listSigningKeys } from './handlers/list-signing-keys.ts';
import { recordListenedScores } from './handlers/record-listened-scores.ts';
import { releaseAward } from './handlers/release-award.ts';
import { reportOutcomes } from './handlers/report-outcomes.ts';
import { createAttemptReservations } from './handlers/reserve-attempts.ts';
import { seedChallenge } from './handlers/seed-challenge.ts';
import { createOutcomeSettlements } from './handlers/settle-outcomes.ts';
import { updateChallengeStatus } from './handlers/update-challenge-status.ts';
import { voidAttempt } from './handlers/void-attempt.ts';
import { createAttemptCache } from './repository/attempt-cache.ts';
import { findAttempt, loadAttemptsWithTerms } from './repository/attempts.ts';
import * as awardRows from './repository/awards.ts';
import { createChallengeMonitor } from './workers/monitor-challenges.ts';

export type ChallengeServer = AsyncDisposable & {
  readonly port: number;
  readonly adminPort: number;
  /** Flushes delayed writes, then runs every sweeper once, in the order of an attempt's life; tests call it instead of waiting. */
  sweepOnce(): Promise<void>;
};

/** Starts the challenge service on a migrated database. Its clock is the database's time; tests pass a clock of their own. */
export async function startChallenge(
  config: ChallengeConfig,
  logger: Logger,
  testClock?: Clock,
): Promise<ChallengeServer> {
  await using starting = new AsyncDisposableStack();
  const identity = starting.use(await identityOf(config, logger));
  const database = starting.use(
    createDatabase({
      url: config.CHALLENGE_DATABASE_URL,
      maxConnections: config.CHALLENGE_DATABASE_POOL,
      applicationName: 'laurel-challenge',
    }),
  );
  const isPrivilegedAllowed = config.ALLOW_PRIVILEGED_DATABASE_ROLE;
  starting.use(await verifyRunningRole(database, { isPrivilegedAllowed, logger }));
  const databaseClock = starting.use(await startDatabaseClock({ database, logger }));
  const clock = testClock ?? databaseClock.now;
  const wallet = starting.use(connectWallet(config.WALLET_ADDRESS, identity));
  const stream = starting.use(
    connectEvents({
      url: config.NATS_URL,
      caFile: config.NATS_CA_FILE,
      prefix: config.EVENTS_PREFIX,
      name: 'laurel-challenge',
      logger,
    }),
  );
  // Everything below may publish, so it stops before the outbox hands over its last events.
  const outbox = starting.use(
    createOutbox({
      owner: 'challenge',
      database,
      stream,
      logger,
      republishAfterMs: config.OUTBOX_REPUBLISH_AFTER_MS,
    }),
  );
  const signer = createSigner(config.RECEIPT_SIGNING_SEED);
  const signingKeyId = await putSigningKey(database, signer.publicKey);
  starting.use(
    startWorker({
      name: 'extend-signing-key',
      intervalMs: EXTENSION_INTERVAL_MS,
      runOnce: () => extendSigningKey(database, signingKeyId),
      logger,
      clock,
    }),
  );
  const accounts = createAccountCache();
  const attempts = createAttemptCache();
  const attemptTtlMs = config.ATTEMPT_TTL_SECONDS * 1_000;
  const pendingGraceMs = config.PENDING_GRACE_SECONDS * 1_000;
  const ceilings = config.TIER_CEILINGS;

  const awards: AwardTable<Award> = {
    ...awardRows,
    recordPayouts: async (on, payouts) => eventsOfAwards(await awardRows.recordPayouts(on, payouts)),
  };
  const refundEvents: RefundEvents = async (on, refunds) => {
    const ids = refunds.map(({ attemptId }) => attemptId);
    return eventsOfRefunds(refunds, await loadAttemptsWithTerms(on, ids));
  };

  const onPath = { owner: 'challenge', database, wallet, outbox, logger, clock } as const;
  const opener = starting.adopt(createAttemptOpener(onPath), (it) => it.drain());
  const payer = starting.adopt(createAwardPayer({ ...onPath, awards }), (it) => it.drain());
  const resolver = createPendingResolver({ ...onPath, opener, pendingGraceMs });
  const expirer = starting.adopt(
    createAttemptExpirer({ ...onPath, opener, resolver, refunds: refundsByStatus, refundEvents, attemptTtlMs }),
    (it) => it.drain(),
  );
  const reservations = starting.adopt(createAttemptReservations({ database, ceilings, clock }), (it) => it.drain());
  const monitor = starting.use(createChallengeMonitor({ database, outbox, logger, ceilings, clock }));
  const settlements = starting.adopt(
    createOutcomeSettlements({
      database,
      signer,
      signingKeyId,
      attempts,
      opener,
      outbox,
      monitor,
      attemptTtlMs,
      clock,
    }),
    (it) => it.drain(),
  );

  const runAudit = createAudit({ database, wallet, ceilings });
  const money = { database, wallet, accounts, opener, ceilings, clock };
  const openAttempts = starting.adopt(createOpenAttemptReads({ database, attemptTtlMs, clock }), (it) => it.drain());
  const loadAttempt = async (id: string) => (await findAttempt(database, id))?.attempt ?? null;
  const reads = { database, opener, resolver, expirer, payer, attemptTtlMs, clock, loadAttempt };
  const service = implement(
    ChallengeServiceService,
    {
      createAttempts: createAttempts({ ...money, reservations, attempts, logger }),
      reportOutcomes: reportOutcomes({ ...reads, settlements, wallet, logger }),
      findOpenAttempts: findOpenAttempts({ ...onPath, opener, resolver, reads: openAttempts }),
      getAttempt: getAttempt(reads),
      listChallenges: listChallenges(money),
      createChallenge: createChallenge({ database, ceilings, clock }),
      getChallenge: getChallenge({ database, ceilings }),
      updateChallengeStatus: updateChallengeStatus({ database, outbox, ceilings, clock }),
      seedChallenge: seedChallenge({ database, clock }),
      recordListenedScores: recordListenedScores({ database, wallet, clock }),
      getCalibration: getCalibration({ database, ceilings }),
      getDrift: getDrift({ database, ceilings, clock }),
      inspectAttempt: inspectAttempt({ database, opener, wallet }),
      voidAttempt: voidAttempt(reads),
      expireAttempt: expireAttempt(reads),
      getReceipt: getReceipt({ database }),
      listSigningKeys: listSigningKeys({ database }),
      releaseAward: releaseAward({ database, payer, awards }),
      denyAward: denyAward({ database, payer, awards }),
      audit: audit(runAudit),
    },
    { logger, callers: CALLERS },
  );

  const stages = createStageSampler(database, attemptStages({ awards: 'awards', pendingGraceMs, attemptTtlMs }));
  const sweepers = [
    { name: 'resolve-pending', runOnce: resolver.runOnce },
    { name: 'expire-attempts', runOnce: expirer.runOnce },
    { name: 'pay-awards', runOnce: payer.runOnce },
    { name: 'monitor-challenges', runOnce: monitor.runOnce },
    { name: 'relay-events', runOnce: outbox.runOnce },
    { name: 'delete-old-key-uses', runOnce: createDeleteOldKeyUses(database), intervalMs: DELETION_INTERVAL_MS },
    { name: 'sample-stages', runOnce: stages.runOnce, intervalMs: SAMPLE_INTERVAL_MS },
  ];
  for (const sweeper of sweepers) {
    starting.use(startWorker({ intervalMs: config.SWEEP_INTERVAL_MS, ...sweeper, logger, clock }));
  }

  const auditIntervalMs = config.AUDIT_INTERVAL_SECONDS * 1_000;
  const auditor = createContinuousAudit({ database, intervalMs: auditIntervalMs, run: runAudit, logger });
  starting.use(startWorker({ name: 'audit', intervalMs: auditor.pollMs, runOnce: auditor.runOnce, logger, clock }));
  // Its worker waits for the run under way, so that run is ended first.
  starting.use(auditor);

  const grpc = starting.use(
    await startGrpcServer({ host: config.GRPC_HOST, port: config.GRPC_PORT, services: [service], identity, logger }),
  );
  const admin = starting.use(
    await startAdminServer({
      host: config.ADMIN_HOST,
      port: config.ADMIN_PORT,
      isReady: async () => databaseClock.isKnown() && (await database.isReachable()),
    }),
  );

  const running = starting.move();
  return {
    port: grpc.port,
    adminPort: admin.port,
    async sweepOnce() {
      await opener.drain();
      for (const { runOnce } of sweepers) await runOnce(clock());
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
