/**
 * Which service may call which rpc of the challenge service. The gateway may call all but one, the
 * integration service those that calibrate.
 */
import { ATTEMPT_CALLERS } from '@laurel/attempts';
import type { AcceptedCallers } from '@laurel/grpc';
import type { ChallengeServiceService } from '@laurel/proto/challenge';

const GATEWAY = ['gateway'] as const;

export const CALLERS: AcceptedCallers<ChallengeServiceService> = {
  ...ATTEMPT_CALLERS,
  listChallenges: GATEWAY,
  createChallenge: GATEWAY,
  getChallenge: GATEWAY,
  updateChallengeStatus: GATEWAY,
  seedChallenge: GATEWAY,
  recordListenedScores: ['integration'],
  getCalibration: GATEWAY,
  getDrift: GATEWAY,
  getReceipt: GATEWAY,
  audit: GATEWAY,
};
