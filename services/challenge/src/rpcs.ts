/** Each rpc of the challenge service, with its handler and what the handlers need. */
import type {
  AccountCache,
  AttemptExpirer,
  AttemptOpener,
  AwardPayer,
  AwardTable,
  CandidateReads,
  OwnerFoundation,
  PendingResolver,
} from '@laurel/attempts';
import { implement, type ServiceImplementation } from '@laurel/grpc';
import { ChallengeServiceService } from '@laurel/proto/challenge';
import { CALLERS } from './callers.ts';
import type { ChallengeConfig } from './config.ts';
import type { Award, Challenge } from './domain/challenge.ts';
import { audit, type RunAudit } from './handlers/audit.ts';
import { createAttempts } from './handlers/create-attempts.ts';
import { createChallenge } from './handlers/create-challenge.ts';
import { denyAward } from './handlers/deny-award.ts';
import { expireAttempt } from './handlers/expire-attempt.ts';
import { findOpenAttempts } from './handlers/find-open-attempts.ts';
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
import type { AttemptReservations } from './handlers/reserve-attempts.ts';
import { seedChallenge } from './handlers/seed-challenge.ts';
import type { OutcomeSettlements } from './handlers/settle-outcomes.ts';
import { updateChallengeStatus } from './handlers/update-challenge-status.ts';
import { voidAttempt } from './handlers/void-attempt.ts';
import type { AttemptCache } from './repository/attempt-cache.ts';
import { findAttempt } from './repository/attempts.ts';

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

export function challengeRpcs({ openAttempts, runAudit, ...rest }: Deps): ServiceImplementation {
  const { database } = rest;
  const deps = { ...rest, loadAttempt: async (id: string) => (await findAttempt(database, id))?.attempt ?? null };
  return implement(
    ChallengeServiceService,
    {
      createAttempts: createAttempts(deps),
      reportOutcomes: reportOutcomes(deps),
      findOpenAttempts: findOpenAttempts({ ...deps, reads: openAttempts }),
      getAttempt: getAttempt(deps),
      listChallenges: listChallenges(deps),
      createChallenge: createChallenge(deps),
      getChallenge: getChallenge(deps),
      updateChallengeStatus: updateChallengeStatus(deps),
      seedChallenge: seedChallenge(deps),
      recordListenedScores: recordListenedScores(deps),
      getCalibration: getCalibration(deps),
      getDrift: getDrift(deps),
      inspectAttempt: inspectAttempt(deps),
      voidAttempt: voidAttempt(deps),
      expireAttempt: expireAttempt(deps),
      getReceipt: getReceipt(deps),
      listSigningKeys: listSigningKeys(deps),
      releaseAward: releaseAward(deps),
      denyAward: denyAward(deps),
      audit: audit(runAudit),
    },
    { logger: deps.logger, callers: CALLERS },
  );
}
