/**
 * Starts the challenge service: what startRpcService starts for every service, and this service's
 * own parts.
 */
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
import type { ChallengeConfig } from './config.ts';
import { challengeContest } from './contest.ts';
import { createAudit, createContinuousAudit } from './handlers/audit.ts';
import { createAttemptCache } from './repository/attempt-cache.ts';
import { challengeRpcs } from './rpcs.ts';
import { createFreeSlots } from './workers/free-slots.ts';
import { createChallengeMonitor } from './workers/monitor-challenges.ts';

interface ForTests {
  /**
   * Writes what was delayed, then runs every sweeper once, in the order of an attempt's life. Tests
   * call this instead of waiting.
   */
  sweepOnce(): Promise<void>;
}

export type ChallengeServer = RunningService & ForTests;

/**
 * Starts the challenge service on a migrated database. The service's clock is the database's time;
 * tests pass another clock.
 */
export function startChallenge(
  config: ChallengeConfig,
  logger: Logger,
  testClock?: Clock,
  shared?: SharedProcess,
): Promise<ChallengeServer> {
  const database = { url: config.CHALLENGE_DATABASE_URL, maxConnections: config.CHALLENGE_DATABASE_POOL };
  return startRpcService({ name: 'challenge', config, database, logger, testClock, shared }, (foundation) =>
    startParts(config, foundation),
  );
}

async function startParts(config: ChallengeConfig, foundation: Foundation): Promise<ServiceParts<ForTests>> {
  const service = await startContestService('challenge', config, foundation);
  const attemptTtlMs = config.ATTEMPT_TTL_SECONDS * 1_000;
  const deps = { ...service, attemptTtlMs, ceilings: config.TIER_CEILINGS };
  const monitor = service.started.use(createChallengeMonitor(deps));
  const contest = challengeContest({ ...deps, attempts: createAttemptCache(), monitor });
  const attempts = startAttempts(contest, config, service);

  const intervalMs = config.SWEEP_INTERVAL_MS;
  const workers = attempts.workersWith([
    { name: 'monitor-challenges', intervalMs, runOnce: monitor.runOnce },
    { name: 'free-slots', intervalMs, runOnce: createFreeSlots(deps) },
  ]);
  const runAudit = createAudit(deps);
  return {
    rpcs: challengeRpcs({ ...deps, accounts: attempts.accounts, attempts, runAudit }),
    workers,
    audit: { intervalSeconds: config.AUDIT_INTERVAL_SECONDS, ...createContinuousAudit(deps) },
    forTests: {
      async sweepOnce() {
        await attempts.opener.drain();
        await runEach(workers, service.clock);
      },
    },
  };
}
