/**
 * The tournament service's wiring, in the order in which it starts. Disposing stops it in reverse: calls drain, then their delayed writes.
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
import { TournamentServiceService } from '@laurel/proto/tournament';
import { type Clock, type Logger, startAdminServer, startWorker } from '@laurel/service';
import { createSigner } from '@laurel/signature';
import { CALLERS } from './callers.ts';
import type { TournamentConfig } from './config.ts';
import { attemptsRefunded, awardReleased } from './events.ts';
import { audit, createAudit } from './handlers/audit.ts';
import { closeEntries } from './handlers/close-entries.ts';
import { closeRound } from './handlers/close-round.ts';
import { createAttempts } from './handlers/create-attempts.ts';
import { createTournament } from './handlers/create-tournament.ts';
import { denyAward } from './handlers/deny-award.ts';
import { expireAttempt } from './handlers/expire-attempt.ts';
import { createOpenAttemptReads, findOpenAttempts } from './handlers/find-open-attempts.ts';
import { getAttempt } from './handlers/get-attempt.ts';
import { getLeaderboard } from './handlers/get-leaderboard.ts';
import { getReceipt } from './handlers/get-receipt.ts';
import { getTournament } from './handlers/get-tournament.ts';
import { inspectAttempt } from './handlers/inspect-attempt.ts';
import { listSigningKeys } from './handlers/list-signing-keys.ts';
import { listStandings } from './handlers/list-standings.ts';
import { listTournaments } from './handlers/list-tournaments.ts';
import { openRound } from './handlers/open-round.ts';
import { releaseAward } from './handlers/release-award.ts';
import { reportOutcomes } from './handlers/report-outcomes.ts';
import { createAttemptReservations } from './handlers/reserve-attempts.ts';
import { createOutcomeSettlements } from './handlers/settle-outcomes.ts';
import { updateTournamentStatus } from './handlers/update-tournament-status.ts';
import { voidAttempt } from './handlers/void-attempt.ts';
import { findAttempt } from './repository/attempts.ts';
import { bookEndedAttempts, bookingOfPurchases, lockEntrants } from './repository/entries.ts';
import { type RoundAward, roundAwards } from './repository/payouts.ts';
import { loadRefundedAttempts, refundQueue } from './repository/refunds.ts';
import { ROUND_STAGES } from './repository/round-stages.ts';
import { createRoundCloser } from './workers/close-rounds.ts';
import { createRoundOpener } from './workers/open-rounds.ts';
import { createRoundSettler } from './workers/settle-rounds.ts';

export type TournamentServer = AsyncDisposable & {
  readonly port: number;
  readonly adminPort: number;
  /** One run of every sweeper, in the order of an attempt's life; tests call it instead of waiting. */
  sweepOnce(): Promise<void>;
};

