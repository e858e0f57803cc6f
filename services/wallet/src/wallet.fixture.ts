/** A wallet for tests: real server, real database, a clock that the test moves, and players to play with. */
import { isRefused, type Refused } from '@laurel/errors';
import { createClient, type TypedClient } from '@laurel/grpc';
import { feeTransferId, newId, newOwnedId } from '@laurel/ids';
import { createDatabase, type Database } from '@laurel/postgres';
import { Environment } from '@laurel/proto/common';
import {
  type AwardPayment,
  type FeeCharge,
  type FeeChargeResult,
  type Player,
  WalletServiceClient,
  type WalletServiceService,
} from '@laurel/proto/wallet';
import { createLogger } from '@laurel/service';
import { metrics } from '@laurel/telemetry';
import { createTestDatabase } from '@laurel/testing';
import { walletConfigSchema } from './config.ts';
import { startWallet } from './server.ts';

export type WalletClient = TypedClient<WalletServiceService>;

export type TestWallet = AsyncDisposable & {
  readonly client: WalletClient;
  /** Another process on the same database, as far as the database can tell. */
  startReplica(): Promise<WalletClient>;
  readonly database: Database;
  /** Connections of one more replica, without the replica. */
  connect(): Database;
  readonly clock: { now: Date; advance(ms: number): void };
};

export async function openTestWallet(env: Record<string, string> = {}): Promise<TestWallet> {
  await using opening = new AsyncDisposableStack();
  const { url } = opening.use(await createTestDatabase({ migrations: new URL('../migrations/', import.meta.url) }));
  const database = opening.use(createDatabase({ url, maxConnections: 2, applicationName: 'wallet-test' }));
  const logger = createLogger({ service: 'wallet', level: 'silent' });
  const clock = {
    now: new Date('2026-11-21T12:00:00.000Z'),
    advance: (ms: number) => {
      clock.now = new Date(clock.now.getTime() + ms);
    },
  };

  async function startReplica(): Promise<WalletClient> {
    const config = walletConfigSchema.parse({ GRPC_PORT: '0', WALLET_DATABASE_URL: url, ...env });
    const server = running.use(await startWallet(config, logger, () => clock.now));
    return running.use(
      createClient(WalletServiceClient, { name: 'wallet', address: `127.0.0.1:${server.port}`, deadlineMs: 30_000 }),
    );
  }

  const connect = () => running.use(createDatabase({ url, maxConnections: 4, applicationName: 'wallet-test' }));

  const running = opening.move();
  const client = await startReplica();
  return { client, startReplica, connect, database, clock, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** The answer of a call that must not be refused. */
export async function ok<Response>(call: Promise<Response | Refused>): Promise<Response> {
  const answer = await call;
  if (isRefused(answer)) throw new Error(`refused: ${answer.code}, ${answer.message}`);
  return answer;
}

/** The code of a call that must be refused. */
export async function refusalOf(call: Promise<unknown>): Promise<string> {
  const answer = await call;
  if (!isRefused(answer)) throw new Error('was not refused');
  return answer.code;
}

export type TestPlayer = { readonly accountId: string; readonly email: string; readonly player: Player };

/** A grown-up in California with an account, a link and, if wanted, money. */
export async function addPlayer(
  { client }: TestWallet,
  options: { balanceCents?: bigint; environment?: Environment; programId?: string; dateOfBirth?: string } = {},
): Promise<TestPlayer> {
  const environment = options.environment ?? Environment.LIVE;
  const email = `${newId()}@players.example`;
  const { account } = await ok(
    client.createAccount({
      email,
      dateOfBirth: options.dateOfBirth ?? '1990-01-01',
      jurisdiction: 'US-CA',
      verificationLevel: 1,
    }),
  );
  if (account === undefined) throw new Error('no account was answered');
  const player = { tenant: { programId: options.programId ?? newId(), environment }, playerRef: `ref-${newId()}` };
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
    player,
    accountId,
    feeCents,
    requirement: { verificationLevel: 0, jurisdictions: [], refuseInsiders: false },
    ...change,
  };
}

/** How one charge ended: `posted`, `moved`, or the code of its refusal. */
export async function charge(client: WalletClient, fee: FeeCharge): Promise<string> {
  const { results } = await ok(client.chargeFees({ charges: [fee] }));
  return endOf(results[0]);
}

export function endOf(result: FeeChargeResult | undefined): string {
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

/** The checks that found something, with how much: empty is good. */
export async function auditFaults({ client }: TestWallet): Promise<Record<string, bigint>> {
  const { checks } = await ok(client.audit({}));
  return Object.fromEntries(
    checks.filter((check) => check.violations > 0n).map((check) => [check.id, check.violations]),
  );
}

/** How many fees were posted on what was remembered of their players, by all replicas of this process. */
export async function rememberedFees(): Promise<number> {
  const { values = [] } = (await metrics.getSingleMetric('laurel_wallet_remembered_fees_total')?.get()) ?? {};
  return values.find(({ labels }) => labels.outcome === 'posted')?.value ?? 0;
}
