/** What the tests of this service stand on: the service itself on a real database, and the real wallet in a process beside it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isRefused } from '@laurel/errors';
import { createClient, type TypedClient } from '@laurel/grpc';
import { newId, newOwnedId } from '@laurel/ids';
import { createDatabase, type Database } from '@laurel/postgres';
import {
  type AttemptCreationResult,
  type Challenge,
  ChallengeServiceClient,
  type ChallengeServiceService,
  ChallengeStatus,
  type ChallengeTerms,
  type OutcomeReportResult,
  PrizeStructure,
  ThresholdDirection,
} from '@laurel/proto/challenge';
import { Environment, type Tenant } from '@laurel/proto/common';
import { WalletServiceClient, type WalletServiceService } from '@laurel/proto/wallet';
import { createLogger } from '@laurel/service';
import { createTestDatabase } from '@laurel/testing';
import { challengeConfigSchema } from './config.ts';
import { type ChallengeServer, startChallenge } from './server.ts';

const WALLET_MAIN = fileURLToPath(new URL('../../wallet/src/main.ts', import.meta.url));
const READY_LIMIT_MS = 15_000;

export const PROGRAM: Tenant = { programId: '11111111-1111-8111-8111-111111111111', environment: Environment.TEST };
export const OTHER_PROGRAM: Tenant = {
  programId: '22222222-2222-8222-8222-222222222222',
  environment: Environment.TEST,
};
export const HOUR_MS = 3_600_000;

const TERMS: ChallengeTerms = {
  name: 'Longest run',
  description: undefined,
  feeCents: 100n,
  prizeCents: 2_000n,
  prizeStructure: PrizeStructure.THRESHOLD,
  topN: undefined,
  metricName: 'distance',
  metricUnit: 'm',
  thresholdDirection: ThresholdDirection.HIGHER_IS_BETTER,
  scoreMin: undefined,
  scoreMax: undefined,
  targetPassRate: 0.2,
  integrityTier: 1,
  minCalibrationN: 200,
  minCalibrationPlayers: 20,
  dailyAttemptCap: 10,
  requiredVerificationLevel: 0,
  jurisdictions: [],
  parentChallengeId: '',
};

/** A clock that stands still until it is moved. */
export type TestClock = { (): Date; advance(ms: number): void };

export interface Harness extends AsyncDisposable {
  readonly challenge: TypedClient<ChallengeServiceService>;
  readonly wallet: TypedClient<WalletServiceService>;
  readonly server: ChallengeServer;
  readonly database: Database;
  readonly clock: TestClock;
  /** A second replica on the same database and wallet, with the same clock. */
  startReplica(): Promise<
    { readonly server: ChallengeServer; readonly challenge: TypedClient<ChallengeServiceService> } & AsyncDisposable
  >;
  stopWallet(): Promise<void>;
  startWallet(): Promise<void>;
  /** An account with this ref and this much play money. */
  player(
    playerRef?: string,
    fundsCents?: bigint,
  ): Promise<{ readonly ref: string; readonly accountId: string; readonly email: string }>;
  balance(accountId: string): Promise<bigint>;
  /** Live against a bar of 100 unless said otherwise. */
  open(
    terms?: Partial<ChallengeTerms>,
    as?: { status?: ChallengeStatus; threshold?: number | undefined },
  ): Promise<Challenge>;
  create(
    challengeId: string,
    playerRef: string,
    attemptId?: string,
    tenant?: Tenant,
  ): Promise<AttemptCreationResult['result']>;
  report(
    attemptId: string,
    score: number,
    operationId?: string,
    evidence?: string,
  ): Promise<OutcomeReportResult['result']>;
  /** Every check of the audit that found something. */
  violations(): Promise<readonly string[]>;
}

