/** What the tournament service starts beside what every service starts (startRpcService). */
import {
  attemptStages,
  createAccountCache,
  createAttemptExpirer,
  createAttemptOpener,
  createAwardPayer,
  createDeleteOldKeyUses,
  createPendingResolver,
  DELETION_INTERVAL_MS,
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
import type { TournamentConfig } from './config.ts';
import { AWARDS, refundEvents } from './events.ts';
import { createAudit } from './handlers/audit.ts';
import { createOpenAttemptReads } from './handlers/find-open-attempts.ts';
import { createAttemptReservations } from './handlers/reserve-attempts.ts';
import { createOutcomeSettlements } from './handlers/settle-outcomes.ts';
import { bookEndedAttempts, bookingOfPurchases, lockEntrants } from './repository/entries.ts';
import { refundQueue } from './repository/refunds.ts';
import { ROUND_STAGES } from './repository/round-stages.ts';
import { tournamentRpcs } from './rpcs.ts';
import { createRoundCloser } from './workers/close-rounds.ts';
import { createRoundOpener } from './workers/open-rounds.ts';
import { createRoundSettler } from './workers/settle-rounds.ts';

interface ForTests {
  /** One run of every sweeper, in the order of an attempt's life; tests call it instead of waiting. */
  sweepOnce(): Promise<void>;
}

export type TournamentServer = RunningService & ForTests;

/** Starts the tournament service on a migrated database. Its clock is the database's time; tests pass a clock of their own. */
export function startTournament(
  config: TournamentConfig,
  logger: Logger,
  testClock?: Clock,
): Promise<TournamentServer> {
  const database = { url: config.TOURNAMENT_DATABASE_URL, maxConnections: config.TOURNAMENT_DATABASE_POOL };
  return startRpcService({ name: 'tournament', config, database, logger, testClock }, (foundation) =>
    startParts(config, foundation),
  );
}

/** When it ends, the calls are followed by their deferred writes. */
async function startParts(config: TournamentConfig, foundation: Foundation): Promise<ServiceParts<ForTests>> {
  const owner = await startOwner('tournament', config, foundation);
  const { database, outbox, clock, started } = owner;
  const attemptTtlMs = config.ATTEMPT_TTL_SECONDS * 1_000;
  const pendingGraceMs = config.PENDING_GRACE_SECONDS * 1_000;
  const deps = { ...owner, attemptTtlMs };

  const whenOpened = (attemptIds: readonly string[]) => bookingOfPurchases(attemptIds, clock());
  const opener = started.adopt(createAttemptOpener({ ...owner, whenOpened }), (it) => it.drain());
  const payer = started.adopt(createAwardPayer({ ...owner, awards: AWARDS }), (it) => it.drain());
  const resolver = createPendingResolver({ ...owner, opener, pendingGraceMs });
  const endings = { refunds: refundQueue, refundEvents, whenEnding: { lock: lockEntrants, ended: bookEndedAttempts } };
  const expirer = started.adopt(createAttemptExpirer<'round_closed'>({ ...deps, opener, resolver, ...endings }), (it) =>
    it.drain(),
  );
  const reservations = started.adopt(createAttemptReservations(owner), (it) => it.drain());
  const settlements = started.adopt(createOutcomeSettlements(deps), (it) => it.drain());
  const closer = createRoundCloser({ ...owner, resolver });
  const settler = createRoundSettler({ ...owner, payer, expirer });
  const openAttempts = started.adopt(createOpenAttemptReads(deps), (it) => it.drain());

  const stages = [...attemptStages({ awards: 'round_payouts', pendingGraceMs, attemptTtlMs }), ROUND_STAGES];
  const intervalMs = config.SWEEP_INTERVAL_MS;
  const workers = [
    { name: 'resolve-pending', intervalMs, runOnce: resolver.runOnce },
    { name: 'expire-attempts', intervalMs, runOnce: expirer.runOnce },
    { name: 'pay-awards', intervalMs, runOnce: payer.runOnce },
    { name: 'close-rounds', intervalMs, runOnce: closer.runOnce },
    { name: 'settle-rounds', intervalMs, runOnce: settler.runOnce },
    { name: 'open-rounds', intervalMs, runOnce: createRoundOpener(owner).runOnce },
    { name: 'relay-events', intervalMs, runOnce: outbox.runOnce },
    { name: 'delete-old-key-uses', intervalMs: DELETION_INTERVAL_MS, runOnce: createDeleteOldKeyUses(database) },
    createStageSampler(database, stages),
  ];
  const runAudit = createAudit(owner);
  const onPath = { accounts: createAccountCache(), opener, resolver, expirer, payer, awards: AWARDS, closer, settler };
  return {
    rpcs: tournamentRpcs({ ...deps, ...onPath, reservations, settlements, openAttempts, runAudit }),
    workers,
    audit: { intervalSeconds: config.AUDIT_INTERVAL_SECONDS, run: runAudit },
    forTests: { sweepOnce: () => runEach(workers, clock) },
  };
}
