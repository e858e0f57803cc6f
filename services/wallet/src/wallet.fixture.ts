/**
 * A wallet for tests: real server, real database, a clock that the test moves, and helpers that
 * create players.
 */
import { isRefused, type Refused } from '@laurel/errors';
import { createClient, MAX_DEADLINE_MS, type TypedClient } from '@laurel/grpc';
import { type CheckResult, createDatabase, type Database } from '@laurel/postgres';
import { Environment } from '@laurel/proto/common';
import {
  type AwardPayment,
  type FeeCharge,
  type FeeChargeResult,
  type FeeQuery,
  type Player,
  WalletServiceClient,
  type WalletServiceService,
} from '@laurel/proto/wallet';
import { createLogger } from '@laurel/service';
import { metrics } from '@laurel/telemetry';
import { createTestDatabase, findingMessage, type TestDatabase } from '@laurel/testing';
import { useStarted } from '@laurel/testing/harness';
import { feeTransferId, newId, newOwnedId } from '@laurel/values/ids';
import { cents } from '@laurel/values/money';
import { expect } from 'vitest';
import { walletConfigSchema } from './config.ts';
import type { DefaultLimits } from './domain/program-limits.ts';
import { createLedgerAudit } from './repository/audit.ts';
import { startWallet } from './server.ts';

export type WalletClient = TypedClient<WalletServiceService>;

export type TestWallet = AsyncDisposable & {
  readonly client: WalletClient;
  /** Starts another server on the same database, which sees it as another process. */
  startReplica(): Promise<WalletClient>;
  readonly database: Database;
  /** Opens another pool, like one more replica, without a server. */
  connect(): Database;
  readonly clock: { now: Date; advance(ms: number): void };
};

export const MIGRATIONS = new URL('../migrations/', import.meta.url);

/** The default limits in live of programs for which no operator set any. */
export const DEFAULT_LIMITS: DefaultLimits = { payoutCents: cents(5_000_00n), feeCents: cents(200_00n) };