/** Starts the tournament service on a migrated database. Its clock is the database's time; tests pass a clock of their own. */
export async function startTournament(
  config: TournamentConfig,
  logger: Logger,
  testClock?: Clock,
): Promise<TournamentServer> {
  await using starting = new AsyncDisposableStack();
  const identity = starting.use(await identityOf(config, logger));
  const database = starting.use(
    createDatabase({
      url: config.TOURNAMENT_DATABASE_URL,
      maxConnections: config.TOURNAMENT_DATABASE_POOL,
      applicationName: 'laurel-tournament',
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
      name: 'laurel-tournament',
      logger,
    }),
  );
  // Everything below may publish, and so stops before the outbox hands over its last events.
  const outbox = starting.use(
    createOutbox({
      owner: 'tournament',
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
  const attemptTtlMs = config.ATTEMPT_TTL_SECONDS * 1_000;
  const pendingGraceMs = config.PENDING_GRACE_SECONDS * 1_000;

  const awards: AwardTable<RoundAward> = {
    ...roundAwards,
    recordPayouts: async (on, payouts) => (await roundAwards.recordPayouts(on, payouts)).map(awardReleased),
  };
  const refundEvents: RefundEvents = async (on, refunds) => {
    const ids = refunds.map(({ attemptId }) => attemptId);
    return attemptsRefunded(refunds, await loadRefundedAttempts(on, ids));
  };

  const onPath = { owner: 'tournament', database, wallet, outbox, logger, clock } as const;
  const opener = starting.adopt(
    createAttemptOpener({ ...onPath, whenOpened: (attemptIds) => bookingOfPurchases(attemptIds, clock()) }),
    (it) => it.drain(),
  );
  const payer = starting.adopt(createAwardPayer({ ...onPath, awards }), (it) => it.drain());
  const resolver = createPendingResolver({ ...onPath, opener, pendingGraceMs });
  const expirer = starting.adopt(
    createAttemptExpirer<'round_closed'>({
      ...onPath,
      opener,
      resolver,
      refunds: refundQueue,
      refundEvents,
      attemptTtlMs,
      whenEnding: { lock: lockEntrants, ended: bookEndedAttempts },
    }),
    (it) => it.drain(),
  );
  const reservations = starting.adopt(createAttemptReservations({ database, clock }), (it) => it.drain());
  const settlements = starting.adopt(
    createOutcomeSettlements({ database, outbox, signer, signingKeyId, attemptTtlMs, clock }),
    (it) => it.drain(),
  );

  const closer = createRoundCloser({ database, resolver, clock });
  const settler = createRoundSettler({ database, outbox, payer, expirer, signer, signingKeyId, clock });
  const roundOpener = createRoundOpener({ database, clock });

  const runAudit = createAudit({ database, wallet });
  const openAttempts = starting.adopt(createOpenAttemptReads({ database, attemptTtlMs, clock }), (it) => it.drain());
  const loadAttempt = async (id: string) => (await findAttempt(database, id))?.attempt ?? null;
  const reads = { database, opener, resolver, expirer, attemptTtlMs, clock, loadAttempt };
  const service = implement(
    TournamentServiceService,
    {
      createAttempts: createAttempts({ database, wallet, accounts, opener, reservations, clock, logger }),
      reportOutcomes: reportOutcomes({ ...reads, settlements, logger }),
      findOpenAttempts: findOpenAttempts({ ...onPath, opener, resolver, reads: openAttempts }),
      getAttempt: getAttempt(reads),
      inspectAttempt: inspectAttempt({ database, opener, wallet }),
      voidAttempt: voidAttempt(reads),
      expireAttempt: expireAttempt(reads),
      releaseAward: releaseAward({ database, payer, awards }),
      denyAward: denyAward({ database, payer, awards }),
      listTournaments: listTournaments({ database }),
      createTournament: createTournament({ database, clock }),
      getTournament: getTournament({ database }),
      updateTournamentStatus: updateTournamentStatus({ database, clock }),
      openRound: openRound({ database, clock }),
      closeEntries: closeEntries({ database, clock }),
      closeRound: closeRound({ database, closer, settler, clock }),
      getLeaderboard: getLeaderboard({ database, wallet, opener, resolver, clock }),
      listStandings: listStandings({ database }),
      getReceipt: getReceipt({ database }),
      listSigningKeys: listSigningKeys({ database }),
      audit: audit(runAudit),
    },
    { logger, callers: CALLERS },
  );

  const stages = createStageSampler(database, [
    ...attemptStages({ awards: 'round_payouts', pendingGraceMs, attemptTtlMs }),
    ROUND_STAGES,
  ]);
  const sweepers = [
    { name: 'resolve-pending', runOnce: resolver.runOnce },
    { name: 'expire-attempts', runOnce: expirer.runOnce },
    { name: 'pay-awards', runOnce: payer.runOnce },
    { name: 'close-rounds', runOnce: closer.runOnce },
    { name: 'settle-rounds', runOnce: settler.runOnce },
    { name: 'open-rounds', runOnce: roundOpener.runOnce },
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
      for (const { runOnce } of sweepers) await runOnce(clock());
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
