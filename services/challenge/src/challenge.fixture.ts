/**
 * The fixture of this service's tests: the service itself on a real database, and the real wallet
 * in another process.
 */
import { connectWallet } from '@laurel/attempts';
import { eventIdOf, eventTypeOf } from '@laurel/events';
import { joinServices, type TypedClient } from '@laurel/grpc';
import { type CheckResult, createDatabase, type Database, type SlicedAudit, type SliceLimits } from '@laurel/postgres';
import {
  type Attempt,
  type AttemptCreationResult,
  AttemptServiceClient,
  type AttemptServiceService,
  type OutcomeReportResult,
} from '@laurel/proto/attempts';
import {
  type Challenge,
  ChallengeServiceClient,
  type ChallengeServiceService,
  ChallengeStatus,
  type ChallengeTerms,
  PrizeStructure,
  ThresholdDirection,
} from '@laurel/proto/challenge';
import { Environment, type Tenant } from '@laurel/proto/common';
import { Event } from '@laurel/proto/events';
import type { WalletServiceService } from '@laurel/proto/wallet';
import {
  connectTo,
  created,
  createQuietLogger,
  createTestClock,
  createTestDatabase,
  expectAccepted,
  findingMessage,
  retryUntilOk,
  startTestWallet,
  type TestClock,
  type TestPlayer,
  unmatchedEvents,
  verdictOf,
  violationsOf,
} from '@laurel/testing';
import { useStarted } from '@laurel/testing/harness';
import { newId, newOwnedId } from '@laurel/values/ids';
import { expect } from 'vitest';
import { type ChallengeConfig, challengeConfigSchema } from './config.ts';
import { createContinuousAudit } from './handlers/audit.ts';
import { type ChallengeServer, startChallenge } from './server.ts';

export { created, recorded, verdictOf } from '@laurel/testing';

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

/** The rpcs of this service and of AttemptService. */
type Rpcs = ChallengeServiceService & AttemptServiceService;

type Replica = {
  readonly server: ChallengeServer;
  readonly challenge: TypedClient<Rpcs>;
} & AsyncDisposable;

export interface Harness extends AsyncDisposable {
  readonly challenge: TypedClient<Rpcs>;
  readonly wallet: TypedClient<WalletServiceService>;
  readonly walletAddress: string;
  readonly server: ChallengeServer;
  readonly database: Database;
  /** The database's URL for the role that deletes archived months. */
  readonly archiveUrl: string;
  /** The seed of the key that signs receipts. */
  readonly seed: Buffer;
  readonly clock: TestClock;
  /** The prefix of this harness's own event stream. */
  readonly eventsPrefix: string;
  /**
   * Starts a second replica on the same database and wallet, with the same clock. With `byDatabase`
   * the replica uses the database's time, as in production.
   */
  startReplica(options?: { readonly byDatabase: true }): Promise<Replica>;
  stopWallet(): Promise<void>;
  startWallet(): Promise<void>;
  /** Creates an account with this ref and this much play money. */
  player(playerRef?: string, fundsCents?: bigint, tenant?: Tenant): Promise<TestPlayer>;
  balance(accountId: string): Promise<bigint>;
  /** Opens a live challenge with a bar of 100, unless `terms` differ. */
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
  /** Opens an attempt of a new player on a new challenge. */
  openAttempt(
    terms?: Partial<ChallengeTerms>,
  ): Promise<{ readonly challenge: Challenge; readonly player: TestPlayer; readonly attempt: Attempt }>;
  /**
   * Creates two attempts of one challenge: an open one, and one whose fee the wallet never received
   * because it was down. Returns the second attempt.
   */
  pendingAttempt(): Promise<{ readonly challenge: Challenge; readonly player: TestPlayer; readonly attemptId: string }>;
  /** Returns every event about this attempt or challenge that is in the outbox. */
  eventsOf(id: string): Promise<readonly Event[]>;
  /**
   * Returns every settled attempt and refunded fee without an event, and every event without such a
   * row.
   */
  wrongEvents(): Promise<readonly string[]>;
  /** Creates the continuous audit of the service, with the privileges of the service's role. */
  auditInSlices(limits?: SliceLimits): SlicedAudit;
  /**
   * Runs the audit and returns the checks that found violations. The audit in slices must find the
   * same violations.
   */
  violations(): Promise<readonly string[]>;
  /** Returns this service's checks that find violations of real money. */
  liveViolations(): Promise<readonly string[]>;
}

// Nothing listens at this address: the service must work without a broker.
const NO_NATS = 'nats://127.0.0.1:1';