/** Starts the wallet on a new database, or on the given one, and drops it when disposed. */
export async function openTestWallet(env: Record<string, string> = {}, existing?: TestDatabase): Promise<TestWallet> {
  await using opening = new AsyncDisposableStack();
  const { url, runningUrl } = opening.use(existing ?? (await createTestDatabase({ migrations: MIGRATIONS })));
  const database = opening.use(createDatabase({ url, maxConnections: 2, applicationName: 'wallet-test' }));
  const logger = createLogger({ service: 'wallet', level: 'silent' });
  const clock = {
    now: new Date('2026-11-21T12:00:00.000Z'),
    advance: (ms: number) => {
      clock.now = new Date(clock.now.getTime() + ms);
    },
  };

  async function startReplica(): Promise<WalletClient> {
    const config = walletConfigSchema.parse({ GRPC_PORT: '0', WALLET_DATABASE_URL: runningUrl, ...env });
    const server = running.use(await startWallet(config, logger, () => clock.now));
    return running.use(
      createClient(WalletServiceClient, {
        name: 'wallet',
        address: `127.0.0.1:${server.port}`,
        deadlineMs: MAX_DEADLINE_MS,
      }),
    );
  }

  const connect = () =>
    running.use(createDatabase({ url: runningUrl, maxConnections: 4, applicationName: 'wallet-test' }));

  const running = opening.move();
  const client = await startReplica();
  return { client, startReplica, connect, database, clock, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/**
 * The wallet of one test file, whose audit must find nothing at the end. It exists once the file's
 * tests run.
 */
export function useTestWallet(env: Record<string, string> = {}): TestWallet {
  return useStarted(
    () => openTestWallet(env),
    async (wallet) => expect(await auditViolations(wallet), findingMessage('the audit reports')).toEqual({}),
  );
}

/** The response of a call that must not be refused. */
export async function ok<Response>(call: Promise<Response | Refused>): Promise<Response> {
  const answer = await call;
  if (isRefused(answer)) throw new Error(`refused: ${answer.code}, ${answer.message}`);
  return answer;
}

/** The refusal code of a call that must be refused. */
export async function refusalOf(call: Promise<unknown>): Promise<string> {
  const answer = await call;
  if (!isRefused(answer)) throw new Error('was not refused');
  return answer.code;
}

export type TestPlayer = { readonly accountId: string; readonly email: string; readonly player: Player };

/**
 * Creates an adult in California with an account (in test a sandbox account of the program), a link
 * and, if requested, money.
 */
export async function addPlayer(
  { client }: TestWallet,
  options: {
    balanceCents?: bigint;
    environment?: Environment;
    programId?: string;
    dateOfBirth?: string;
    email?: string;
  } = {},
): Promise<TestPlayer> {
  const environment = options.environment ?? Environment.LIVE;
  const programId = options.programId ?? newId();
  const email = options.email ?? `${newId()}@players.example`;
  const { account } = await ok(
    client.createAccount({
      email,
      dateOfBirth: options.dateOfBirth ?? '1990-01-01',
      jurisdiction: 'US-CA',
      verificationLevel: 1,
      ...(environment === Environment.TEST && { programId }),
    }),
  );
  if (account === undefined) throw new Error('no account was answered');
  const player = { tenant: { programId, environment }, playerRef: `ref-${newId()}` };
  await ok(client.putPlayerLink({ player, email }));
  const { balanceCents = 0n } = options;
  if (balanceCents > 0n) {
    await ok(client.deposit({ accountId: account.id, environment, amountCents: balanceCents, reference: 'start' }));
  }
  return { accountId: account.id, email, player };
}

export function chargeOf(
  { accountId, player }: TestPlayer,
  feeCents: bigint,
  change: Partial<FeeCharge> = {},
): FeeCharge {
  const attemptId = newOwnedId('challenge');
  return {
    transferId: feeTransferId(attemptId),
    attemptId,
    feeGeneration: 0,
    player,
    accountId,
    feeCents,
    requirement: { verificationLevel: 0, jurisdictions: [], refuseInsiders: false },
    ...change,
  };
}

export function queryOf({ transferId, attemptId, feeGeneration }: FeeCharge, tombstoneIfAbsent: boolean): FeeQuery {
  return { transferId, attemptId, feeGeneration, tombstoneIfAbsent };
}

/** The result of one charge: `posted`, `moved`, or the code of its refusal. */
export async function charge(client: WalletClient, fee: FeeCharge): Promise<string> {
  const { results } = await ok(client.chargeFees({ charges: [fee] }));
  return chargeResultOf(results[0]);
}

export function chargeResultOf(result: FeeChargeResult | undefined): string {
  if (result?.result === undefined) throw new Error('no result was answered');
  return result.result.$case === 'refused' ? result.result.value.code : result.result.$case;
}

export function awardOf({ accountId, player }: TestPlayer, amountCents: bigint): AwardPayment {
  const attemptId = newOwnedId('challenge');
  return { awardId: newOwnedId('challenge'), attemptId, tenant: player.tenant, accountId, amountCents };
}

export function purseOf({ accountId, player }: TestPlayer, amountCents: bigint, roundId = newId()): AwardPayment {
  return { awardId: newOwnedId('tournament'), attemptId: '', roundId, tenant: player.tenant, accountId, amountCents };
}

export async function balanceOf({ client }: TestWallet, { accountId, player }: TestPlayer): Promise<bigint> {
  const environment = player.tenant?.environment ?? Environment.LIVE;
  const { balanceCents } = await ok(client.getStatement({ accountId, environment, limit: 1, cursor: '' }));
  return balanceCents;
}

/**
 * The checks with violations, and their number; empty if every invariant holds. The audit in slices
 * must find the same.
 */
export async function auditViolations({ client, connect }: TestWallet): Promise<Record<string, bigint>> {
  const { checks } = await ok(client.audit({}));
  await using database = connect();
  const sliced = await createLedgerAudit(database, { maxPageSize: 100 }).run();
  const counts = ({ id, violations, testViolations }: CheckResult) => ({ id, violations, testViolations });
  expect(sliced.map(counts)).toEqual(checks.map(counts));
  return Object.fromEntries(
    checks.filter((check) => check.violations > 0n).map((check) => [check.id, check.violations]),
  );
}

/** How many fees all replicas of this process posted on cached players. */
export const countOptimisticFees = () => optimisticallyPosted('laurel_wallet_optimistic_fees_total');

/** How many payouts all replicas of this process paid in the optimistic statement. */
export const countOptimisticPayouts = () => optimisticallyPosted('laurel_wallet_optimistic_payouts_total');

async function optimisticallyPosted(name: string): Promise<number> {
  const { values = [] } = (await metrics.getSingleMetric(name)?.get()) ?? {};
  return values.find(({ labels }) => labels.outcome === 'posted')?.value ?? 0;
}
