/** Each rpc of the wallet, with its handler and what the handler needs. */
import { implement, type ServiceImplementation } from '@laurel/grpc';
import type { Database } from '@laurel/postgres';
import { WalletServiceService } from '@laurel/proto/wallet';
import type { Clock, Logger } from '@laurel/service';
import { CALLERS } from './callers.ts';
import type { FeeChargeBatches } from './commits/post-fees.ts';
import type { AwardPaymentBatches } from './commits/post-payouts.ts';
import type { FeeRefundBatches } from './commits/post-refunds.ts';
import type { FeeQueryBatches } from './commits/post-tombstones.ts';
import type { EligibilityRules } from './domain/eligibility.ts';
import type { VelocityLimits } from './domain/payout-hold.ts';
import type { DefaultLimits } from './domain/program-limits.ts';
import { addInsider } from './handlers/add-insider.ts';
import { audit } from './handlers/audit.ts';
import { chargeFees } from './handlers/charge-fees.ts';
import { checkEligibility } from './handlers/check-eligibility.ts';
import { createAccount } from './handlers/create-account.ts';
import { denyPayout } from './handlers/deny-payout.ts';
import { deposit } from './handlers/deposit.ts';
import { describePayout } from './handlers/describe-payout.ts';
import { getAccount } from './handlers/get-account.ts';
import { getFee } from './handlers/get-fee.ts';
import { getMoney } from './handlers/get-money.ts';
import { getPayout } from './handlers/get-payout.ts';
import { getProgramLimits } from './handlers/get-program-limits.ts';
import { getProgramMoney } from './handlers/get-program-money.ts';
import { getStatement } from './handlers/get-statement.ts';
import { holdNextAward } from './handlers/hold-next-award.ts';
import { liftSeverance } from './handlers/lift-severance.ts';
import { listAccounts } from './handlers/list-accounts.ts';
import { listAwardPayouts } from './handlers/list-award-payouts.ts';
import { listFees } from './handlers/list-fees.ts';
import { listGoodwill } from './handlers/list-goodwill.ts';
import { listInsiders } from './handlers/list-insiders.ts';
import { listPayouts } from './handlers/list-payouts.ts';
import { listPlayerLinks } from './handlers/list-player-links.ts';
import { lookUpId } from './handlers/look-up-id.ts';
import { payAwards } from './handlers/pay-awards.ts';
import { putPlayerLink } from './handlers/put-player-link.ts';
import { putSandboxPlayer } from './handlers/put-sandbox-player.ts';
import { refundFees } from './handlers/refund-fees.ts';
import { releasePayout } from './handlers/release-payout.ts';
import { removeInsider } from './handlers/remove-insider.ts';
import { resolveFees } from './handlers/resolve-fees.ts';
import { resolvePlayers } from './handlers/resolve-players.ts';
import { setProgramLimits } from './handlers/set-program-limits.ts';
import { severPlayerLinks } from './handlers/sever-player-links.ts';
import { updateAccount } from './handlers/update-account.ts';

export function walletRpcs(deps: {
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly rules: EligibilityRules;
  readonly limits: VelocityLimits;
  readonly defaults: DefaultLimits;
  readonly charges: FeeChargeBatches;
  readonly queries: FeeQueryBatches;
  readonly refunds: FeeRefundBatches;
  readonly payments: AwardPaymentBatches;
}): ServiceImplementation {
  const { logger } = deps;
  return implement(
    WalletServiceService,
    {
      putPlayerLink: putPlayerLink(deps),
      resolvePlayers: resolvePlayers(deps),
      checkEligibility: checkEligibility(deps),
      chargeFees: chargeFees(deps.charges),
      resolveFees: resolveFees(deps.queries),
      refundFees: refundFees(deps.refunds),
      payAwards: payAwards(deps),
      releasePayout: releasePayout(deps),
      denyPayout: denyPayout(deps),
      getPayout: getPayout(deps),
      describePayout: describePayout(deps),
      listPayouts: listPayouts(deps),
      createAccount: createAccount(deps),
      getAccount: getAccount(deps),
      listAccounts: listAccounts(deps),
      lookUpId: lookUpId(deps),
      updateAccount: updateAccount(deps),
      deposit: deposit(deps),
      listGoodwill: listGoodwill(deps),
      getStatement: getStatement(deps),
      addInsider: addInsider(deps),
      listInsiders: listInsiders(deps),
      removeInsider: removeInsider(deps),
      putSandboxPlayer: putSandboxPlayer(deps),
      holdNextAward: holdNextAward(deps),
      listPlayerLinks: listPlayerLinks(deps),
      severPlayerLinks: severPlayerLinks(deps),
      liftSeverance: liftSeverance(deps),
      getProgramLimits: getProgramLimits(deps),
      getProgramMoney: getProgramMoney(deps),
      getMoney: getMoney(deps),
      setProgramLimits: setProgramLimits(deps),
      audit: audit(deps),
      listFees: listFees(deps),
      getFee: getFee(deps),
      listAwardPayouts: listAwardPayouts(deps),
    },
    { logger, callers: CALLERS },
  );
}
