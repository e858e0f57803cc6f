/** The rpcs of the challenge service, with their handlers and what the handlers need. */
import { type AccountCache, ATTEMPT_CALLERS, type StartedAttempts, type Wallet } from '@laurel/attempts';
import type { Outbox } from '@laurel/events';
import { implement, type ServiceImplementation } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import { AttemptServiceService } from '@laurel/proto/attempts';
import { ChallengeServiceService } from '@laurel/proto/challenge';
import type { Clock, Logger } from '@laurel/service';
import { CALLERS } from './callers.ts';
import type { TierCeilings } from './domain/tier-ceiling.ts';
import { audit, type RunAudit } from './handlers/audit.ts';
import { createChallenge } from './handlers/create-challenge.ts';
import { getCalibration } from './handlers/get-calibration.ts';
import { getChallenge } from './handlers/get-challenge.ts';
import { getChallengeStatistics } from './handlers/get-challenge-statistics.ts';
import { getDrift } from './handlers/get-drift.ts';
import { getProgramChallenge } from './handlers/get-program-challenge.ts';
import { getReceipt } from './handlers/get-receipt.ts';
import { listChallenges } from './handlers/list-challenges.ts';
import { listProgramChallenges } from './handlers/list-program-challenges.ts';
import { recordListenedScores } from './handlers/record-listened-scores.ts';
import { seedChallenge } from './handlers/seed-challenge.ts';
import { updateChallengeStatus } from './handlers/update-challenge-status.ts';

type Deps = {
  readonly attempts: StartedAttempts;
  readonly accounts: AccountCache;
  readonly database: Database;
  readonly wallet: Wallet;
  readonly outbox: Outbox;
  readonly ceilings: TierCeilings;
  readonly runAudit: RunAudit;
  readonly clock: Clock;
  readonly logger: Logger;
};

export function challengeRpcs({ attempts, runAudit, ...deps }: Deps): readonly ServiceImplementation[] {
  const own = {
    listChallenges: listChallenges(deps),
    createChallenge: createChallenge(deps),
    getChallenge: getChallenge(deps),
    listProgramChallenges: listProgramChallenges(deps),
    getProgramChallenge: getProgramChallenge(deps),
    getChallengeStatistics: getChallengeStatistics(deps),
    updateChallengeStatus: updateChallengeStatus(deps),
    seedChallenge: seedChallenge(deps),
    recordListenedScores: recordListenedScores(deps),
    getCalibration: getCalibration(deps),
    getDrift: getDrift(deps),
    getReceipt: getReceipt(deps),
    audit: audit(runAudit),
  };
  const { logger } = deps;
  return [
    implement(AttemptServiceService, attempts.rpcs, { logger, callers: ATTEMPT_CALLERS }),
    implement(ChallengeServiceService, own, { logger, callers: CALLERS }),
  ];
}