export async function startHarness(environment: Record<string, string> = {}): Promise<Harness> {
  await using starting = new AsyncDisposableStack();
  const challengeDatabase = starting.use(
    await createTestDatabase({ migrations: new URL('../migrations/', import.meta.url) }),
  );
  const walletDatabase = starting.use(
    await createTestDatabase({ migrations: new URL('../../wallet/migrations/', import.meta.url) }),
  );
  const walletPort = await freePort();
  let walletProcess: ChildProcess | undefined;

  const startWallet = async () => {
    walletProcess = await startWalletProcess(walletDatabase.url, walletPort);
  };
  const stopWallet = async () => {
    if (walletProcess === undefined || walletProcess.exitCode !== null) return;
    const gone = once(walletProcess, 'exit');
    walletProcess.kill('SIGKILL');
    await gone;
    walletProcess = undefined;
  };
  starting.defer(stopWallet);
  await startWallet();

  const config = challengeConfigSchema.parse({
    GRPC_PORT: '0',
    CHALLENGE_DATABASE_URL: challengeDatabase.url,
    WALLET_ADDRESS: `127.0.0.1:${walletPort}`,
    RECEIPT_SIGNING_SEED: Buffer.alloc(32, 9).toString('base64'),
    // Sweepers run when a test says so.
    SWEEP_INTERVAL_MS: '2000000',
    ...environment,
  });
  const clock = createTestClock();
  const logger = createLogger({
    service: 'challenge',
    level: process.env.LAUREL_TEST_LOG === '1' ? 'info' : 'silent',
  });
  const startReplica = async () => {
    const server = await startChallenge(config, logger, clock);
    const client = createClient(ChallengeServiceClient, {
      name: 'challenge',
      address: `127.0.0.1:${server.port}`,
      deadlineMs: 30_000,
    });
    return {
      server,
      challenge: client,
      [Symbol.asyncDispose]: async () => {
        await client[Symbol.asyncDispose]();
        await server[Symbol.asyncDispose]();
      },
    };
  };
  const { server, challenge } = starting.use(await startReplica());
  const wallet = starting.use(
    createClient(WalletServiceClient, { name: 'wallet', address: `127.0.0.1:${walletPort}` }),
  );
  const database = starting.use(
    createDatabase({ url: challengeDatabase.url, maxConnections: 2, applicationName: 'challenge-test' }),
  );

  const running = starting.move();
  return {
    challenge,
    wallet,
    server,
    database,
    clock,
    startReplica,
    stopWallet,
    async startWallet() {
      await startWallet();
      // Both clients reconnect by themselves; the test goes on when the service has.
      await retryUntilOk(() => challenge.audit({}));
      await retryUntilOk(() => wallet.audit({}));
    },
    async player(playerRef = `player-${newId()}`, fundsCents = 100_000n) {
      const email = `${newId()}@example.com`;
      const { account } = ok(
        await wallet.createAccount({
          email,
          dateOfBirth: '1990-01-01',
          jurisdiction: 'US-CA',
          verificationLevel: 1,
        }),
      );
      const accountId = account?.id ?? '';
      ok(await wallet.putPlayerLink({ player: { tenant: PROGRAM, playerRef }, email }));
      if (fundsCents > 0n) {
        ok(
          await wallet.deposit({
            accountId,
            environment: Environment.TEST,
            amountCents: fundsCents,
            reference: 'start',
          }),
        );
      }
      return { ref: playerRef, accountId, email };
    },
    async balance(accountId) {
      const statement = await wallet.getStatement({ accountId, environment: Environment.TEST, limit: 1, cursor: '' });
      return ok(statement).balanceCents;
    },
    async open(terms = {}, { status = ChallengeStatus.LIVE, ...bar } = {}) {
      const isTopN = terms.prizeStructure === PrizeStructure.TOP_N;
      const threshold =
        'threshold' in bar ? bar.threshold : status === ChallengeStatus.LIVE && !isTopN ? 100 : undefined;
      const request = { tenant: PROGRAM, terms: { ...TERMS, ...terms }, status, threshold };
      const { challenge: opened } = ok(await challenge.createChallenge(request));
      if (opened === undefined) throw new Error('no challenge in the answer');
      return opened;
    },
    async create(challengeId, playerRef, attemptId = newOwnedId('challenge'), tenant = PROGRAM) {
      const creation = { attemptId, tenant, challengeId, playerRef, metadataJson: '{"a":1}', requestId: 'r' };
      return ok(await challenge.createAttempts({ creations: [creation] })).results[0]?.result;
    },
    async report(attemptId, score, operationId = newId(), evidence = '') {
      const report = { operationId, attemptId, tenant: PROGRAM, score, evidenceJson: evidence, requestId: 'r' };
      return ok(await challenge.reportOutcomes({ reports: [report] })).results[0]?.result;
    },
    async violations() {
      const { checks } = ok(await challenge.audit({}));
      const ledger = ok(await wallet.audit({}));
      return [...checks, ...ledger.checks]
        .filter((check) => check.violations > 0n)
        .map((check) => `${check.id}: ${check.violations} (${check.examples.join(', ')})`);
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** The answer; a refusal is a failed test. */
export function ok<Answer>(answer: Answer): Exclude<Answer, { kind: 'refused' }> {
  if (isRefused(answer)) throw new Error(`refused: ${answer.code} (${answer.message})`);
  return answer as Exclude<Answer, { kind: 'refused' }>;
}

/** The attempt that was created; anything else is a failed test. */
export function created(result: AttemptCreationResult['result']) {
  if (result?.$case !== 'attempt') throw new Error(`not created: ${JSON.stringify(result)}`);
  return result.value;
}

/** The outcome that was recorded; anything else is a failed test. */
export function recorded(result: OutcomeReportResult['result']) {
  if (result?.$case !== 'outcome') throw new Error(`not recorded: ${JSON.stringify(result)}`);
  return result.value;
}

/** `attempt`, `outcome`, `fault`, or the code of the refusal. */
export function verdictOf(result: AttemptCreationResult['result'] | OutcomeReportResult['result']): string {
  return result?.$case === 'refused' ? result.value.code : (result?.$case ?? 'nothing');
}

async function retryUntilOk(call: () => Promise<unknown>): Promise<void> {
  const limitAt = Date.now() + READY_LIMIT_MS;
  for (;;) {
    try {
      await call();
      return;
    } catch (error) {
      if (Date.now() > limitAt) throw error;
      await sleep(50);
    }
  }
}

function createTestClock(): TestClock {
  let now = Date.now();
  return Object.assign(() => new Date(now), {
    advance(ms: number) {
      now += ms;
    },
  });
}

async function startWalletProcess(databaseUrl: string, port: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, [WALLET_MAIN], {
    env: { ...process.env, WALLET_DATABASE_URL: databaseUrl, GRPC_PORT: String(port), LOG_LEVEL: 'info' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const limit = AbortSignal.timeout(READY_LIMIT_MS);
  for await (const [line] of on(child, limit)) if (String(line).includes('"ready"')) return child;
  throw new Error('the wallet did not become ready');
}

async function* on(child: ChildProcess, signal: AbortSignal): AsyncGenerator<[unknown]> {
  const output = child.stdout;
  if (output === null) throw new Error('the wallet has no output');
  for (;;) {
    const first = await Promise.race([
      once(output, 'data', { signal }),
      once(child, 'exit', { signal }).then(() => null),
    ]);
    if (first === null) return;
    yield [first[0]];
    output.resume();
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
