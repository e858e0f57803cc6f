/** The wallet's wiring, in the order of its start. Disposal runs in reverse: calls drain before the pool closes. */

import { identityOf, implement, startGrpcServer } from '@laurel/grpc';
import {
  createContinuousAudit,
  createDatabase,
  createStageSampler,
  SAMPLE_INTERVAL_MS,
  startDatabaseClock,
  verifyRunningRole,
} from '@laurel/postgres';
import { WalletServiceService } from '@laurel/proto/wallet';
import { type Clock, type Logger, startAdminServer, startWorker } from '@laurel/service';
import { CALLERS } from './callers.ts';
import type { WalletConfig } from './config.ts';
import { addInsider } from './handlers/add-insider.ts';
import { audit } from './handlers/audit.ts';
import { chargeFees } from './handlers/charge-fees.ts';
import { checkEligibility } from './handlers/check-eligibility.ts';
import { createAccount } from './handlers/create-account.ts';
import { denyPayout } from './handlers/deny-payout.ts';
import { deposit } from './handlers/deposit.ts';
import { getAccount } from './handlers/get-account.ts';
import { getPayout } from './handlers/get-payout.ts';
import { getProgramLimits } from './handlers/get-program-limits.ts';
import { getStatement } from './handlers/get-statement.ts';
import { holdNextAward } from './handlers/hold-next-award.ts';
import { liftSeverance } from './handlers/lift-severance.ts';
import { listAwardPayouts } from './handlers/list-award-payouts.ts';
import { listFees } from './handlers/list-fees.ts';
import { listPayouts } from './handlers/list-payouts.ts';
import { listPlayerLinks } from './handlers/list-player-links.ts';
import { payAwards } from './handlers/pay-awards.ts';
import { createFeeCharges } from './handlers/post-fees.ts';
import { createAwardPayments } from './handlers/post-payouts.ts';
import { putPlayerLink } from './handlers/put-player-link.ts';
import { putSandboxPlayer } from './handlers/put-sandbox-player.ts';
import { createFeeRefunds, refundFees } from './handlers/refund-fees.ts';
import { releasePayout } from './handlers/release-payout.ts';
import { createFeeQueries, resolveFees } from './handlers/resolve-fees.ts';
import { resolvePlayers } from './handlers/resolve-players.ts';
import { setProgramLimits } from './handlers/set-program-limits.ts';
import { severPlayerLinks } from './handlers/sever-player-links.ts';
import { updateAccount } from './handlers/update-account.ts';
import { runAudit } from './repository/audit.ts';
import { HELD_PAYOUTS } from './repository/payouts.ts';

export type WalletServer = AsyncDisposable & { readonly port: number; readonly adminPort: number };

/** Starts the wallet on a migrated database. Its clock is the database's; tests pass their own. */
export async function startWallet(config: WalletConfig, logger: Logger, testClock?: Clock): Promise<WalletServer> {
  await using starting = new AsyncDisposableStack();
  const identity = starting.use(await identityOf(config, logger));
  const database = starting.use(
    createDatabase({
      url: config.WALLET_DATABASE_URL,
      maxConnections: config.WALLET_DATABASE_POOL,
      applicationName: 'laurel-wallet',
    }),
  );
  const isPrivilegedAllowed = config.ALLOW_PRIVILEGED_DATABASE_ROLE;
  starting.use(await verifyRunningRole(database, { isPrivilegedAllowed, logger }));
  const databaseClock = starting.use(await startDatabaseClock({ database, logger }));
  const clock = testClock ?? databaseClock.now;
  const deps = { database, clock };
  const rules = { minimumAgeYears: config.MINIMUM_AGE_YEARS, servedJurisdictions: config.SERVED_JURISDICTIONS };
  const limits = { count: config.PAYOUT_VELOCITY_COUNT, amountCents: config.PAYOUT_VELOCITY_AMOUNT };

  const defaults = { payoutCents: config.PROGRAM_PAYOUT_LIMIT, feeCents: config.PROGRAM_FEE_LIMIT };

  const charges = starting.adopt(createFeeCharges({ ...deps, rules, defaults }), (queue) => queue.drain());
  const queries = starting.adopt(createFeeQueries(deps), (queue) => queue.drain());
  const refunds = starting.adopt(createFeeRefunds(deps), (queue) => queue.drain());
  const payments = starting.adopt(createAwardPayments({ ...deps, limits, defaults }), (queue) => queue.drain());

  const answerEligibility = checkEligibility({ ...deps, rules, defaults });
  const service = implement(
    WalletServiceService,
    {
      putPlayerLink: putPlayerLink(deps),
      resolvePlayers: resolvePlayers(deps),
      checkEligibility: answerEligibility,
      // The previous release's name of the same rpc (wallet.proto).
      checkStanding: answerEligibility,
      chargeFees: chargeFees(charges),
      resolveFees: resolveFees(queries),
      refundFees: refundFees(refunds),
      payAwards: payAwards({ payments, logger }),
      releasePayout: releasePayout(deps),
      denyPayout: denyPayout(deps),
      getPayout: getPayout(deps),
      listPayouts: listPayouts(deps),
      createAccount: createAccount(deps),
      getAccount: getAccount(deps),
      updateAccount: updateAccount(deps),
      deposit: deposit(deps),
      getStatement: getStatement(deps),
      addInsider: addInsider(deps),
      putSandboxPlayer: putSandboxPlayer(deps),
      holdNextAward: holdNextAward(deps),
      listPlayerLinks: listPlayerLinks(deps),
      severPlayerLinks: severPlayerLinks(deps),
      liftSeverance: liftSeverance(deps),
      getProgramLimits: getProgramLimits({ ...deps, defaults }),
      setProgramLimits: setProgramLimits({ ...deps, defaults }),
      audit: audit(deps),
      listFees: listFees(deps),
      listAwardPayouts: listAwardPayouts(deps),
    },
    { logger, callers: CALLERS },
  );

  const stages = createStageSampler(database, [HELD_PAYOUTS]);
  const sampler = { name: 'sample-stages', runOnce: stages.runOnce, intervalMs: SAMPLE_INTERVAL_MS };
  starting.use(startWorker({ ...sampler, logger, clock }));

  const auditIntervalMs = config.AUDIT_INTERVAL_SECONDS * 1_000;
  const auditor = createContinuousAudit({
    database,
    intervalMs: auditIntervalMs,
    run: (signal) => runAudit(database, signal),
    logger,
  });
  starting.use(startWorker({ name: 'audit', intervalMs: auditor.pollMs, runOnce: auditor.runOnce, logger, clock }));
  // Its worker waits for the run under way, so that run is ended first.
  starting.use(auditor);

  const grpc = starting.use(
    await startGrpcServer({ host: config.GRPC_HOST, port: config.GRPC_PORT, services: [service], identity, logger }),
  );
  const admin = starting.use(
    await startAdminServer({
      host: config.ADMIN_HOST,
      port: config.ADMIN_PORT,
      isReady: async () => databaseClock.isKnown() && (await database.isReachable()),
    }),
  );

  const running = starting.move();
  return { port: grpc.port, adminPort: admin.port, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
