/** What the challenge service starts beside what every service starts (startRpcService). */
import {
  attemptStages,
  createAccountCache,
  createAttemptExpirer,
  createAttemptOpener,
  createAwardPayer,
  createDeleteOldKeyUses,
  createPendingResolver,
  DELETION_INTERVAL_MS,
  refundsByStatus,
  startOwner,
} from '@laurel/attempts';
import { createStageSampler } from '@laurel/postgres';
import {
  type Clock,
  type Foundation,
  type Logger,
  type RunningService,
  runEach,
  type ServiceParts,
  startRpcService,
} from '@laurel/service';
import type { ChallengeConfig } from './config.ts';
import { AWARDS, refundEvents } from './events.ts';
import { createAudit } from './handlers/audit.ts';
import { createOpenAttemptReads } from './handlers/find-open-attempts.ts';
import { createAttemptReservations } from './handlers/reserve-attempts.ts';
import { createOutcomeSettlements } from './handlers/settle-outcomes.ts';
import { createAttemptCache } from './repository/attempt-cache.ts';
import { challengeRpcs } from './rpcs.ts';
import { createChallengeMonitor } from './workers/monitor-challenges.ts';

interface ForTests {
  /** Flushes delayed writes, then runs every sweeper once, in the order of an attempt's life; tests call it instead of waiting. */
  sweepOnce(): Promise<void>;
}

export type ChallengeServer = RunningService & ForTests;

/** Starts the challenge service on a migrated database. Its clock is the database's time; tests pass a clock of their own. */
export function startChallenge(config: ChallengeConfig, logger: Logger, testClock?: Clock): Promise<ChallengeServer> {
  const database = { url: config.CHALLENGE_DATABASE_URL, maxConnections: config.CHALLENGE_DATABASE_POOL };
  return startRpcService({ name: 'challenge', config, database, logger, testClock }, (foundation) =>
    startParts(config, foundation),
  );
}

/** When it ends, the calls are followed by their deferred writes. */
async function startParts(config: ChallengeConfig, foundation: Foundation): Promise<ServiceParts<ForTests>> {
  const owner = await startOwner('challenge', config, foundation);
  const { database, outbox, clock, started } = owner;
  const attemptTtlMs = config.ATTEMPT_TTL_SECONDS * 1_000;
  const pendingGraceMs = config.PENDING_GRACE_SECONDS * 1_000;
  const deps = { ...owner, attempts: createAttemptCache(), attemptTtlMs, ceilings: config.TIER_CEILINGS };

  const opener = started.adopt(createAttemptOpener(owner), (it) => it.drain());
  const payer = started.adopt(createAwardPayer({ ...owner, awards: AWARDS }), (it) => it.drain());
  const resolver = createPendingResolver({ ...owner, opener, pendingGraceMs });
  const expirer = started.adopt(
    createAttemptExpirer({ ...deps, opener, resolver, refunds: refundsByStatus, refundEvents }),
    (it) => it.drain(),
  );
  const reservations = started.adopt(createAttemptReservations(deps), (it) => it.drain());
  const monitor = started.use(createChallengeMonitor(deps));
  const settlements = started.adopt(createOutcomeSettlements({ ...deps, opener, monitor }), (it) => it.drain());
  const openAttempts = started.adopt(createOpenAttemptReads(deps), (it) => it.drain());

  const intervalMs = config.SWEEP_INTERVAL_MS;
  const deleteKeyUses = createDeleteOldKeyUses(database);
  const workers = [
    { name: 'resolve-pending', intervalMs, runOnce: resolver.runOnce },
    { name: 'expire-attempts', intervalMs, runOnce: expirer.runOnce },
    { name: 'pay-awards', intervalMs, runOnce: payer.runOnce },
    { name: 'monitor-challenges', intervalMs, runOnce: monitor.runOnce },
    { name: 'relay-events', intervalMs, runOnce: outbox.runOnce },
    { name: 'delete-old-key-uses', intervalMs: DELETION_INTERVAL_MS, runOnce: deleteKeyUses },
    createStageSampler(database, attemptStages({ awards: 'awards', pendingGraceMs, attemptTtlMs })),
  ];
  const runAudit = createAudit(deps);
  const onPath = { accounts: createAccountCache(), opener, resolver, expirer, payer, awards: AWARDS };
  return {
    rpcs: challengeRpcs({ ...deps, ...onPath, reservations, settlements, openAttempts, runAudit }),
    workers,
    audit: { intervalSeconds: config.AUDIT_INTERVAL_SECONDS, run: runAudit },
    forTests: {
      async sweepOnce() {
        await opener.drain();
        await runEach(workers, clock);
      },
    },
  };
}
