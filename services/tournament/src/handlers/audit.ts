/** Audit: every invariant of this service, and, in comparison with the wallet, of its money there (money-audit.ts). */
import type { Handlers } from '@laurel/grpc';
import { compareWithWallet, type Wallet } from '@laurel/money-path';
import type { CheckResult, Database } from '@laurel/postgres';
import type { TournamentServiceService } from '@laurel/proto/tournament';
import { judgeFee, judgePayout, MONEY_CHECKS } from '../domain/money-audit.ts';
import { attemptsAgain, pageOfAttempts, pageOfPayouts, payoutsAgain, runOwnChecks } from '../repository/audit.ts';

const PAGE = 5_000;
const MAX_EXAMPLES = 10;

export function audit({
  database,
  wallet,
}: {
  database: Database;
  wallet: Wallet;
}): Handlers<TournamentServiceService>['audit'] {
  return async () => {
    const own = await runOwnChecks(database);
    const fees = await compareWithWallet({
      pageSize: PAGE,
      readOurs: (after) => pageOfAttempts(database, after, PAGE),
      readOursAgain: (ids) => attemptsAgain(database, ids),
      readTheirs: async (after) =>
        (await wallet.listFees('tournament', after, PAGE)).map((fee) => ({ id: fee.attemptId, row: fee })),
      judge: judgeFee,
    });
    const payouts = await compareWithWallet({
      pageSize: PAGE,
      readOurs: (after) => pageOfPayouts(database, after, PAGE),
      readOursAgain: (ids) => payoutsAgain(database, ids),
      readTheirs: async (after) =>
        (await wallet.listAwardPayouts('tournament', after, PAGE)).map((payout) => ({
          id: payout.awardId,
          row: payout,
        })),
      judge: judgePayout,
    });
    const shared = Object.entries(MONEY_CHECKS).map(([id, description]): CheckResult => {
      const ids = [...fees, ...payouts].filter(({ check }) => check === id).map((violation) => violation.id);
      return { id, description, violations: BigInt(ids.length), examples: ids.slice(0, MAX_EXAMPLES) };
    });
    return { checks: [...own, ...shared] };
  };
}
