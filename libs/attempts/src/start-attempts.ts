/**
 * Starts the parts of a contest service that deal with attempts: the steps of an attempt, the
 * sweeps that repair interrupted steps, and the rpcs of AttemptService. When the service stops, it
 * ends the calls first and then the writes that these calls deferred.
 */
import type { Handlers } from '@laurel/grpc';
import { type BoundStatement, createStageSampler } from '@laurel/postgres';
import type { AttemptServiceService } from '@laurel/proto/attempts';
import type { Worker } from '@laurel/service';
import type { ContestServiceName } from '@laurel/values/ids';
import { type AccountCache, createAccountCache } from './account-cache.ts';
import type { Contest } from './contest.ts';
import { attemptHandlers } from './handlers/index.ts';
import { attemptStages } from './repository/stages.ts';
import type { ContestServiceFoundation } from './start-contest-service.ts';
import { createCandidateReadBatches } from './steps/find-open-attempts.ts';
import { type AttemptOpener, createAttemptOpener } from './steps/open-attempts.ts';
import { type AwardPayer, createAwardPayer } from './steps/pay-awards.ts';
import { createDeleteOldIdempotencyUses, DELETION_INTERVAL_MS } from './sweeps/delete-old-idempotency-uses.ts';
import { type AttemptExpirer, createAttemptExpirer } from './sweeps/expire-attempts.ts';
import { createPendingResolver, type PendingResolver } from './sweeps/resolve-pending.ts';

/** The settings that settings.ts parses. */
export interface AttemptSettings {
  readonly ATTEMPT_TTL_SECONDS: number;
  readonly PENDING_GRACE_SECONDS: number;
  readonly SWEEP_INTERVAL_MS: number;
}

export interface StartedAttempts {
  readonly accounts: AccountCache;
  readonly opener: AttemptOpener;
  readonly resolver: PendingResolver;
  readonly expirer: AttemptExpirer;
  readonly payer: AwardPayer;
  readonly rpcs: Handlers<AttemptServiceService>;
  /**
   * All workers of the service, in the order of an attempt's life: sweeps of attempts, then `own`,
   * then the relay of events.
   */
  workersWith(own: readonly Worker[], stages?: readonly BoundStatement[]): readonly Worker[];
}

export function startAttempts(
  contest: Contest,
  config: AttemptSettings,
  foundation: ContestServiceFoundation<ContestServiceName>,
): StartedAttempts {
  const { contestService, database, outbox, started } = foundation;
  const attemptTtlMs = config.ATTEMPT_TTL_SECONDS * 1_000;
  const pendingGraceMs = config.PENDING_GRACE_SECONDS * 1_000;
  const intervalMs = config.SWEEP_INTERVAL_MS;
  const deps = { ...foundation, contest, awards: contest.awards, attemptTtlMs, pendingGraceMs };

  const opener = started.adopt(createAttemptOpener({ ...deps, whenOpened: contest.whenOpened ?? null }), (it) =>
    it.drain(),
  );
  const payer = started.adopt(createAwardPayer(deps), (it) => it.drain());
  const resolver = createPendingResolver({ ...deps, opener });
  const expirer = started.adopt(createAttemptExpirer({ ...deps, opener, resolver }), (it) => it.drain());
  started.adopt(contest, (it) => it.drain());
  const candidates = started.adopt(createCandidateReadBatches(deps), (it) => it.drain());

  const loadAttempt = async (id: string) => (await contest.findAttempt(id))?.attempt ?? null;
  const accounts = createAccountCache();
  const awards = contestService === 'challenge' ? 'awards' : 'round_payouts';
  const onPath = { accounts, opener, payer, resolver, expirer, candidates, loadAttempt };
  return {
    accounts,
    opener,
    resolver,
    expirer,
    payer,
    rpcs: attemptHandlers({ ...deps, ...onPath }),
    workersWith: (own, stages = []) => [
      { name: 'resolve-pending', intervalMs, runOnce: resolver.runOnce },
      { name: 'expire-attempts', intervalMs, runOnce: expirer.runOnce },
      { name: 'pay-awards', intervalMs, runOnce: payer.runOnce },
      ...own,
      { name: 'relay-events', intervalMs, runOnce: outbox.runOnce },
      {
        name: 'delete-old-key-uses',
        intervalMs: DELETION_INTERVAL_MS,
        runOnce: createDeleteOldIdempotencyUses(database),
      },
      createStageSampler(database, [...attemptStages({ awards, pendingGraceMs, attemptTtlMs }), ...stages]),
    ],
  };
}
