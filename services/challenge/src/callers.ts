/**
 * Which service may call which rpc of the challenge service. The gateway may call every rpc except
 * RecordListenedScores, which only the integration service may call.
 */
import type { AcceptedCallers } from '@laurel/grpc';
import type { ChallengeServiceService } from '@laurel/proto/challenge';

const GATEWAY = ['gateway'] as const;

export const CALLERS: AcceptedCallers<ChallengeServiceService> = {
  listChallenges: GATEWAY,
  createChallenge: GATEWAY,
  getChallenge: GATEWAY,
  listProgramChallenges: GATEWAY,
  getProgramChallenge: GATEWAY,
  getChallengeStatistics: GATEWAY,
  updateChallengeStatus: GATEWAY,
  seedChallenge: GATEWAY,
  recordListenedScores: ['integration'],
  getCalibration: GATEWAY,
  getDrift: GATEWAY,
  getReceipt: GATEWAY,
  audit: GATEWAY,
};
