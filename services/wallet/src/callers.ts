/**
 * Which service may call which rpc of the wallet. A contest service may also move only the money of
 * its own attempts (handlers/contest-service-of-call.ts).
 */
import type { AcceptedCallers } from '@laurel/grpc';
import type { WalletServiceService } from '@laurel/proto/wallet';

const GATEWAY = ['gateway'] as const;
const OWNERS = ['challenge', 'tournament'] as const;

export const CALLERS: AcceptedCallers<WalletServiceService> = {
  putPlayerLink: GATEWAY,
  resolvePlayers: OWNERS,
  checkEligibility: ['challenge'],
  chargeFees: OWNERS,
  resolveFees: OWNERS,
  refundFees: OWNERS,
  payAwards: OWNERS,
  releasePayout: OWNERS,
  denyPayout: OWNERS,
  getPayout: ['gateway', ...OWNERS],
  describePayout: GATEWAY,
  listPayouts: GATEWAY,
  createAccount: GATEWAY,
  getAccount: GATEWAY,
  listAccounts: GATEWAY,
  lookUpId: GATEWAY,
  updateAccount: GATEWAY,
  deposit: GATEWAY,
  listGoodwill: GATEWAY,
  getStatement: GATEWAY,
  addInsider: GATEWAY,
  listInsiders: GATEWAY,
  removeInsider: GATEWAY,
  putSandboxPlayer: GATEWAY,
  holdNextAward: GATEWAY,
  listPlayerLinks: GATEWAY,
  severPlayerLinks: GATEWAY,
  liftSeverance: GATEWAY,
  getProgramLimits: GATEWAY,
  getProgramMoney: GATEWAY,
  getMoney: GATEWAY,
  setProgramLimits: GATEWAY,
  audit: GATEWAY,
  listFees: OWNERS,
  getFee: OWNERS,
  listAwardPayouts: OWNERS,
};
