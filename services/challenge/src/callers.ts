/** Which service may call which rpc of the challenge service: the gateway all but two, and the integration service what settles a report or calibrates. */
import type { AcceptedCallers } from '@laurel/grpc';
import type { AttemptServiceService } from '@laurel/proto/attempts';
import type { ChallengeServiceService } from '@laurel/proto/challenge';

const GATEWAY = ['gateway'] as const;

export const CALLERS: AcceptedCallers<ChallengeServiceService> = {
  createAttempts: GATEWAY,
  reportOutcomes: [...GATEWAY, 'integration'],
  findOpenAttempts: ['integration'],
  getAttempt: GATEWAY,
  listChallenges: GATEWAY,
  createChallenge: GATEWAY,
  getChallenge: GATEWAY,
  updateChallengeStatus: GATEWAY,
  seedChallenge: GATEWAY,
  recordListenedScores: ['integration'],
  getCalibration: GATEWAY,
  getDrift: GATEWAY,
  inspectAttempt: GATEWAY,
  voidAttempt: GATEWAY,
  expireAttempt: GATEWAY,
  getReceipt: GATEWAY,
  listSigningKeys: GATEWAY,
  releaseAward: GATEWAY,
  denyAward: GATEWAY,
  audit: GATEWAY,
};

export const ATTEMPT_CALLERS: AcceptedCallers<AttemptServiceService> = GATEWAY;
