/** What the tests of this service stand on: the service itself on a real database, and the real wallet in a process beside it. */
import { createClient, type TypedClient } from '@laurel/grpc';
import { newId, newOwnedId } from '@laurel/ids';
import { createDatabase, type Database } from '@laurel/postgres';
import {
  type Attempt,
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
import type { WalletServiceService } from '@laurel/proto/wallet';
import { createLogger } from '@laurel/service';
import {
  createTestClock,
  createTestDatabase,
  ok,
  retryUntilOk,
  startTestWallet,
  type TestClock,
  type TestPlayer,
} from '@laurel/testing';
import { afterAll, beforeAll, expect } from 'vitest';
import { challengeConfigSchema } from './config.ts';
import { type ChallengeServer, startChallenge } from './server.ts';

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

export interface Harness extends AsyncDisposable {
  readonly challenge: TypedClient<ChallengeServiceService>;
  readonly wallet: TypedClient<WalletServiceService>;
  readonly walletAddress: string;
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
  player(playerRef?: string, fundsCents?: bigint): Promise<TestPlayer>;
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
  /** An open attempt of a new player on a new challenge. */
  openAttempt(
    terms?: Partial<ChallengeTerms>,
  ): Promise<{ readonly challenge: Challenge; readonly player: TestPlayer; readonly attempt: Attempt }>;
  /** An attempt whose fee the wallet never heard of, beside one that is open: it was away when the fee was to be charged. */
  pendingAttempt(): Promise<{ readonly challenge: Challenge; readonly player: TestPlayer; readonly attemptId: string }>;
  /** Every check of the audit that found something. */
  violations(): Promise<readonly string[]>;
}

/** The harness of one test file, which must leave the audit good. It is there once the file's tests run. */
export function useHarness(): Harness {
  const harness = {} as Harness;
  beforeAll(async () => {
    Object.assign(harness, await startHarness());
  });
  afterAll(async () => {
    expect(await harness.violations()).toEqual([]);
    await harness[Symbol.asyncDispose]();
  });
  return harness;
}

async function startHarness(): Promise<Harness> {
  await using starting = new AsyncDisposableStack();
  const challengeDatabase = starting.use(
    await createTestDatabase({ migrations: new URL('../migrations/', import.meta.url) }),
  );
  const wallet = starting.use(await startTestWallet());

  const config = challengeConfigSchema.parse({
    GRPC_PORT: '0',
    CHALLENGE_DATABASE_URL: challengeDatabase.url,
    WALLET_ADDRESS: wallet.address,
    RECEIPT_SIGNING_SEED: Buffer.alloc(32, 9).toString('base64'),
    // Sweepers run when a test says so.
    SWEEP_INTERVAL_MS: '2000000',
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
  const database = starting.use(
    createDatabase({ url: challengeDatabase.url, maxConnections: 2, applicationName: 'challenge-test' }),
  );

  const running = starting.move();
  const harness: Harness = {
    challenge,
    wallet: wallet.client,
    walletAddress: wallet.address,
    server,
    database,
    clock,
    startReplica,
    stopWallet: wallet.stop,
    async startWallet() {
      await wallet.start();
      // The service reconnects by itself; the test goes on when it has.
      await retryUntilOk(() => challenge.audit({}));
    },
    player: (playerRef = `player-${newId()}`, fundsCents = 100_000n) =>
      wallet.addPlayer(PROGRAM, playerRef, fundsCents),
    balance: wallet.balanceOf,
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
    async openAttempt(terms = {}) {
      const opened = await harness.open(terms);
      const player = await harness.player();
      return { challenge: opened, player, attempt: created(await harness.create(opened.id, player.ref)) };
    },
    async pendingAttempt() {
      // The first one teaches the service which account the ref names.
      const { challenge: opened, player } = await harness.openAttempt();
      const attemptId = newOwnedId('challenge');
      await harness.stopWallet();
      expect(verdictOf(await harness.create(opened.id, player.ref, attemptId))).toBe('fault');
      await harness.startWallet();
      return { challenge: opened, player, attemptId };
    },
    async violations() {
      const { checks } = ok(await challenge.audit({}));
      const ledger = ok(await wallet.client.audit({}));
      return [...checks, ...ledger.checks]
        .filter((check) => check.violations > 0n)
        .map((check) => `${check.id}: ${check.violations} (${check.examples.join(', ')})`);
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
  return harness;
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
