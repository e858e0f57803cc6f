/** What only the wallet starts; startRpcService starts the rest. */

import { createStageSampler } from '@laurel/postgres';
import {
  type Clock,
  type Foundation,
  type Logger,
  type RunningService,
  type ServiceParts,
  type SharedProcess,
  startRpcService,
} from '@laurel/service';
import { createFeeChargeBatches } from './commits/post-fees.ts';
import { createAwardPaymentBatches } from './commits/post-payouts.ts';
import { createFeeRefundBatches } from './commits/post-refunds.ts';
import { createFeeQueryBatches } from './commits/post-tombstones.ts';
import type { WalletConfig } from './config.ts';
import { createLedgerAudit } from './repository/audit.ts';
import { HELD_PAYOUTS } from './repository/payouts.ts';
import { walletRpcs } from './rpcs.ts';
import { createCountDays } from './workers/count-days.ts';

/** How often each replica looks whether a count is due. */
const COUNT_POLL_MS = 10_000;

/** Starts the wallet on a migrated database. Its clock is the database's; tests pass their own. */
export function startWallet(
  config: WalletConfig,
  logger: Logger,
  testClock?: Clock,
  shared?: SharedProcess,
): Promise<RunningService> {
  const database = { url: config.WALLET_DATABASE_URL, maxConnections: config.WALLET_DATABASE_POOL };
  return startRpcService({ name: 'wallet', config, database, logger, testClock, shared }, (foundation) =>
    startParts(config, foundation),
  );
}

function startParts(config: WalletConfig, { database, clock, logger, started }: Foundation): ServiceParts<object> {
  const deps = { database, clock };
  const rules = { minimumAgeYears: config.MINIMUM_AGE_YEARS, servedJurisdictions: config.SERVED_JURISDICTIONS };
  const limits = { count: config.PAYOUT_VELOCITY_COUNT, amountCents: config.PAYOUT_VELOCITY_AMOUNT };
  const defaults = { payoutCents: config.PROGRAM_PAYOUT_LIMIT, feeCents: config.PROGRAM_FEE_LIMIT };

  const countIntervalMs = config.MONEY_COUNT_INTERVAL_SECONDS * 1_000;

  const charges = started.adopt(createFeeChargeBatches({ ...deps, rules, defaults }), (queue) => queue.drain());
  const queries = started.adopt(createFeeQueryBatches(deps), (queue) => queue.drain());
  const refunds = started.adopt(createFeeRefundBatches(deps), (queue) => queue.drain());
  const payments = started.adopt(createAwardPaymentBatches({ ...deps, limits, defaults }), (queue) => queue.drain());

  return {
    rpcs: [walletRpcs({ ...deps, logger, rules, limits, defaults, charges, queries, refunds, payments })],
    workers: [
      createStageSampler(database, [HELD_PAYOUTS]),
      {
        name: 'count-days',
        intervalMs: Math.min(COUNT_POLL_MS, countIntervalMs),
        runOnce: createCountDays({ database, intervalMs: countIntervalMs }),
      },
    ],
    audit: { intervalSeconds: config.AUDIT_INTERVAL_SECONDS, ...createLedgerAudit(database) },
    forTests: {},
  };
}
