/** Each rpc of the challenge service, with its handler and what the handlers need. */
import {
  type AccountCache,
  type AttemptExpirer,
  type AttemptOpener,
  type AwardPayer,
  type AwardTable,
  attemptHandlers,
  type CandidateReads,
  type OwnerFoundation,
  type PendingResolver,
  previousRpcs,
} from '@laurel/attempts';
import { implement, type ServiceImplementation } from '@laurel/grpc';
import { AttemptServiceService } from '@laurel/proto/attempts';
import { ChallengeServiceService } from '@laurel/proto/challenge';
import { ATTEMPT_CALLERS, CALLERS } from './callers.ts';
import type { ChallengeConfig } from './config.ts';
import { challengeContest } from './contest.ts';
import type { Award, Challenge } from './domain/challenge.ts';
import { audit, type RunAudit } from './handlers/audit.ts';
import { createAttempts } from './handlers/create-attempts.ts';
import { createChallenge } from './handlers/create-challenge.ts';
import { findOpenAttempts } from './handlers/find-open-attempts.ts';
import { getCalibration } from './handlers/get-calibration.ts';
import { getChallenge } from './handlers/get-challenge.ts';
import { getDrift } from './handlers/get-drift.ts';
import { getReceipt } from './handlers/get-receipt.ts';
import { listChallenges } from './handlers/list-challenges.ts';
import { recordListenedScores } from './handlers/record-listened-scores.ts';
import { reportOutcomes } from './handlers/report-outcomes.ts';
import type { AttemptReservations } from './handlers/reserve-attempts.ts';
import { seedChallenge } from './handlers/seed-challenge.ts';
import type { OutcomeSettlements } from './handlers/settle-outcomes.ts';
import { updateChallengeStatus } from './handlers/update-challenge-status.ts';
import type { AttemptCache } from './repository/attempt-cache.ts';

type Deps = Pick<OwnerFoundation<'challenge'>, 'owner' | 'database' | 'wallet' | 'outbox' | 'clock' | 'logger'> & {
  readonly ceilings: ChallengeConfig['TIER_CEILINGS'];
  readonly attemptTtlMs: number;
  readonly accounts: AccountCache;
  readonly attempts: AttemptCache;
  readonly opener: AttemptOpener;
  readonly resolver: PendingResolver;
  readonly expirer: AttemptExpirer;
  readonly payer: AwardPayer<Award>;
  readonly awards: AwardTable<Award>;
  readonly reservations: AttemptReservations;
  readonly settlements: OutcomeSettlements;
  readonly openAttempts: CandidateReads<Challenge>;
  readonly runAudit: RunAudit;
};

export function challengeRpcs({ openAttempts, runAudit, ...rest }: Deps): readonly ServiceImplementation[] {
  const contest = challengeContest(rest);
  const loadAttempt = async (id: string) => (await contest.findAttempt(id))?.attempt ?? null;
  const deps = { ...rest, contest, loadAttempt };
  const attempts = attemptHandlers(deps);
  const own = {
    ...previousRpcs(attempts, 'challengeId'),
    createAttempts: createAttempts(deps),
    reportOutcomes: reportOutcomes(deps),
    findOpenAttempts: findOpenAttempts({ ...deps, reads: openAttempts }),
    listChallenges: listChallenges(deps),
    createChallenge: createChallenge(deps),
    getChallenge: getChallenge(deps),
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
    implement(AttemptServiceService, attempts, { logger, callers: ATTEMPT_CALLERS }),
    implement(ChallengeServiceService, own, { logger, callers: CALLERS }),
  ];
}
