/**
 * Which service may call which rpc of the wallet. A contest service may also move only the money of
 * its own attempts (handlers/contest-service-of-call.ts).
 */
import type { AcceptedCallers } from '@laurel/grpc';
import type { WalletServiceService } from '@laurel/proto/wallet';

const GATEWAY = ['gateway'] as const;
const CONTEST_SERVICES = ['challenge', 'tournament'] as const;

export const CALLERS: AcceptedCallers<WalletServiceService> = {
  putPlayerLink: GATEWAY,
  resolvePlayers: CONTEST_SERVICES,
  checkEligibility: ['challenge'],
  chargeFees: CONTEST_SERVICES,
  resolveFees: CONTEST_SERVICES,
  refundFees: CONTEST_SERVICES,
  payAwards: CONTEST_SERVICES,
  releasePayout: CONTEST_SERVICES,
  denyPayout: CONTEST_SERVICES,
  getPayout: ['gateway', ...CONTEST_SERVICES],
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
  listFees: CONTEST_SERVICES,
  getFee: CONTEST_SERVICES,
  listAwardPayouts: CONTEST_SERVICES,
};