/**
 * The harness of one test file. It exists only once the file's tests run. The file must end with a
 * clean audit and with every event emitted. With a broker the events are not checked, because
 * acknowledged events leave the outbox.
 */
export function useHarness({ natsUrl = NO_NATS }: { readonly natsUrl?: string } = {}): Harness {
  return useStarted(
    () => startHarness(natsUrl),
    async (harness) => {
      expect(await harness.violations(), findingMessage('the audit reports')).toEqual([]);
      if (natsUrl === NO_NATS) expect(await harness.wrongEvents()).toEqual([]);
    },
  );
}

/** A second replica for the tests of one file. */
export function useReplica(harness: Harness): Replica {
  return useStarted(() => harness.startReplica());
}

/** An item without an idempotency key. */
const WITHOUT_KEY = { requestId: 'r', keyUse: undefined };

async function startHarness(natsUrl: string): Promise<Harness> {
  await using starting = new AsyncDisposableStack();
  const challengeDatabase = starting.use(
    await createTestDatabase({ migrations: new URL('../migrations/', import.meta.url) }),
  );
  const wallet = starting.use(await startTestWallet());

  const config = configOf(challengeDatabase.runningUrl, wallet.address, natsUrl);
  const clock = createTestClock();
  const replicas = new Set<Replica['challenge']>();
  const startReplica: Harness['startReplica'] = async (options) => {
    const server = await startChallenge(
      config,
      createQuietLogger('challenge'),
      options?.byDatabase ? undefined : clock,
    );
    const { client, ...replica } = connectTo(
      server,
      joinServices(ChallengeServiceClient, AttemptServiceClient),
      'challenge',
    );
    replicas.add(client);
    return {
      ...replica,
      challenge: client,
      async [Symbol.asyncDispose]() {
        replicas.delete(client);
        await replica[Symbol.asyncDispose]();
      },
    };
  };
  const { server, challenge } = starting.use(await startReplica());
  const database = starting.use(
    createDatabase({ url: challengeDatabase.url, maxConnections: 2, applicationName: 'challenge-test' }),
  );

  const continuous = connectAudit(starting, challengeDatabase.runningUrl, wallet.address, config);

  const running = starting.move();
  const harness: Harness = {
    challenge,
    wallet: wallet.client,
    walletAddress: wallet.address,
    server,
    database,
    archiveUrl: challengeDatabase.archiveUrl ?? '',
    seed: config.RECEIPT_SIGNING_SEED,
    clock,
    eventsPrefix: config.EVENTS_PREFIX,
    startReplica,
    stopWallet: wallet.stop,
    async startWallet() {
      await wallet.start();
      // Each replica reconnects by itself; the test continues when all of them have.
      for (const replica of replicas) await retryUntilOk(() => replica.audit({}));
      await continuous.reconnected();
    },
    player: (playerRef = `player-${newId()}`, fundsCents = 100_000n, tenant = PROGRAM) =>
      wallet.addPlayer(tenant, playerRef, fundsCents),
    balance: wallet.balanceOf,
    async open(terms = {}, { status = ChallengeStatus.LIVE, ...bar } = {}) {
      const isTopN = terms.prizeStructure === PrizeStructure.TOP_N;
      const threshold =
        'threshold' in bar ? bar.threshold : status === ChallengeStatus.LIVE && !isTopN ? 100 : undefined;
      const request = { tenant: PROGRAM, terms: { ...TERMS, ...terms }, status, threshold };
      const { challenge: opened } = expectAccepted(await challenge.createChallenge(request));
      if (opened === undefined) throw new Error('no challenge in the answer');
      return opened;
    },
    async create(challengeId, playerRef, attemptId = newOwnedId('challenge'), tenant = PROGRAM) {
      const creation = {
        attemptId,
        tenant,
        contestId: challengeId,
        playerRef,
        metadataJson: '{"a":1}',
        ...WITHOUT_KEY,
      };
      return expectAccepted(await challenge.createAttempts({ creations: [creation] })).results[0]?.result;
    },
    async report(attemptId, score, operationId = newId(), evidence = '') {
      const sent = { score, tiebreak: undefined, evidenceJson: evidence };
      const report = { operationId, attemptId, tenant: PROGRAM, ...sent, ...WITHOUT_KEY };
      return expectAccepted(await challenge.reportOutcomes({ reports: [report] })).results[0]?.result;
    },
    async openAttempt(terms = {}) {
      const opened = await harness.open(terms);
      const player = await harness.player();
      return { challenge: opened, player, attempt: created(await harness.create(opened.id, player.ref)) };
    },
    async pendingAttempt() {
      // The first attempt makes the service cache the account that the ref names.
      const { challenge: opened, player } = await harness.openAttempt();
      const attemptId = newOwnedId('challenge');
      await harness.stopWallet();
      expect(verdictOf(await harness.create(opened.id, player.ref, attemptId))).toBe('failure');
      await harness.startWallet();
      return { challenge: opened, player, attemptId };
    },
    async eventsOf(id) {
      const rows = await database.query<{ payload: Buffer }>(OUTBOX);
      return rows.map(({ payload }) => Event.decode(payload)).filter((event) => subjectOf(event) === id);
    },
    wrongEvents: () => findWrongEvents(database),
    async liveViolations() {
      const { checks } = expectAccepted(await challenge.audit({}));
      return checks.filter(({ violations, testViolations }) => violations > testViolations).map(({ id }) => id);
    },
    auditInSlices: continuous.inSlices,
    async violations() {
      const { checks } = expectAccepted(await challenge.audit({}));
      await continuous.expectSame(checks);
      return violationsOf([...checks, ...expectAccepted(await wallet.client.audit({})).checks]);
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
  return harness;
}

function configOf(databaseUrl: string, walletAddress: string, natsUrl: string): ChallengeConfig {
  return challengeConfigSchema.parse({
    GRPC_PORT: '0',
    CHALLENGE_DATABASE_URL: databaseUrl,
    WALLET_ADDRESS: walletAddress,
    RECEIPT_SIGNING_SEED: Buffer.alloc(32, 9).toString('base64'),
    // Sweepers run only when a test runs them.
    SWEEP_INTERVAL_MS: '2000000',
    NATS_URL: natsUrl,
    EVENTS_PREFIX: `challenge-${newId().slice(-12)}`,
    // One millisecond, because only a sweep looks for unpublished events, and no event is in flight
    // then.
    OUTBOX_REPUBLISH_AFTER_MS: '1',
  });
}

/** Connects the continuous audit, on its own connections. */
function connectAudit(
  starting: AsyncDisposableStack,
  url: string,
  walletAddress: string,
  { TIER_CEILINGS: ceilings }: ChallengeConfig,
) {
  const database = starting.use(createDatabase({ url, maxConnections: 2, applicationName: 'challenge-audit' }));
  const wallet = starting.use(connectWallet(walletAddress));
  const inSlices = (limits?: SliceLimits) => createContinuousAudit({ database, wallet, ceilings }, limits);
  const counted = ({ id, violations, testViolations }: Omit<CheckResult, 'examples'>) => ({
    id,
    violations,
    testViolations,
  });
  return {
    inSlices,
    reconnected: () => retryUntilOk(() => wallet.listFees('challenge', newId(), 1)),
    async expectSame(checks: readonly CheckResult[]) {
      expect((await inSlices({ maxPageSize: 1_000 }).run()).map(counted)).toEqual(checks.map(counted));
    },
  };
}

const OUTBOX = { text: 'select payload from outbox order by event_id' };

/** Returns the id of the event's attempt, or of the challenge if the event is about no attempt. */
function subjectOf({ payload }: Event): string {
  switch (payload?.$case) {
    case 'attemptSettled':
    case 'attemptRefunded':
    case 'awardReleased':
      return payload.value.attemptId;
    case 'challengeSuspended':
      return payload.value.challengeId;
    default:
      throw new Error(`this service emits no ${payload?.$case}`);
  }
}

// One statement, so that all rows come from one snapshot.
const EMITTED_AND_EXPECTED = {
  text: `
select payload, null::text as type, null::uuid as attempt_id from outbox
union all
select null, 'attempt.settled', a.id from all_attempts a left join awards w on w.attempt_id = a.id
where a.status = 'settled' and (w.status is null or w.status not in ('paying', 'holding'))
union all
select null, 'attempt.refunded', a.id from all_attempts a where a.status in ('expired', 'voided') and a.fee_cents > 0`,
};

async function findWrongEvents(database: Database): Promise<readonly string[]> {
  const rows = await database.query<
    { payload: Buffer } | { payload: null; type: 'attempt.settled' | 'attempt.refunded'; attempt_id: string }
  >(EMITTED_AND_EXPECTED);
  const emitted = new Set<string>();
  const expected = new Set<string>();
  for (const row of rows) {
    if (row.payload === null) {
      expected.add(`${row.type} ${row.attempt_id} ${eventIdOf(row.type, row.attempt_id)}`);
      continue;
    }
    const event = Event.decode(row.payload);
    const type = eventTypeOf(event);
    if (type === 'attempt.settled' || type === 'attempt.refunded')
      emitted.add(`${type} ${subjectOf(event)} ${event.id}`);
  }
  return unmatchedEvents(expected, emitted);
}
