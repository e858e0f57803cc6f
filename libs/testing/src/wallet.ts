import { setTimeout as delay } from 'node:timers/promises';
import { isRefused } from '@laurel/errors';
import { createClient, MAX_DEADLINE_MS, type TypedClient } from '@laurel/grpc';
import { Environment, type Tenant } from '@laurel/proto/common';
import { type UpdateAccountRequest, WalletServiceClient, type WalletServiceService } from '@laurel/proto/wallet';
import { newId } from '@laurel/values/ids';
import { freePorts } from './free-ports.ts';
import { createTestDatabase } from './test-database.ts';
import { createWalletHost } from './wallet-host.ts';

export type TestPlayer = { readonly ref: string; readonly accountId: string; readonly email: string };

/**
 * The real wallet, for tests of services that call it. It runs in another process, on its own
 * database.
 */
export interface TestWallet extends AsyncDisposable {
  readonly address: string;
  readonly client: TypedClient<WalletServiceService>;
  /** Kills the wallet, which stays down until `start`. */
  stop(): Promise<void>;
  /** Starts the wallet again at the same address. */
  start(): Promise<void>;
  /**
   * Creates an adult in California with these funds, and links the ref to the account. In test the
   * account is a sandbox account of the program.
   */
  addPlayer(tenant: Tenant, playerRef: string, fundsCents: bigint): Promise<TestPlayer>;
  balanceOf(accountId: string, environment?: Environment): Promise<bigint>;
  /** Makes the account ineligible to play for money. */
  block(accountId: string): Promise<void>;
}

const MIGRATIONS = new URL('../../../services/wallet/migrations/', import.meta.url);

export async function startTestWallet(): Promise<TestWallet> {
  await using starting = new AsyncDisposableStack();
  const database = starting.use(await createTestDatabase({ migrations: MIGRATIONS }));
  const [port = 0] = await freePorts(1);
  const settings = { WALLET_DATABASE_URL: database.runningUrl, GRPC_PORT: String(port), ADMIN_PORT: '0' };
  const host = starting.adopt(createWalletHost(), (it) => it.release());
  await host.start(settings);
  const address = `127.0.0.1:${port}`;
  // The longest deadline, because an audit reads all rows, and a test may have added thousands of
  // players.
  const client = starting.use(
    createClient(WalletServiceClient, { name: 'wallet', address, deadlineMs: MAX_DEADLINE_MS }),
  );

  const running = starting.move();
  return {
    address,
    client,
    async stop() {
      await host.kill();
    },
    async start() {
      await host.start(settings);
      await retryUntilOk(() => client.audit({}));
    },
    async addPlayer(tenant, playerRef, fundsCents) {
      const email = `${newId()}@example.com`;
      const person = { email, dateOfBirth: '1990-01-01', jurisdiction: 'US-CA', verificationLevel: 1 };
      const sandboxed = tenant.environment === Environment.TEST ? { ...person, programId: tenant.programId } : person;
      const accountId = expectAccepted(await client.createAccount(sandboxed)).account?.id ?? '';
      expectAccepted(await client.putPlayerLink({ player: { tenant, playerRef }, email }));
      if (fundsCents > 0n) {
        const { environment } = tenant;
        expectAccepted(await client.deposit({ accountId, environment, amountCents: fundsCents, reference: 'start' }));
      }
      return { ref: playerRef, accountId, email };
    },
    async balanceOf(accountId, environment = Environment.TEST) {
      return expectAccepted(await client.getStatement({ accountId, environment, limit: 1, cursor: '' })).balanceCents;
    },
    async block(accountId) {
      expectAccepted(await client.updateAccount({ ...EMPTY_ACCOUNT_UPDATE, accountId, blocked: true }));
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** An update of an account that changes nothing. */
export const EMPTY_ACCOUNT_UPDATE: UpdateAccountRequest = {
  accountId: '',
  selfExcludedUntil: undefined,
  clearSelfExclusion: false,
  enforcementFlag: undefined,
  underInvestigation: undefined,
  blocked: undefined,
  jurisdiction: undefined,
  verificationLevel: undefined,
};

/** Returns the response; throws on a refusal, which fails the test. */
export function expectAccepted<Answer>(answer: Answer): Exclude<Answer, { kind: 'refused' }> {
  if (isRefused(answer)) throw new Error(`refused: ${answer.code} (${answer.message})`);
  return answer as Exclude<Answer, { kind: 'refused' }>;
}

const RETRY_LIMIT_MS = 15_000;

/** Waits for a client that reconnects by itself: repeats the call until it succeeds. */
export async function retryUntilOk(call: () => Promise<unknown>): Promise<void> {
  const limitAt = Date.now() + RETRY_LIMIT_MS;
  for (;;) {
    try {
      await call();
      return;
    } catch (error) {
      if (Date.now() > limitAt) throw error;
      await delay(50);
    }
  }
}
