/** What the tournament service starts besides what every service starts (startRpcService). */
import { startAttempts, startContestService } from '@laurel/attempts';
import {
  type Clock,
  type Foundation,
  type Logger,
  type RunningService,
  runEach,
  type ServiceParts,
  type SharedProcess,
  startRpcService,
} from '@laurel/service';
import type { TournamentConfig } from './config.ts';
import { roundContest } from './contest.ts';
import { createAudit, createContinuousAudit } from './handlers/audit.ts';
import { ROUND_STAGES } from './repository/round-stages.ts';
import { tournamentRpcs } from './rpcs.ts';
import { createRoundCloser } from './workers/close-rounds.ts';
import { createRoundOpener } from './workers/open-rounds.ts';
import { createRoundSettler } from './workers/settle-rounds.ts';

interface ForTests {
  /**
   * Runs every sweeper once, in the order of an attempt's life; tests call it instead of waiting.
   */
  sweepOnce(): Promise<void>;
}

export type TournamentServer = RunningService & ForTests;

/**
 * Starts the tournament service on a migrated database. It reads the time from the database; tests
 * pass their own clock.
 */
export function startTournament(
  config: TournamentConfig,
  logger: Logger,
  testClock?: Clock,
  shared?: SharedProcess,
): Promise<TournamentServer> {
  const database = { url: config.TOURNAMENT_DATABASE_URL, maxConnections: config.TOURNAMENT_DATABASE_POOL };
  return startRpcService({ name: 'tournament', config, database, logger, testClock, shared }, (foundation) =>
    startParts(config, foundation),
  );
}

async function startParts(config: TournamentConfig, foundation: Foundation): Promise<ServiceParts<ForTests>> {
  const service = await startContestService('tournament', config, foundation);
  const attemptTtlMs = config.ATTEMPT_TTL_SECONDS * 1_000;
  const attempts = startAttempts(roundContest({ ...service, attemptTtlMs }), config, service);
  const closer = createRoundCloser({ ...service, ...attempts });
  const settler = createRoundSettler({ ...service, ...attempts });
  const opener = createRoundOpener(service);

  const intervalMs = config.SWEEP_INTERVAL_MS;
  const ofRounds = [
    { name: 'close-rounds', intervalMs, runOnce: closer.runOnce },
    { name: 'settle-rounds', intervalMs, runOnce: settler.runOnce },
    { name: 'open-rounds', intervalMs, runOnce: opener.runOnce },
  ];
  const workers = attempts.workersWith(ofRounds, [ROUND_STAGES]);
  const runAudit = createAudit(service);
  return {
    rpcs: tournamentRpcs({ ...service, attempts, closer, settler, runAudit }),
    workers,
    audit: { intervalSeconds: config.AUDIT_INTERVAL_SECONDS, ...createContinuousAudit(service) },
    forTests: { sweepOnce: () => runEach(workers, service.clock) },
  };
}
